// Command server answers Pippin's workloads with chi, html/template and pgx.
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

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serve(ctx); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context) error {
	router := chi.NewRouter()
	router.Use(middleware.GetHead)
	router.Get("/", hello)
	router.Get("/hola/{name}", hola)
	router.Get("/page/{n}", page)
	router.Get("/device", device)
	router.Get("/events", events)
	router.Post("/upload", upload)

	if url := os.Getenv("DATABASE_URL"); url != "" {
		pool, err := openPool(ctx, url, os.Getenv("DATABASE_POOL"))
		if err != nil {
			return err
		}
		defer pool.Close()
		router.Get("/api/users/", users(pool))
		router.Get("/messages", messages(pool))
		router.Route("/products", productsHandler{pool}.routes)
	}
	if path := os.Getenv("ITEMS_FILE"); path != "" {
		items, err := readItems(path)
		if err != nil {
			return err
		}
		// For clients that accept a coding, of this route alone.
		router.With(middleware.Compress(5)).Get("/json/{n}", jsonItems(items))
	}
	if folder := os.Getenv("STATIC_FOLDER"); folder != "" {
		router.Handle("/static/*", http.StripPrefix("/static", http.FileServer(http.Dir(folder))))
	}
	if url := os.Getenv("UPSTREAM_URL"); url != "" {
		router.Get("/api/proxy/", proxy(url+"/slow"))
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
