(ns ring-jetty.upload
  "The length and the SHA-256 of a body, digested as it comes."
  (:import (java.io InputStream)
           (java.security MessageDigest)
           (java.util HexFormat)))

(defn digest [^InputStream body]
  (let [hash (MessageDigest/getInstance "SHA-256")
        buffer (byte-array 65536)]
    (loop [length 0]
      (let [read (.read body buffer)]
        (if (neg? read)
          (str length " " (.formatHex (HexFormat/of) (.digest hash)))
          (do (.update hash buffer 0 read)
              (recur (+ length read))))))))
