(ns ring-jetty.products
  "Products: listed, read, added, changed and removed."
  (:require [cheshire.core :as json]
            [clojure.java.jdbc :as jdbc]
            [compojure.core :refer [DELETE GET POST PUT defroutes]]
            [ring.util.response :as response]
            [ring-jetty.users :refer [database]])
  (:import (com.fasterxml.jackson.core JsonProcessingException)
           (java.sql SQLException)))

(defn- as-json [status value]
  (-> (response/response (json/generate-string value))
      (response/status status)
      (response/content-type "application/json; charset=utf-8")))

(def ^:private not-found (as-json 404 {:error "there is no such product"}))
(def ^:private unprocessable (as-json 422 {:error "a product has a name, a category and a price; a page is at least 1"}))

(defn- text? [value]
  (and (string? value) (<= 1 (count value) 100)))

(defn- sent
  "Name, category and price of a body, or nil where it is no product."
  [body]
  (let [value (try (json/parse-string (slurp body :encoding "UTF-8") true)
                   (catch JsonProcessingException _ nil))
        {:keys [name category price]} (when (map? value) value)]
    (when (and (text? name) (text? category) (integer? price) (<= 0 price 1000000))
      [name category price])))

(defn- one
  "Hands on the row that the statement returns, or answers with what the database said."
  [answer sql values]
  (try
    (if-let [product (first (jdbc/query @database (into [sql] values)))]
      (answer product)
      not-found)
    (catch SQLException error
      (if (= "23505" (.getSQLState error))
        (as-json 409 {:error "the name is taken"})
        (throw error)))))

(defn- all [category page]
  (if-not (re-matches #"0*[1-9][0-9]{0,8}" page)
    unprocessable
    (let [skipped (* 20 (dec (Long/parseLong page)))
          sql (str "SELECT id, name, category, price FROM products " (when category "WHERE category = ? ") "ORDER BY id LIMIT 20 OFFSET ?")]
      (as-json 200 (jdbc/query @database (if category [sql category skipped] [sql skipped]))))))

(defn- created [product]
  (response/header (as-json 201 product) "Location" (str "/products/" (:id product))))

;; Any other id matches no route. One of more than 32 bits is none of a product.
(defroutes products
  (GET "/products" [category page] (all category (or page "1")))
  (POST "/products" {body :body}
    (if-let [values (sent body)]
      (one created "INSERT INTO products (name, category, price) VALUES (?, ?, ?) RETURNING id, name, category, price" values)
      unprocessable))
  (GET ["/products/:id" :id #"[0-9]{1,18}"] [id]
    (one (partial as-json 200) "SELECT id, name, category, price FROM products WHERE id = ?" [(Long/parseLong id)]))
  (PUT ["/products/:id" :id #"[0-9]{1,18}"] {body :body {id :id} :params}
    (if-let [values (sent body)]
      (one (partial as-json 200)
           "UPDATE products SET name = ?, category = ?, price = ? WHERE id = ? RETURNING id, name, category, price"
           (conj values (Long/parseLong id)))
      unprocessable))
  (DELETE ["/products/:id" :id #"[0-9]{1,18}"] [id]
    (one (constantly {:status 204 :headers {} :body nil}) "DELETE FROM products WHERE id = ? RETURNING id" [(Long/parseLong id)])))
