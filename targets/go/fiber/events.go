package main

import (
	"bufio"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v3"
)

func events(c fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, "text/event-stream")
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.SendStreamWriter(sendEvents)
}

// sendEvents sends an event each 100 ms: its number, and the milliseconds since 1970.
func sendEvents(w *bufio.Writer) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for n := range 100 {
		if n > 0 {
			<-ticker.C
		}
		fmt.Fprintf(w, "data: %d %d\n\n", n, time.Now().UnixMilli())
		if err := w.Flush(); err != nil {
			return
		}
	}
}
