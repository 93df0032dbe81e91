{-# LANGUAGE OverloadedStrings #-}

-- | Products: listed, read, added, changed and removed.
module Products (products) where

import Control.Exception (tryJust)
import Control.Monad (guard)
import Control.Monad.IO.Class (liftIO)
import Data.Aeson (FromJSON (..), ToJSON (..), eitherDecode, object, withObject, (.:), (.=))
import Data.Pool (Pool, withResource)
import Data.String (fromString)
import Data.Text (Text)
import qualified Data.Text as Text
import qualified Data.Text.Lazy as Lazy
import Data.Text.Lazy.Read (decimal)
import Database.PostgreSQL.Simple
import Network.HTTP.Types (status201, status204, status404, status409, status422)
import Web.Scotty

data Product = Product Int Text Text Int

instance ToJSON Product where
  toJSON (Product ident name category price) =
    object ["id" .= ident, "name" .= name, "category" .= category, "price" .= price]

-- | What clients send: name, category and price.
data Input = Input Text Text Int

instance FromJSON Input where
  parseJSON = withObject "product" $ \o -> do
    input@(Input name category price) <- Input <$> o .: "name" <*> o .: "category" <*> o .: "price"
    if isText name && isText category && price >= 0 && price <= 1000000 then pure input else fail "out of bounds"
    where
      isText value = not (Text.null value) && Text.length value <= 100

-- | The rows that a statement returns, or nothing where the name is taken.
rows :: (ToRow values) => Pool Connection -> Query -> values -> ActionM (Maybe [Product])
rows pool sql values = liftIO . withResource pool $ \connection -> do
  result <- tryJust (guard . (== "23505") . sqlState) (query connection sql values)
  pure $ case result of
    Right found -> Just [Product ident name category price | (ident, name, category, price) <- found]
    Left () -> Nothing

-- | Answers with the row that a statement returns, or with what the database said.
one :: (ToRow values) => Pool Connection -> (Product -> ActionM ()) -> Query -> values -> ActionM ()
one pool answer sql values = do
  result <- rows pool sql values
  case result of
    Just (found : _) -> answer found
    Just [] -> status status404
    Nothing -> status status409

withBody :: (Input -> ActionM ()) -> ActionM ()
withBody next = body >>= either (const (status status422)) next . eitherDecode

list :: Pool Connection -> ActionM ()
list pool = do
  category <- fmap Just (param "category") `rescue` const (pure Nothing)
  page <- param "page" `rescue` const (pure "1")
  case (decimal page :: Either String (Int, Lazy.Text), category :: Maybe Text) of
    (Right (n, ""), _) | n < 1 || Lazy.length page > 9 -> status status422
    (Right (n, ""), Nothing) -> rows pool "SELECT id, name, category, price FROM products ORDER BY id LIMIT 20 OFFSET ?" (Only (skipped n)) >>= json
    (Right (n, ""), Just wanted) ->
      rows pool "SELECT id, name, category, price FROM products WHERE category = ? ORDER BY id LIMIT 20 OFFSET ?" (wanted, skipped n) >>= json
    _ -> status status422
  where
    skipped n = (n - 1) * 20

-- | An id that is no number matches no route; one of more than 32 bits is none of a product.
products :: Pool Connection -> ScottyM ()
products pool = do
  get "/products" (list pool)
  post "/products" . withBody $ \(Input name category price) ->
    one pool created "INSERT INTO products (name, category, price) VALUES (?, ?, ?) RETURNING id, name, category, price" (name, category, price)
  get "/products/:id" $ do
    ident <- param "id" :: ActionM Integer
    one pool json "SELECT id, name, category, price FROM products WHERE id = ?" (Only ident)
  put "/products/:id" $ do
    ident <- param "id" :: ActionM Integer
    withBody $ \(Input name category price) ->
      one pool json "UPDATE products SET name = ?, category = ?, price = ? WHERE id = ? RETURNING id, name, category, price" (name, category, price, ident)
  delete "/products/:id" $ do
    ident <- param "id" :: ActionM Integer
    one pool (const (status status204)) "DELETE FROM products WHERE id = ? RETURNING id, name, category, price" (Only ident)
  where
    created found@(Product ident _ _ _) = do
      status status201
      setHeader "Location" (fromString ("/products/" <> show ident))
      json found
