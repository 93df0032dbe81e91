package main

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

var deviceBody = strings.Repeat("x", 1024)

// waitForDevice waits 95 to 105 ms; a sleeping goroutine holds no thread.
func waitForDevice() {
	time.Sleep(95*time.Millisecond + rand.N(10*time.Millisecond))
}

// askUpstream answers with the status and the body of the slow upstream.
func askUpstream(ctx context.Context, url string) (int, string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body), err
}
