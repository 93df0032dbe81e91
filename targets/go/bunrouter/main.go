// Command server answers Pippin's workloads with Bunrouter, html/template and pgx.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/klauspost/compress/gzhttp"
	"github.com/uptrace/bunrouter"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serve(ctx); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context) error {
	router := bunrouter.New(bunrouter.Use(failures))
	router.GET("/", hello)
	router.HEAD("/", hello)
	router.GET("/hola/:name", hola)
	router.HEAD("/hola/:name", hola)
	router.GET("/page/:n", page)
	router.GET("/device", device)
	router.POST("/upload", upload)

	if address := os.Getenv("DATABASE_URL"); address != "" {
		pool, err := openPool(ctx, address, os.Getenv("DATABASE_POOL"))
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
		files := bunrouter.HTTPHandler(http.StripPrefix("/static/", http.FileServer(http.Dir(folder))))
		router.GET("/static/*file", files)
		router.HEAD("/static/*file", files)
	}
	if base := os.Getenv("UPSTREAM_URL"); base != "" {
		router.GET("/api/proxy/", proxy(base+"/slow"))
	}
	// It packs for clients that accept gzip, and stands before all routes, as in the guide.
	return serveUntilDone(ctx, gzhttp.GzipHandler(router))
}

// failures answers with 500 where a handler failed: Bunrouter itself only passes the error on.
func failures(next bunrouter.HandlerFunc) bunrouter.HandlerFunc {
	return func(w http.ResponseWriter, request bunrouter.Request) error {
		err := next(w, request)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
		return err
	}
}

func plain(w http.ResponseWriter, status int, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, err := io.WriteString(w, text)
	return err
}

func hello(w http.ResponseWriter, _ bunrouter.Request) error {
	return plain(w, http.StatusOK, "Hello World!")
}

// hola decodes the name itself where Bunrouter matched the path as it was sent.
func hola(w http.ResponseWriter, request bunrouter.Request) error {
	name := request.Param("name")
	if request.URL.RawPath != "" {
		decoded, err := url.PathUnescape(name)
		if err != nil {
			return err
		}
		name = decoded
	}
	return plain(w, http.StatusOK, "Hola "+name)
}

func page(w http.ResponseWriter, request bunrouter.Request) error {
	n, err := strconv.Atoi(request.Param("n"))
	if err != nil {
		http.NotFound(w, request.Request)
		return nil
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	return pageTemplate.ExecuteTemplate(w, "layout.html", newPageData(n))
}

func device(w http.ResponseWriter, _ bunrouter.Request) error {
	waitForDevice()
	return plain(w, http.StatusOK, deviceBody)
}

// upload digests the body as it comes.
func upload(w http.ResponseWriter, request bunrouter.Request) error {
	hash := sha256.New()
	length, err := io.Copy(hash, request.Body)
	if err != nil {
		return err
	}
	return plain(w, http.StatusOK, fmt.Sprintf("%d %x", length, hash.Sum(nil)))
}

func users(pool *pgxpool.Pool) bunrouter.HandlerFunc {
	return func(w http.ResponseWriter, request bunrouter.Request) error {
		users, err := queryUsers(request.Context(), pool)
		if err != nil {
			return err
		}
		return bunrouter.JSON(w, users)
	}
}

func jsonItems(items []entry) bunrouter.HandlerFunc {
	return func(w http.ResponseWriter, request bunrouter.Request) error {
		n, err := strconv.Atoi(request.Param("n"))
		m, errM := strconv.ParseInt(request.URL.Query().Get("m"), 10, 64)
		if err != nil || errM != nil {
			http.NotFound(w, request.Request)
			return nil
		}
		return bunrouter.JSON(w, withTotals(items, n, m))
	}
}

func proxy(url string) bunrouter.HandlerFunc {
	return func(w http.ResponseWriter, request bunrouter.Request) error {
		status, body, err := askUpstream(request.Context(), url)
		if err != nil {
			return err
		}
		return plain(w, status, body)
	}
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

func messages(pool *pgxpool.Pool) bunrouter.HandlerFunc {
	return func(w http.ResponseWriter, request bunrouter.Request) error {
		messages, err := queryMessages(request.Context(), pool, request.URL.Query().Get("add"))
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		return messagesTemplate.ExecuteTemplate(w, "layout.html", messages)
	}
}
