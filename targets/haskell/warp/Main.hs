{-# LANGUAGE OverloadedStrings #-}

-- | Pippin's workloads on Warp, with postgresql-simple and http-client; no framework on top.
module Main (main) where

import Control.Concurrent (setNumCapabilities, threadDelay)
import Control.Monad (forM_, void, when)
import Data.Aeson (encode, object, (.=))
import Data.ByteString.Builder (string7)
import qualified Data.ByteString.Char8 as Bytes
import qualified Data.ByteString.Lazy as Lazy
import Data.Pool (Pool, createPool, withResource)
import Data.String (fromString)
import Data.Text (Text)
import Data.Text.Encoding (encodeUtf8)
import Data.Time.Clock.POSIX (getPOSIXTime)
import Database.PostgreSQL.Simple (Connection, close, connectPostgreSQL, query_)
import qualified Network.HTTP.Client as Client
import Network.HTTP.Types (Status, hCacheControl, hContentType, methodGet, methodHead, status200, status404, status405)
import Network.Wai (Application, Response, pathInfo, requestMethod, responseLBS, responseStream)
import Network.Wai.Handler.Warp
import System.Environment (getEnv, lookupEnv)
import System.Posix.Signals (Handler (Catch), installHandler, sigTERM)
import System.Random (randomRIO)

-- | What the requests share; what needs a service is there only when the service is.
data Shared = Shared
  { database :: Maybe (Pool Connection)
  , upstream :: Maybe (IO (Status, Lazy.ByteString))
  }

main :: IO ()
main = do
  lookupEnv "WORKERS" >>= mapM_ (setNumCapabilities . read)
  host <- getEnv "HOST"
  port <- read <$> getEnv "PORT"
  size <- maybe 10 read <$> lookupEnv "DATABASE_POOL"
  shared <-
    Shared
      <$> (lookupEnv "DATABASE_URL" >>= traverse (openPool size))
      <*> (lookupEnv "UPSTREAM_URL" >>= traverse openUpstream)
  let onSigterm stop = void (installHandler sigTERM (Catch stop) Nothing)
      settings =
        setHost (fromString host) . setPort port . setInstallShutdownHandler onSigterm $
          setGracefulShutdownTimeout (Just 5) defaultSettings
  runSettings settings (app shared)

openPool :: Int -> String -> IO (Pool Connection)
openPool = \size url -> createPool (connectPostgreSQL (Bytes.pack url)) close 1 60 size

-- | The client keeps connections and sets no limit to simultaneous calls.
openUpstream :: String -> IO (IO (Status, Lazy.ByteString))
openUpstream base = do
  manager <- Client.newManager Client.defaultManagerSettings
  request <- Client.parseRequest (base <> "/slow")
  pure $ do
    answer <- Client.httpLbs request manager
    pure (Client.responseStatus answer, Client.responseBody answer)

-- | Warp has no router, so that patterns are one. It gives the path in decoded parts.
app :: Shared -> Application
app shared request respond
  | requestMethod request `notElem` [methodGet, methodHead] = respond (plain status405 "")
  | otherwise = case (pathInfo request, database shared, upstream shared) of
      ([], _, _) -> respond (plain status200 "Hello World!")
      (["hola", name], _, _) -> respond (plain status200 ("Hola " <> Lazy.fromStrict (encodeUtf8 name)))
      (["device"], _, _) -> waitForDevice >> respond (plain status200 deviceBody)
      (["events"], _, _) -> respond events
      (["api", "users", ""], Just pool, _) -> users pool >>= respond
      (["api", "proxy", ""], _, Just ask) -> ask >>= respond . uncurry plain
      _ -> respond (plain status404 "Not Found")

plain :: Status -> Lazy.ByteString -> Response
plain status = responseLBS status [(hContentType, "text/plain; charset=utf-8")]

deviceBody :: Lazy.ByteString
deviceBody = Lazy.fromStrict (Bytes.replicate 1024 'x')

-- | Waits 95 to 105 ms; a green thread that waits holds no other.
waitForDevice :: IO ()
waitForDevice = randomRIO (95000, 105000) >>= threadDelay

-- | An event each 100 ms: its number, and the milliseconds since 1970.
events :: Response
events = responseStream status200 [(hContentType, "text/event-stream"), (hCacheControl, "no-store")] $ \write flush ->
  forM_ [0 .. 99 :: Int] $ \n -> do
    when (n > 0) (threadDelay 100000)
    now <- getPOSIXTime
    write (string7 ("data: " <> show n <> " " <> show (floor (now * 1000) :: Int) <> "\n\n"))
    flush

users :: Pool Connection -> IO Response
users pool = do
  rows <- withResource pool (`query_` "SELECT id, name, email FROM users ORDER BY id")
  let json = encode [object ["id" .= ident, "name" .= name, "email" .= email] | (ident, name, email) <- rows :: [(Int, Text, Text)]]
  pure (responseLBS status200 [(hContentType, "application/json")] json)
