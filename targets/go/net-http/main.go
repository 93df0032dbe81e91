// Command server answers Pippin's workloads with net/http alone: its own router, templates, client and server.
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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serve(ctx); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", hello)
	mux.HandleFunc("GET /hola/{name}", hola)
	mux.HandleFunc("GET /page/{n}", page)
	mux.HandleFunc("GET /device", device)
	mux.HandleFunc("GET /events", events)
	mux.HandleFunc("POST /upload", upload)

	if url := os.Getenv("DATABASE_URL"); url != "" {
		pool, err := openPool(ctx, url, os.Getenv("DATABASE_POOL"))
		if err != nil {
			return err
		}
		defer pool.Close()
		mux.Handle("GET /api/users/{$}", usersHandler{pool})
		mux.Handle("GET /messages", messagesHandler{pool})
		addProducts(mux, pool)
	}
	if path := os.Getenv("ITEMS_FILE"); path != "" {
		items, err := readItems(path)
		if err != nil {
			return err
		}
		mux.Handle("GET /json/{n}", itemsHandler{items})
	}
	if folder := os.Getenv("STATIC_FOLDER"); folder != "" {
		mux.Handle("GET /static/", http.StripPrefix("/static", http.FileServer(http.Dir(folder))))
	}
	if url := os.Getenv("UPSTREAM_URL"); url != "" {
		mux.Handle("GET /api/proxy/{$}", proxyHandler{url + "/slow"})
	}

	address := net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT"))
	if os.Getenv("PROTOCOL") == "h3" {
		return serveUntilDone(ctx, newQUICServer(address, mux))
	}
	server := &http.Server{Addr: address, Handler: mux}
	if os.Getenv("PROTOCOL") == "h2c" {
		server.Protocols = new(http.Protocols)
		server.Protocols.SetUnencryptedHTTP2(true)
	}
	return serveUntilDone(ctx, tcpServer{server})
}

// server is a server over TCP, or over QUIC.
type server interface {
	listen() error
	Shutdown(ctx context.Context) error
}

// tcpServer serves HTTP/1.1 and HTTP/2.
type tcpServer struct{ *http.Server }

// listen serves over TLS where there is a certificate; HTTP/2 is then agreed on with each client.
func (s tcpServer) listen() error {
	if certificate := os.Getenv("TLS_CERTIFICATE"); certificate != "" {
		return s.ListenAndServeTLS(certificate, os.Getenv("TLS_KEY"))
	}
	return s.ListenAndServe()
}

// serveUntilDone listens until ctx ends, then lets the requests under way finish.
func serveUntilDone(ctx context.Context, server server) error {
	failed := make(chan error, 1)
	go func() { failed <- server.listen() }()

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
