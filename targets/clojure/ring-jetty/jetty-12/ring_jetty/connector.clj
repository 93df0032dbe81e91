(ns ring-jetty.connector
  "Settings of Jetty's connectors, for Jetty 12."
  (:import (org.eclipse.jetty.http UriCompliance UriCompliance$Violation)
           (org.eclipse.jetty.server HttpConfiguration$ConnectionFactory Server)))

;; By default Jetty 12 answers 400 to a path that holds %25, an encoded percent sign.
(def ^:private uri-compliance
  (.with UriCompliance/DEFAULT "encoded-percent"
         (into-array UriCompliance$Violation [UriCompliance$Violation/AMBIGUOUS_PATH_ENCODING])))

(defn configure [^Server server]
  (doseq [connector (.getConnectors server)
          factory (.getConnectionFactories connector)
          :when (instance? HttpConfiguration$ConnectionFactory factory)]
    (.setUriCompliance (.getHttpConfiguration factory) uri-compliance)))
