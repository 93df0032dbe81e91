(ns vertx-web.routes
  "What each path answers."
  (:require [vertx-web.device :as device]
            [vertx-web.messages :as messages]
            [vertx-web.page :as page]
            [vertx-web.upstream :as upstream]
            [vertx-web.users :as users])
  (:import (io.vertx.core Future Vertx)
           (io.vertx.core.buffer Buffer)
           (io.vertx.core.http HttpMethod HttpServerResponse)
           (io.vertx.ext.web Route Router RoutingContext)))

(set! *warn-on-reflection* true)

(defn- send-as [^RoutingContext context content-type ^Buffer body]
  (.end (.putHeader (.response context) "content-type" ^String content-type) body))

(defn- plain-text [context ^String text]
  (send-as context "text/plain; charset=utf-8" (Buffer/buffer text)))

(defn- when-done
  "Hands the value of the future on, or its failure to the router, which answers 500."
  [^RoutingContext context ^Future future handle]
  (-> future
      (.onSuccess (fn [value] (handle value)))
      (.onFailure (fn [cause] (.fail context ^Throwable cause)))))

(defn- get-and-head [^Router router ^String path]
  (.method (.get router path) HttpMethod/HEAD))

(defn- handle [^Route route answer]
  (.handler route (fn [context] (answer context))))

(defn router ^Router [^Vertx vertx database]
  (let [render (page/renderer vertx)
        render-messages (messages/renderer vertx database)
        ask-upstream (upstream/asker vertx)]
    (doto (Router/router vertx)
      (-> (get-and-head "/")
          (handle (fn [context] (plain-text context "Hello World!"))))
      (-> (get-and-head "/hola/:name")
          (handle (fn [^RoutingContext context]
                    (plain-text context (str "Hola " (.pathParam context "name"))))))
      (-> (.getWithRegex "/page/(?<n>[0-9]{1,9})")
          (.method HttpMethod/HEAD)
          (handle (fn [^RoutingContext context]
                    (when-done context (render (Long/parseLong (.pathParam context "n")))
                               #(send-as context "text/html; charset=utf-8" %)))))
      (-> (get-and-head "/api/users/")
          (handle (fn [^RoutingContext context]
                    (when-done context (users/all database) #(.json context %)))))
      (-> (get-and-head "/messages")
          (handle (fn [^RoutingContext context]
                    (when-done context (render-messages (.getParam (.request context) "add"))
                               #(send-as context "text/html; charset=utf-8" %)))))
      (-> (get-and-head "/api/proxy/")
          (handle (fn [context]
                    (when-done context (ask-upstream) #(plain-text context %)))))
      (-> (get-and-head "/device")
          (handle (fn [context]
                    (device/after-a-while vertx #(send-as context "application/octet-stream" %))))))))
