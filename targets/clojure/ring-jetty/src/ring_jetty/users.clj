(ns ring-jetty.users
  "The tables, asked through a pool of connections."
  (:require [clojure.java.jdbc :as jdbc])
  (:import (com.zaxxer.hikari HikariConfig HikariDataSource)
           (java.net URI)))

(defn- data-source
  "A pool for an address like postgres://user:password@host:port/database."
  [address pool-size]
  (let [uri (URI. address)
        [user password] (some-> (.getUserInfo uri) (.split ":" 2))]
    (HikariDataSource.
      (doto (HikariConfig.)
        (.setJdbcUrl (str "jdbc:postgresql://" (.getHost uri)
                          (when (pos? (.getPort uri)) (str ":" (.getPort uri)))
                          (.getPath uri)))
        (.setUsername user)
        (.setPassword password)
        (.setMaximumPoolSize pool-size)))))

;; Delayed: a server that is started without a database must start all the same.
(def database
  (delay {:datasource (data-source (System/getenv "DATABASE_URL")
                                   (Integer/parseInt (System/getenv "DATABASE_POOL")))}))

(defn all []
  (jdbc/query @database ["SELECT id, name, email FROM users ORDER BY id"]))

(defn messages-with
  "The messages and an added one, in the order of their texts: the JVM compares UTF-16 code units."
  [added]
  (sort-by :text (conj (jdbc/query @database ["SELECT id, text FROM messages"]) {:id 0 :text added})))
