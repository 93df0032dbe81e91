(ns vertx-web.page
  "The page of the workload `page`, made by Pebble through Vert.x's interface of template engines."
  (:import (io.vertx.core Vertx)
           (io.vertx.ext.web.templ.pebble PebbleTemplateEngine)
           (java.util Map)))

(set! *warn-on-reflection* true)

(defn- items [n]
  (for [i (range 1 13)]
    {"id" i
     "name" (str "Item " i " <of> page " n " & more")
     "price" (* i n)}))

(defn renderer
  "A function of n that gives the future of a page."
  [^Vertx vertx]
  (let [engine (PebbleTemplateEngine/create vertx)]
    (fn [n]
      (let [^Map data {"n" n "items" (items n)}]
        (.render engine data "templates/page.peb")))))
