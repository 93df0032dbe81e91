package main

import (
	"math/rand/v2"
	"strings"
	"time"
)

var deviceBody = strings.Repeat("x", 1024)

// waitForDevice waits 95 to 105 ms; a sleeping goroutine holds no thread.
func waitForDevice() {
	time.Sleep(95*time.Millisecond + rand.N(10*time.Millisecond))
}
