(ns vertx-web.users
  "The table of users, asked through Vert.x's own PostgreSQL client."
  (:import (io.vertx.core Vertx)
           (io.vertx.core.json JsonArray)
           (io.vertx.pgclient PgBuilder PgConnectOptions)
           (io.vertx.sqlclient Pool PoolOptions Row)
           (java.util.function Function)))

(set! *warn-on-reflection* true)

(defn pool
  "The pool that all verticles share, or nil where there is no database."
  [^Vertx vertx]
  (when-let [address (System/getenv "DATABASE_URL")]
    (-> (PgBuilder/pool)
        (.using vertx)
        (.connectingTo (PgConnectOptions/fromUri address))
        (.with (.setMaxSize (PoolOptions.) (Integer/parseInt (System/getenv "DATABASE_POOL"))))
        (.build))))

(defn- as-json [rows]
  (let [array (JsonArray.)]
    (doseq [^Row row rows]
      (.add array (.toJson row)))
    array))

(defn all
  "The future of the rows, as JSON."
  [^Pool database]
  (.map (.execute (.preparedQuery database "SELECT id, name, email FROM users ORDER BY id"))
        ^Function (fn [rows] (as-json rows))))
