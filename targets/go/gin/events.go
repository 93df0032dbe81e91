package main

import (
	"fmt"
	"io"
	"time"

	"github.com/gin-gonic/gin"
)

// events sends an event each 100 ms: its number, and the milliseconds since 1970.
func events(c *gin.Context) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	n := 0
	c.Stream(func(io.Writer) bool {
		if n > 0 {
			<-ticker.C
		}
		c.SSEvent("message", fmt.Sprintf("%d %d", n, time.Now().UnixMilli()))
		n++
		return n < 100
	})
}
