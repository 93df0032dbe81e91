(ns ring-jetty.main
  "Starts Jetty with the routes."
  (:require [ring.adapter.jetty :refer [run-jetty]]
            [ring-jetty.connector :as connector]
            [ring-jetty.routes :as routes])
  (:import (org.eclipse.jetty.server Server)
           (org.eclipse.jetty.server.handler.gzip GzipHandler))
  (:gen-class))

(defn- configure
  "Ring itself does not pack answers, so Jetty does, for clients that accept gzip. Its handler looks at every request, so it is there
  only with the route that uses it."
  [^Server server]
  (connector/configure server)
  (when (System/getenv "ITEMS_FILE")
    (.setHandler server (doto (GzipHandler.) (.setHandler (.getHandler server))))))

(defn -main []
  (run-jetty routes/app {:host (System/getenv "HOST")
                         :port (Integer/parseInt (System/getenv "PORT"))
                         :configurator configure
                         :join? true}))
