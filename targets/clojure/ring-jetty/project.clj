(defproject ring-jetty "1.0.0"
  :description "Ring on Jetty with Compojure, as a target of Pippin"
  :dependencies [[org.clojure/clojure "1.12.6"]
                 [ring/ring-jetty-adapter "1.15.5"]
                 [compojure "1.7.2"]
                 [cheshire "6.2.0"]
                 [hiccup "1.0.5"]
                 [org.clojure/java.jdbc "0.7.12"]
                 [com.zaxxer/HikariCP "7.0.2"]
                 [org.postgresql/postgresql "42.7.11"]
                 [org.slf4j/slf4j-nop "2.0.17"]]
  :source-paths ["src" "jetty-12"]
  :main ^:skip-aot ring-jetty.main
  :local-repo ".m2"
  :target-path "target"
  :uberjar-name "ring-jetty.jar"
  :profiles {:uberjar {:aot :all
                       :jvm-opts ["-Dclojure.compiler.direct-linking=true"]}})
