(ns ring-jetty.routes
  "What each path answers."
  (:require [cheshire.core :as json]
            [compojure.core :refer [GET POST defroutes routes]]
            [compojure.route :as route]
            [ring.middleware.content-type :refer [wrap-content-type]]
            [ring.middleware.not-modified :refer [wrap-not-modified]]
            [ring.middleware.params :refer [wrap-params]]
            [ring.util.response :as response]
            [ring-jetty.items :as items]
            [ring-jetty.page :as page]
            [ring-jetty.products :as products]
            [ring-jetty.upload :as upload]
            [ring-jetty.upstream :as upstream]
            [ring-jetty.users :as users]))

(defn- answer [content-type body]
  (response/content-type (response/response body) content-type))

(def ^:private plain-text (partial answer "text/plain; charset=utf-8"))
(def ^:private html (partial answer "text/html; charset=utf-8"))

(defn- as-json [value]
  (answer "application/json; charset=utf-8" (json/generate-string value)))

(def ^:private item-list
  (GET ["/json/:n" :n #"[0-9]{1,9}"] [n m]
    (as-json (items/answer (Long/parseLong n) (Long/parseLong m)))))

(def ^:private messages
  (GET "/messages" [add] (html (page/messages (users/messages-with add)))))

(def ^:private files
  (if-let [folder (System/getenv "STATIC_FOLDER")]
    (-> (route/files "/static" {:root folder}) wrap-content-type wrap-not-modified)
    (constantly nil)))

(defroutes app
  (GET "/" [] (plain-text "Hello World!"))
  (GET "/hola/:person" [person] (plain-text (str "Hola " person)))
  (GET ["/page/:n" :n #"[0-9]{1,9}"] [n] (html (page/render (Long/parseLong n))))
  (GET "/api/users/" [] (as-json (users/all)))
  (POST "/upload" {body :body} (plain-text (upload/digest body)))
  (GET "/api/proxy/" [] (plain-text (upstream/ask)))
  ;; Only here, because no other routes have parameters in their queries.
  (wrap-params (routes item-list messages products/products))
  files
  (route/not-found (plain-text "Not Found")))
