(ns ring-jetty.page
  "The page of the workload `page`, made by Hiccup: a layout and the items in it."
  (:require [hiccup.core :refer [h]]
            [hiccup.page :refer [html5]]))

(defn- items [n]
  (for [i (range 1 13)]
    {:id i
     :name (str "Item " i " <of> page " n " & more")
     :price (* i n)}))

(defn- layout [title & content]
  (html5 {:lang "en"}
    [:head
     [:meta {:charset "utf-8"}]
     [:meta {:name "viewport" :content "width=device-width, initial-scale=1"}]
     [:title (h title)]
     [:link {:rel "stylesheet" :href "/assets/app.css"}]]
    [:body
     [:header
      [:nav
       [:a {:href "/"} "Home"]
       [:a {:href "/about"} "About"]
       [:a {:href "/help"} "Help"]]]
     [:main content]
     [:footer
      [:p "Rendered by the framework's own template engine, with a layout around it, "
       "a loop over twelve items, and escaping of what comes from data."]]]))

;; Hiccup writes no white space of its own: the line break between the rows is the page's.
(defn- row [n {:keys [id name price]}]
  (list
    "\n      "
    [:li.item {:id (str "row-" n "-" id)}
     [:a {:href (str "/page/" n "/items/" id)} (h name)]
     " "
     [:span.price price " EUR"]]))

(defn render [n]
  (layout (str "Page " n " - Catalogue")
    [:h1 "Page " n]
    [:p "These are the twelve items of page " n
     ". Each has a name, which is escaped, and a price."]
    [:ul (for [item (items n)] (row n item))]))

(defn messages [rows]
  (layout "Messages - Catalogue"
    [:h1 "Messages"]
    [:table
     [:tr [:th "Number"] [:th "Message"]]
     (for [{:keys [id text]} rows]
       (list "\n      " [:tr [:td id] [:td (h text)]]))]))
