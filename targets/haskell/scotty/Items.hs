{-# LANGUAGE OverloadedStrings #-}

-- | The items of the data file, read and written by aeson.
module Items (Item, readItems, firstWithTotals) where

import Data.Aeson

data Item = Item
  { ident :: Int
  , name, category :: Value
  , price, quantity :: Integer
  , active, tags, rating :: Value
  }

instance FromJSON Item where
  parseJSON = withObject "item" $ \o ->
    Item <$> o .: "id" <*> o .: "name" <*> o .: "category" <*> o .: "price" <*> o .: "quantity"
      <*> o .: "active" <*> o .: "tags" <*> o .: "rating"

-- | An item with its price times quantity times this factor.
data WithTotal = WithTotal Integer Item

instance ToJSON WithTotal where
  toJSON (WithTotal m item) =
    object
      [ "id" .= ident item
      , "name" .= name item
      , "category" .= category item
      , "price" .= price item
      , "quantity" .= quantity item
      , "active" .= active item
      , "tags" .= tags item
      , "rating" .= rating item
      , "total" .= (price item * quantity item * m)
      ]

readItems :: FilePath -> IO [Item]
readItems path = eitherDecodeFileStrict path >>= either fail pure

firstWithTotals :: Int -> Integer -> [Item] -> Value
firstWithTotals n m items = object ["count" .= length list, "items" .= list]
  where
    list = WithTotal m <$> take n items
