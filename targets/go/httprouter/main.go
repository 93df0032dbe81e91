// Command server answers Pippin's workloads with httprouter, html/template and pgx.
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

	"github.com/julienschmidt/httprouter"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serve(ctx); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context) error {
	router := httprouter.New()
	router.GET("/", hello)
	router.HEAD("/", hello)
	router.GET("/hola/:name", hola)
	router.HEAD("/hola/:name", hola)
	router.GET("/page/:n", page)
	router.GET("/device", device)
	router.GET("/events", events)
	router.POST("/upload", upload)

	if url := os.Getenv("DATABASE_URL"); url != "" {
		pool, err := openPool(ctx, url, os.Getenv("DATABASE_POOL"))
		if err != nil {
			return err
		}
		defer pool.Close()
		router.GET("/api/users/", users(pool))
		router.GET("/messages", messages(pool))
	}
	if path := os.Getenv("ITEMS_FILE"); path != "" {
		items, err := readItems(path)
		if err != nil {
			return err
		}
		router.GET("/json/:n", jsonItems(items))
	}
	if folder := os.Getenv("STATIC_FOLDER"); folder != "" {
		router.ServeFiles("/static/*filepath", http.Dir(folder))
	}
	if url := os.Getenv("UPSTREAM_URL"); url != "" {
		router.GET("/api/proxy/", proxy(url+"/slow"))
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
