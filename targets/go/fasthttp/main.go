// Command server answers Pippin's workloads with fasthttp, the router of the same name, html/template, pgx and fasthttp's own client.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math"
	"net"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/fasthttp/router"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/valyala/fasthttp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serve(ctx); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context) error {
	routes := router.New()
	routes.GET("/", hello)
	routes.HEAD("/", hello)
	routes.GET("/hola/{name}", hola)
	routes.HEAD("/hola/{name}", hola)
	routes.GET("/page/{n}", page)
	routes.GET("/device", device)
	routes.GET("/events", events)
	routes.POST("/upload", upload)

	if url := os.Getenv("DATABASE_URL"); url != "" {
		pool, err := openPool(ctx, url, os.Getenv("DATABASE_POOL"))
		if err != nil {
			return err
		}
		defer pool.Close()
		routes.GET("/api/users/", users(pool))
		routes.GET("/messages", messages(pool))
	}
	if path := os.Getenv("ITEMS_FILE"); path != "" {
		items, err := readItems(path)
		if err != nil {
			return err
		}
		// For clients that accept a coding, of this route alone.
		routes.GET("/json/{n}", fasthttp.CompressHandlerBrotliLevel(jsonItems(items), fasthttp.CompressBrotliDefaultCompression, fasthttp.CompressDefaultCompression))
	}
	if folder := os.Getenv("STATIC_FOLDER"); folder != "" {
		routes.ServeFilesCustom("/static/{filepath:*}", &fasthttp.FS{
			Root:            folder,
			AcceptByteRange: true,
			CacheDuration:   500 * time.Millisecond,
		})
	}
	if url := os.Getenv("UPSTREAM_URL"); url != "" {
		routes.GET("/api/proxy/", proxy(url+"/slow"))
	}

	server := &fasthttp.Server{
		Handler: routes.Handler,
		// By default it is 4 MB. With StreamRequestBody, chunks that no handler reads would be taken for the next request.
		MaxRequestBodySize: 20_000_000,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe(net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT"))) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.ShutdownWithContext(grace); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

func hello(ctx *fasthttp.RequestCtx) {
	ctx.SetBodyString("Hello World!")
}

// hola decodes the name itself: the router gives parts of the path as they were sent.
func hola(ctx *fasthttp.RequestCtx) {
	name, err := url.PathUnescape(ctx.UserValue("name").(string))
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	ctx.SetBodyString("Hola " + name)
}

func page(ctx *fasthttp.RequestCtx) {
	n, err := strconv.Atoi(ctx.UserValue("n").(string))
	if err != nil {
		ctx.NotFound()
		return
	}
	ctx.SetContentType("text/html; charset=utf-8")
	if err := pageTemplate.ExecuteTemplate(ctx, "layout.html", newPageData(n)); err != nil {
		ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
	}
}

func device(ctx *fasthttp.RequestCtx) {
	waitForDevice()
	ctx.SetBodyString(deviceBody)
}

// upload digests the body, which is there as a whole.
func upload(ctx *fasthttp.RequestCtx) {
	body := ctx.PostBody()
	fmt.Fprintf(ctx, "%d %x", len(body), sha256.Sum256(body))
}

func users(pool *pgxpool.Pool) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		users, err := queryUsers(ctx, pool)
		if err != nil {
			ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
			return
		}
		ctx.SetContentType("application/json")
		json.NewEncoder(ctx).Encode(users)
	}
}

func jsonItems(items []entry) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		n, err := strconv.Atoi(ctx.UserValue("n").(string))
		m, errM := strconv.ParseInt(string(ctx.QueryArgs().Peek("m")), 10, 64)
		if err != nil || errM != nil {
			ctx.NotFound()
			return
		}
		ctx.SetContentType("application/json")
		json.NewEncoder(ctx).Encode(withTotals(items, n, m))
	}
}

func proxy(url string) fasthttp.RequestHandler {
	// The client would make 512 calls to one host at once and refuse the others.
	client := &fasthttp.Client{MaxConnsPerHost: math.MaxInt32}
	return func(ctx *fasthttp.RequestCtx) {
		status, body, err := client.Get(nil, url)
		if err != nil {
			ctx.Error(err.Error(), fasthttp.StatusBadGateway)
			return
		}
		ctx.SetStatusCode(status)
		ctx.SetBody(body)
	}
}

func messages(pool *pgxpool.Pool) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		messages, err := queryMessages(ctx, pool, string(ctx.QueryArgs().Peek("add")))
		if err != nil {
			ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
			return
		}
		ctx.SetContentType("text/html; charset=utf-8")
		if err := messagesTemplate.ExecuteTemplate(ctx, "layout.html", messages); err != nil {
			ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
		}
	}
}
