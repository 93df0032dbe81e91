// Replace net/http by the framework. What Go itself has the means for is served so far.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
)

func main() {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /{$}", func(answer http.ResponseWriter, _ *http.Request) {
		answer.Header().Set("Content-Type", "text/plain")
		io.WriteString(answer, "Hello World!")
	})
	routes.HandleFunc("POST /upload", upload)
	// Each variable is there where its workload is measured.
	if path := os.Getenv("ITEMS_FILE"); path != "" {
		items, err := readItems(path)
		if err != nil {
			log.Fatal(err)
		}
		routes.HandleFunc("GET /json/{n}", func(answer http.ResponseWriter, request *http.Request) {
			n, err := strconv.Atoi(request.PathValue("n"))
			m, errM := strconv.ParseInt(request.URL.Query().Get("m"), 10, 64)
			if err != nil || errM != nil {
				http.NotFound(answer, request)
				return
			}
			answer.Header().Set("Content-Type", "application/json")
			json.NewEncoder(answer).Encode(withTotals(items, n, m))
		})
	}
	if folder := os.Getenv("STATIC_FOLDER"); folder != "" {
		routes.Handle("GET /static/", http.StripPrefix("/static", http.FileServer(http.Dir(folder))))
	}
	address := net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT"))
	log.Fatal(http.ListenAndServe(address, routes))
}

// upload digests the body as it comes.
func upload(answer http.ResponseWriter, request *http.Request) {
	digest := sha256.New()
	length, err := io.Copy(digest, request.Body)
	if err != nil {
		http.Error(answer, err.Error(), http.StatusBadRequest)
		return
	}
	answer.Header().Set("Content-Type", "text/plain")
	fmt.Fprintf(answer, "%d %x", length, digest.Sum(nil))
}
