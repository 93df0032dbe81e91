package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const plainText = "text/plain; charset=utf-8"

func hello(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", plainText)
	io.WriteString(w, "Hello World!")
}

func hola(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", plainText)
	fmt.Fprintf(w, "Hola %s", r.PathValue("name"))
}

// upload digests the body as it comes.
func upload(w http.ResponseWriter, r *http.Request) {
	hash := sha256.New()
	length, err := io.Copy(hash, r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", plainText)
	fmt.Fprintf(w, "%d %x", length, hash.Sum(nil))
}

var deviceBody = bytes.Repeat([]byte("x"), 1024)

// device waits 95 to 105 ms; a sleeping goroutine holds no thread.
func device(w http.ResponseWriter, r *http.Request) {
	timer := time.NewTimer(95*time.Millisecond + rand.N(10*time.Millisecond))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", plainText)
	w.Write(deviceBody)
}

type itemsHandler struct{ items []entry }

func (h itemsHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("n"))
	m, errM := strconv.ParseInt(r.URL.Query().Get("m"), 10, 64)
	if err != nil || errM != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(withTotals(h.items, n, m))
}

type proxyHandler struct{ url string }

func (p proxyHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, p.url, nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
	w.WriteHeader(answer.StatusCode)
	io.Copy(w, answer.Body)
}
