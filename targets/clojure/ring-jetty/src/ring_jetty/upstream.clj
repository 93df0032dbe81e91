(ns ring-jetty.upstream
  "The slow upstream, asked with the JDK's client on the request's own thread."
  (:import (java.net URI)
           (java.net.http HttpClient HttpClient$Version HttpRequest HttpResponse HttpResponse$BodyHandlers)))

;; HTTP/1.1 said outright: otherwise each new connection offers an upgrade to HTTP/2 first.
(def ^:private client
  (delay (-> (HttpClient/newBuilder) (.version HttpClient$Version/HTTP_1_1) .build)))

(defn ask []
  (let [request (.build (HttpRequest/newBuilder (URI/create (str (System/getenv "UPSTREAM_URL") "/slow"))))
        ^HttpResponse answer (.send ^HttpClient @client request (HttpResponse$BodyHandlers/ofString))]
    (.body answer)))
