(ns ring-jetty.connector
  "Settings of Jetty's connectors, for Jetty 9: none are needed.")

(defn configure [_server])
