{-# LANGUAGE OverloadedStrings #-}

-- | The rendered page, with blaze-html.
module Page (messagesPage, page) where

import Data.Text (Text)
import Text.Blaze.Html5 (Html, toHtml, toValue, (!))
import qualified Text.Blaze.Html5 as H
import qualified Text.Blaze.Html5.Attributes as A

data Item = Item {ident :: Int, name :: String, price :: Int}

itemsOf :: Int -> [Item]
itemsOf n = [Item i ("Item " <> show i <> " <of> page " <> show n <> " & more") (i * n) | i <- [1 .. 12]]

page :: Int -> Html
page n = layout ("Page " <> show n) $ do
  H.h1 (toHtml ("Page " <> show n))
  H.p (toHtml ("These are the twelve items of page " <> show n <> ". Each has a name, which is escaped, and a price."))
  H.ul (mapM_ row (itemsOf n))
  where
    row item = do
      "\n      "
      H.li ! A.id (toValue ("row-" <> show n <> "-" <> show (ident item))) ! A.class_ "item" $ do
        H.a ! A.href (toValue ("/page/" <> show n <> "/items/" <> show (ident item))) $ toHtml (name item)
        " "
        H.span ! A.class_ "price" $ toHtml (show (price item) <> " EUR")

-- | Messages: each has a number and a text.
messagesPage :: [(Int, Text)] -> Html
messagesPage messages = layout "Messages" $ do
  H.h1 "Messages"
  H.table $ do
    H.tr (H.th "Number" >> H.th "Message")
    mapM_ (\(ident, text) -> H.tr (H.td (toHtml ident) >> H.td (toHtml text))) messages

-- | The document around every page.
layout :: String -> Html -> Html
layout title content = H.docTypeHtml ! A.lang "en" $ do
  H.head $ do
    H.meta ! A.charset "utf-8"
    H.meta ! A.name "viewport" ! A.content "width=device-width, initial-scale=1"
    H.title (toHtml (title <> " - Catalogue"))
    H.link ! A.rel "stylesheet" ! A.href "/assets/app.css"
  H.body $ do
    H.header . H.nav $ do
      H.a ! A.href "/" $ "Home"
      H.a ! A.href "/about" $ "About"
      H.a ! A.href "/help" $ "Help"
    H.main content
    H.footer . H.p $
      "Rendered by the framework's own template engine, with a layout around it, a loop over twelve items, \
      \and escaping of what comes from data."
