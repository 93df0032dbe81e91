package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"github.com/gorilla/mux"
	"github.com/jackc/pgx/v5/pgxpool"
)

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, text)
}

func hello(w http.ResponseWriter, _ *http.Request) {
	plain(w, http.StatusOK, "Hello World!")
}

func hola(w http.ResponseWriter, r *http.Request) {
	plain(w, http.StatusOK, "Hola "+mux.Vars(r)["name"])
}

func page(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(mux.Vars(r)["n"])
	if err != nil {
		http.NotFound(w, r)
		return
	}
	// Into a buffer first, so that a template error can still become a 500.
	var out bytes.Buffer
	if err := pageTemplate.ExecuteTemplate(&out, "layout.html", newPageData(n)); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	out.WriteTo(w)
}

func device(w http.ResponseWriter, _ *http.Request) {
	waitForDevice()
	plain(w, http.StatusOK, deviceBody)
}

func users(pool *pgxpool.Pool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		users, err := queryUsers(r.Context(), pool)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(users)
	}
}

func proxy(url string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status, body, err := askUpstream(r.Context(), url)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		plain(w, status, body)
	}
}

func messages(pool *pgxpool.Pool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		messages, err := queryMessages(r.Context(), pool, r.URL.Query().Get("add"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		var out bytes.Buffer
		if err := messagesTemplate.ExecuteTemplate(&out, "layout.html", messages); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		out.WriteTo(w)
	}
}
