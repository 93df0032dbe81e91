// Replace net/http by the framework. Only `hello` is served so far.
package main

import (
	"io"
	"log"
	"net"
	"net/http"
	"os"
)

func main() {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /{$}", func(answer http.ResponseWriter, _ *http.Request) {
		answer.Header().Set("Content-Type", "text/plain")
		io.WriteString(answer, "Hello World!")
	})
	address := net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT"))
	log.Fatal(http.ListenAndServe(address, routes))
}
