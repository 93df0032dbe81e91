(ns vertx-web.messages
  "The table of messages with an added one, made by Pebble as the page is."
  (:import (io.vertx.core Future Vertx)
           (io.vertx.ext.web.templ.pebble PebbleTemplateEngine)
           (io.vertx.sqlclient Pool Row)
           (java.util Map)
           (java.util.function Function)))

(set! *warn-on-reflection* true)

(defn- with-added
  "The rows and an added one, in the order of their texts: the JVM compares UTF-16 code units."
  [rows added]
  (sort-by #(get % "text")
           (cons {"id" 0 "text" added}
                 (for [^Row row rows]
                   {"id" (.getInteger row "id") "text" (.getString row "text")}))))

(defn renderer
  "A function of the text to add that gives the future of a page."
  [^Vertx vertx ^Pool database]
  (let [engine (PebbleTemplateEngine/create vertx)]
    (fn [added]
      (let [^Future rows (.execute (.preparedQuery database "SELECT id, text FROM messages"))]
        (.compose rows
                  ^Function (fn [rows]
                              (let [^Map data {"messages" (with-added rows added)}]
                                (.render engine data "templates/messages.peb"))))))))
