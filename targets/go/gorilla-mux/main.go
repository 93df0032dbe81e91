// Command server answers Pippin's workloads with gorilla/mux, gorilla/handlers, gorilla/websocket, html/template and pgx.
package main

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gorilla/handlers"
	"github.com/gorilla/mux"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serve(ctx); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context) error {
	router := mux.NewRouter()
	get := func(path string, handler http.HandlerFunc) {
		router.HandleFunc(path, handler).Methods(http.MethodGet, http.MethodHead)
	}
	get("/", hello)
	get("/hola/{name}", hola)
	get("/page/{n}", page)
	get("/device", device)
	router.HandleFunc("/events", events).Methods(http.MethodGet)
	router.HandleFunc("/upload", upload).Methods(http.MethodPost)
	router.HandleFunc("/ws", echo)
	router.HandleFunc("/broadcast", newRoom().serve)

	if url := os.Getenv("DATABASE_URL"); url != "" {
		pool, err := openPool(ctx, url, os.Getenv("DATABASE_POOL"))
		if err != nil {
			return err
		}
		defer pool.Close()
		get("/api/users/", users(pool))
		get("/messages", messages(pool))
		addProducts(router, pool)
	}
	if path := os.Getenv("ITEMS_FILE"); path != "" {
		items, err := readItems(path)
		if err != nil {
			return err
		}
		// For clients that accept a coding, of this route alone.
		json := handlers.CompressHandler(jsonItems(items))
		router.Handle("/json/{n}", json).Methods(http.MethodGet, http.MethodHead)
	}
	if folder := os.Getenv("STATIC_FOLDER"); folder != "" {
		files := http.StripPrefix("/static/", http.FileServer(http.Dir(folder)))
		router.PathPrefix("/static/").Handler(files).Methods(http.MethodGet, http.MethodHead)
	}
	if url := os.Getenv("UPSTREAM_URL"); url != "" {
		get("/api/proxy/", proxy(url+"/slow"))
	}
	return serveUntilDone(ctx, router)
}

// serveUntilDone listens until ctx ends, then lets the requests under way finish.
func serveUntilDone(ctx context.Context, handler http.Handler) error {
	server := &http.Server{Addr: net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")), Handler: handler}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
