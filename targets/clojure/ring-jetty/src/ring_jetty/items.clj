(ns ring-jetty.items
  "The items of the data file."
  (:require [cheshire.core :as json]))

;; Delayed: a server that is started without a data file must start all the same.
(def ^:private all
  (delay (json/parse-string (slurp (System/getenv "ITEMS_FILE") :encoding "UTF-8") true)))

(defn- with-total [m item]
  (assoc item :total (* (:price item) (:quantity item) m)))

(defn answer
  "The first n, each with its price times quantity times m."
  [n m]
  (let [items (mapv (partial with-total m) (take n @all))]
    {:count (count items) :items items}))
