package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"time"
)

func hello(w http.ResponseWriter, r *http.Request) {
	fmt.Fprint(w, "Hello World!")
}

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	http.HandleFunc("/", hello)
	server := &http.Server{Addr: ":" + port, ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}
