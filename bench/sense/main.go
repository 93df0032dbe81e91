// Command sense answers the workload hello with net/http, and is slower in ways that are known: it can burn CPU time,
// wait, or let only so many requests wait at a time.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	burn := number("SENSE_BURN")
	wait := time.Duration(number("SENSE_WAIT_US")) * time.Microsecond
	pool := make(chan struct{}, max(number("SENSE_POOL"), 1))

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		spin(burn)
		if wait > 0 {
			pool <- struct{}{}
			time.Sleep(wait)
			<-pool
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		io.WriteString(w, "Hello World!")
	})
	server := &http.Server{Addr: net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")), Handler: mux}

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	go func() {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(grace)
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}

// number reads a variable; 0 if it is not set.
func number(name string) int {
	text := os.Getenv(name)
	if text == "" {
		return 0
	}
	value, err := strconv.Atoi(text)
	if err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	return value
}

var sink atomic.Uint64

// spin takes so many steps of a generator of random numbers (xorshift64), each of which needs the one before.
func spin(steps int) {
	x := uint64(88172645463325252)
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	sink.Store(x)
}
