(ns ring-jetty.main
  "Starts Jetty with the routes."
  (:require [ring.adapter.jetty :refer [run-jetty]]
            [ring-jetty.connector :as connector]
            [ring-jetty.routes :as routes])
  (:gen-class))

(defn -main []
  (run-jetty routes/app {:host (System/getenv "HOST")
                         :port (Integer/parseInt (System/getenv "PORT"))
                         :configurator connector/configure
                         :join? true}))
