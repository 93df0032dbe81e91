package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/gorilla/mux"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// product is a row of the table and, without its id, what clients send. A missing price is nil, because 0 is a price.
type product struct {
	ID       int32  `json:"id"`
	Name     string `json:"name"`
	Category string `json:"category"`
	Price    *int32 `json:"price"`
}

func isText(s string) bool { n := utf8.RuneCountInString(s); return n >= 1 && n <= 100 }

func (p product) isValid() bool {
	return isText(p.Name) && isText(p.Category) && p.Price != nil && *p.Price >= 0 && *p.Price <= 1_000_000
}

type productsHandler struct{ pool *pgxpool.Pool }

func addProducts(router *mux.Router, pool *pgxpool.Pool) {
	h := productsHandler{pool}
	router.HandleFunc("/products", h.list).Methods(http.MethodGet, http.MethodHead)
	router.HandleFunc("/products", withProduct(h.create)).Methods(http.MethodPost)
	router.HandleFunc("/products/{id}", withID(h.read)).Methods(http.MethodGet, http.MethodHead)
	router.HandleFunc("/products/{id}", withID(h.change)).Methods(http.MethodPut)
	router.HandleFunc("/products/{id}", withID(h.remove)).Methods(http.MethodDelete)
}

func withID(next func(http.ResponseWriter, *http.Request, int64)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseInt(mux.Vars(r)["id"], 10, 32)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		next(w, r, id)
	}
}

func withProduct(next func(http.ResponseWriter, *http.Request, product)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var p product
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil || json.Unmarshal(body, &p) != nil || !p.isValid() {
			http.Error(w, "a product has a name, a category and a price", http.StatusUnprocessableEntity)
			return
		}
		next(w, r, p)
	}
}

func (h productsHandler) list(w http.ResponseWriter, r *http.Request) {
	query, page := r.URL.Query(), int64(1)
	if query.Has("page") {
		var err error
		if page, err = strconv.ParseInt(query.Get("page"), 10, 32); err != nil || page < 1 {
			http.Error(w, "page is a number of at least 1", http.StatusUnprocessableEntity)
			return
		}
	}
	sql, args := "SELECT id, name, category, price FROM products ORDER BY id LIMIT 20 OFFSET $1", []any{(page - 1) * 20}
	if category := query.Get("category"); category != "" {
		sql = "SELECT id, name, category, price FROM products WHERE category = $2 ORDER BY id LIMIT 20 OFFSET $1"
		args = append(args, category)
	}
	rows, _ := h.pool.Query(r.Context(), sql, args...) // Its error is that of the rows too.
	products, err := pgx.CollectRows(rows, pgx.RowToStructByPos[product])
	answer(w, http.StatusOK, products, err)
}

func (h productsHandler) one(r *http.Request, sql string, args ...any) (product, error) {
	rows, _ := h.pool.Query(r.Context(), sql, args...)
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[product])
}

func (h productsHandler) read(w http.ResponseWriter, r *http.Request, id int64) {
	p, err := h.one(r, "SELECT id, name, category, price FROM products WHERE id = $1", id)
	answer(w, http.StatusOK, p, err)
}

func (h productsHandler) create(w http.ResponseWriter, r *http.Request, p product) {
	p, err := h.one(r, "INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id, name, category, price", p.Name, p.Category, p.Price)
	if err == nil {
		w.Header().Set("Location", fmt.Sprintf("/products/%d", p.ID))
	}
	answer(w, http.StatusCreated, p, err)
}

func (h productsHandler) change(w http.ResponseWriter, r *http.Request, id int64) {
	withProduct(func(w http.ResponseWriter, r *http.Request, p product) {
		p, err := h.one(r, "UPDATE products SET name = $1, category = $2, price = $3 WHERE id = $4 RETURNING id, name, category, price", p.Name, p.Category, p.Price, id)
		answer(w, http.StatusOK, p, err)
	})(w, r)
}

func (h productsHandler) remove(w http.ResponseWriter, r *http.Request, id int64) {
	_, err := h.one(r, "DELETE FROM products WHERE id = $1 RETURNING id, name, category, price", id)
	answer(w, http.StatusNoContent, nil, err)
}

// answer sends the value as JSON, or the status of what the database said.
func answer(w http.ResponseWriter, status int, value any, err error) {
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		http.Error(w, "there is no such product", http.StatusNotFound)
	case errors.As(err, &refused) && refused.Code == "23505":
		http.Error(w, "the name is taken", http.StatusConflict)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case status == http.StatusNoContent:
		w.WriteHeader(status)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(value)
	}
}
