package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v5"
)

// events sends an event each 100 ms: its number, and the milliseconds since 1970.
func events(c *echo.Context) error {
	w := c.Response()
	w.Header().Set(echo.HeaderContentType, "text/event-stream")
	w.Header().Set(echo.HeaderCacheControl, "no-store")
	stream := http.NewResponseController(w)
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for n := range 100 {
		if n > 0 {
			select {
			case <-ticker.C:
			case <-c.Request().Context().Done():
				return nil
			}
		}
		fmt.Fprintf(w, "data: %d %d\n\n", n, time.Now().UnixMilli())
		if err := stream.Flush(); err != nil {
			return err
		}
	}
	return nil
}
