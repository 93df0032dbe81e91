(ns vertx-web.main
  "Deploys one verticle a worker; all listen on the same port and share the pool of connections."
  (:require [vertx-web.routes :as routes]
            [vertx-web.users :as users])
  (:import (io.vertx.core AbstractVerticle DeploymentOptions Future Promise Vertx)
           (io.vertx.core.http HttpServer HttpServerOptions)
           (io.vertx.ext.web Router)
           (java.util.function Supplier))
  (:gen-class))

(set! *warn-on-reflection* true)

(defn- server-options ^HttpServerOptions []
  (doto (HttpServerOptions.)
    (.setHost (System/getenv "HOST"))
    (.setPort (Integer/parseInt (System/getenv "PORT")))))

(defn- listen ^Future [^Vertx vertx database]
  (let [^HttpServer server (.createHttpServer vertx (server-options))
        ^Router router (routes/router vertx database)]
    (.listen (.requestHandler server router))))

(defn- verticle [vertx database]
  (proxy [AbstractVerticle] []
    (start [^Promise started]
      (.onComplete ^Future (listen vertx database) started))))

(defn- exit [^Throwable cause]
  (.println System/err (str "cannot start: " (.getMessage cause)))
  (System/exit 1))

(defn -main []
  (let [vertx (Vertx/vertx)
        database (users/pool vertx)
        workers (Integer/parseInt (or (System/getenv "WORKERS") "1"))
        ^Supplier verticles (fn [] (verticle vertx database))
        ^Future deployed (.deployVerticle vertx verticles (.setInstances (DeploymentOptions.) workers))]
    (.onFailure deployed exit)))
