{-# LANGUAGE OverloadedStrings #-}

-- | Pippin's workloads on Scotty, with blaze-html, postgresql-simple and http-client.
module Main (main) where

import Control.Concurrent (setNumCapabilities, threadDelay)
import Control.Monad (forM_, void, when)
import Control.Monad.IO.Class (liftIO)
import qualified Crypto.Hash.SHA256 as SHA256
import Data.Aeson (object, (.=))
import Data.ByteString.Builder (byteStringHex, string7, toLazyByteString)
import qualified Data.ByteString.Char8 as Bytes
import Data.List (sortOn)
import Data.Pool (Pool, createPool, withResource)
import Data.String (fromString)
import Data.Text (Text)
import qualified Data.Text.Lazy as Lazy
import Data.Text.Lazy.Encoding (decodeUtf8)
import Data.Time.Clock.POSIX (getPOSIXTime)
import Database.PostgreSQL.Simple (Connection, close, connectPostgreSQL, query_)
import qualified Network.HTTP.Client as Client
import Network.Wai.Handler.Warp (defaultSettings, setGracefulShutdownTimeout, setHost, setInstallShutdownHandler, setPort)
import Network.Wai.Middleware.Autohead (autohead)
import Network.Wai.Middleware.Gzip (def, gzip)
import Items (Item, firstWithTotals, readItems)
import Page (messagesPage, page)
import Products (products)
import System.Environment (getEnv, lookupEnv)
import System.Posix.Signals (Handler (Catch), installHandler, sigTERM)
import System.Random (randomRIO)
import Text.Blaze.Html.Renderer.Text (renderHtml)
import Web.Scotty

main :: IO ()
main = do
  lookupEnv "WORKERS" >>= mapM_ (setNumCapabilities . read)
  host <- getEnv "HOST"
  port <- read <$> getEnv "PORT"
  size <- maybe 10 read <$> lookupEnv "DATABASE_POOL"
  database <- lookupEnv "DATABASE_URL" >>= traverse (openPool size)
  upstream <- lookupEnv "UPSTREAM_URL" >>= traverse upstreamOf
  items <- lookupEnv "ITEMS_FILE" >>= traverse readItems
  let onSigterm stop = void (installHandler sigTERM (Catch stop) Nothing)
      warp =
        setHost (fromString host) . setPort port . setInstallShutdownHandler onSigterm $
          setGracefulShutdownTimeout (Just 5) defaultSettings
  scottyOpts (Options 0 warp) $ do
    -- Scotty answers a HEAD only where a route says so; the middleware asks the route of GET.
    middleware autohead
    -- For clients that accept gzip. It stands before all routes, so it is there only with the route that uses it.
    mapM_ (const (middleware (gzip def))) items
    get "/" (text "Hello World!")
    get "/hola/:name" $ param "name" >>= \name -> text ("Hola " <> name)
    get "/page/:n" $ param "n" >>= \n -> html (renderHtml (page n))
    get "/device" (liftIO waitForDevice >> text (Lazy.replicate 1024 "x"))
    get "/events" events
    post "/upload" upload
    mapM_ (get "/api/users/" . users) database
    mapM_ (get "/messages" . messages) database
    mapM_ products database
    mapM_ (get "/json/:n" . itemList) items
    mapM_ (get "/api/proxy/" . proxy) upstream

openPool :: Int -> String -> IO (Pool Connection)
openPool size url = createPool (connectPostgreSQL (Bytes.pack url)) close 1 60 size

-- | The client keeps connections and sets no limit to simultaneous calls.
upstreamOf :: String -> IO (Client.Request, Client.Manager)
upstreamOf base = (,) <$> Client.parseRequest (base <> "/slow") <*> Client.newManager Client.defaultManagerSettings

-- | Waits 95 to 105 ms; a green thread that waits holds no other.
waitForDevice :: IO ()
waitForDevice = randomRIO (95000, 105000) >>= threadDelay

-- | An event each 100 ms: its number, and the milliseconds since 1970.
events :: ActionM ()
events = do
  setHeader "Content-Type" "text/event-stream"
  setHeader "Cache-Control" "no-store"
  stream $ \write flush -> forM_ [0 .. 99 :: Int] $ \n -> do
    when (n > 0) (threadDelay 100000)
    now <- getPOSIXTime
    write (string7 ("data: " <> show n <> " " <> show (floor (now * 1000) :: Int) <> "\n\n"))
    flush

-- | Digests the body as it comes.
upload :: ActionM ()
upload = do
  next <- bodyReader
  let digest hash size = do
        piece <- next
        if Bytes.null piece
          then pure (Lazy.pack (show size) <> " " <> decodeUtf8 (toLazyByteString (byteStringHex (SHA256.finalize hash))))
          else digest (SHA256.update hash piece) $! size + Bytes.length piece
  liftIO (digest SHA256.init 0) >>= text

users :: Pool Connection -> ActionM ()
users pool = do
  rows <- liftIO (withResource pool (`query_` "SELECT id, name, email FROM users ORDER BY id"))
  json [object ["id" .= ident, "name" .= name, "email" .= email] | (ident, name, email) <- rows :: [(Int, Text, Text)]]

-- | The rows and an added one, in the order of their texts: Haskell compares code points.
messages :: Pool Connection -> ActionM ()
messages pool = do
  added <- param "add"
  rows <- liftIO (withResource pool (`query_` "SELECT id, text FROM messages"))
  html (renderHtml (messagesPage (sortOn snd ((0, added) : rows))))

itemList :: [Item] -> ActionM ()
itemList items = do
  n <- param "n"
  m <- param "m"
  json (firstWithTotals n m items)

proxy :: (Client.Request, Client.Manager) -> ActionM ()
proxy (request, manager) = do
  answer <- liftIO (Client.httpLbs request manager)
  status (Client.responseStatus answer)
  text (decodeUtf8 (Client.responseBody answer))
