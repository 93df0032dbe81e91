package main

import (
	"fmt"
	"net/http"
	"time"
)

// events sends an event each 100 ms: its number, and the milliseconds since 1970.
func events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	stream := http.NewResponseController(w)
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for n := range 100 {
		if n > 0 {
			select {
			case <-ticker.C:
			case <-r.Context().Done():
				return
			}
		}
		fmt.Fprintf(w, "data: %d %d\n\n", n, time.Now().UnixMilli())
		if err := stream.Flush(); err != nil {
			return
		}
	}
}
