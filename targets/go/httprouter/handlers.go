package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/julienschmidt/httprouter"
)

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, text)
}

func hello(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
	plain(w, http.StatusOK, "Hello World!")
}

func hola(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
	plain(w, http.StatusOK, "Hola "+params.ByName("name"))
}

func page(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
	n, err := strconv.Atoi(params.ByName("n"))
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

func device(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
	waitForDevice()
	plain(w, http.StatusOK, deviceBody)
}

// upload digests the body as it comes.
func upload(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	hash := sha256.New()
	length, err := io.Copy(hash, r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	plain(w, http.StatusOK, fmt.Sprintf("%d %x", length, hash.Sum(nil)))
}

func users(pool *pgxpool.Pool) httprouter.Handle {
	return func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
		users, err := queryUsers(r.Context(), pool)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(users)
	}
}

func jsonItems(items []entry) httprouter.Handle {
	return func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		n, err := strconv.Atoi(params.ByName("n"))
		m, errM := strconv.ParseInt(r.URL.Query().Get("m"), 10, 64)
		if err != nil || errM != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(withTotals(items, n, m))
	}
}

func proxy(url string) httprouter.Handle {
	return func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
		status, body, err := askUpstream(r.Context(), url)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		plain(w, status, body)
	}
}

func messages(pool *pgxpool.Pool) httprouter.Handle {
	return func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
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
