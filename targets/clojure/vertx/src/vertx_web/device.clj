(ns vertx-web.device
  "A wait of 100 ms +-5 %, without holding a thread."
  (:import (io.vertx.core Vertx)
           (io.vertx.core.buffer Buffer)
           (java.util Arrays)
           (java.util.concurrent ThreadLocalRandom)))

(set! *warn-on-reflection* true)

(def ^:private content
  (doto (byte-array 1024) (Arrays/fill (byte \x))))

(defn- draw-delay-ms ^long []
  (.nextLong (ThreadLocalRandom/current) 95 106))

(defn after-a-while [^Vertx vertx answer]
  (.setTimer vertx (draw-delay-ms) (fn [_] (answer (Buffer/buffer ^bytes content)))))
