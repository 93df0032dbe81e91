(ns vertx-web.upstream
  "The slow upstream, asked without holding a thread."
  (:import (io.vertx.core Vertx)
           (io.vertx.core.http HttpClientOptions PoolOptions)
           (io.vertx.ext.web.client HttpResponse WebClient)
           (java.util.function Function)))

(set! *warn-on-reflection* true)

;; As many connections as an address has ports: Vert.x's default of 5 would make calls wait for one another.
(def ^:private max-connections 65535)

(defn asker
  "A function that gives the future of the upstream's answer."
  [^Vertx vertx]
  (let [client (WebClient/wrap (.createHttpClient vertx (HttpClientOptions.) (.setHttp1MaxSize (PoolOptions.) max-connections)))
        address (str (System/getenv "UPSTREAM_URL") "/slow")]
    (fn []
      (.map (.send (.getAbs client address))
            ^Function (fn [^HttpResponse answer] (.bodyAsString answer))))))
