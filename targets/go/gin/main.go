// Command server answers Pippin's workloads with Gin, its HTML renderer and pgx.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/gin-contrib/gzip"
	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/render"
	"github.com/jackc/pgx/v5/pgxpool"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serve(ctx); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context) error {
	router := gin.New()
	router.Use(gin.Recovery())
	router.SetHTMLTemplate(pageTemplate)
	router.GET("/", hello)
	router.HEAD("/", hello)
	router.GET("/hola/:name", hola)
	router.HEAD("/hola/:name", hola)
	router.GET("/page/:n", page)
	router.GET("/device", device)
	router.GET("/events", events)
	router.POST("/upload", upload)

	if url := os.Getenv("DATABASE_URL"); url != "" {
		pool, err := openPool(ctx, url, os.Getenv("DATABASE_POOL"))
		if err != nil {
			return err
		}
		defer pool.Close()
		router.GET("/api/users/", users(pool))
		router.GET("/messages", messages(pool))
		addProducts(router.Group("/products"), pool)
	}
	if path := os.Getenv("ITEMS_FILE"); path != "" {
		items, err := readItems(path)
		if err != nil {
			return err
		}
		// For clients that accept gzip, of this route alone.
		router.GET("/json/:n", gzip.Gzip(gzip.DefaultCompression), jsonItems(items))
	}
	if folder := os.Getenv("STATIC_FOLDER"); folder != "" {
		router.Static("/static", folder)
	}
	if url := os.Getenv("UPSTREAM_URL"); url != "" {
		router.GET("/api/proxy/", proxy(url+"/slow"))
	}
	return serveUntilDone(ctx, router)
}

func hello(c *gin.Context) {
	c.String(http.StatusOK, "Hello World!")
}

func hola(c *gin.Context) {
	c.String(http.StatusOK, "Hola %s", c.Param("name"))
}

func page(c *gin.Context) {
	n, err := strconv.Atoi(c.Param("n"))
	if err != nil {
		c.Status(http.StatusNotFound)
		return
	}
	c.HTML(http.StatusOK, "layout.html", newPageData(n))
}

func device(c *gin.Context) {
	waitForDevice()
	c.String(http.StatusOK, deviceBody)
}

// upload digests the body as it comes.
func upload(c *gin.Context) {
	hash := sha256.New()
	length, err := io.Copy(hash, c.Request.Body)
	if err != nil {
		c.String(http.StatusBadRequest, "%v", err)
		return
	}
	c.String(http.StatusOK, "%d %x", length, hash.Sum(nil))
}

func users(pool *pgxpool.Pool) gin.HandlerFunc {
	return func(c *gin.Context) {
		users, err := queryUsers(c.Request.Context(), pool)
		if err != nil {
			c.String(http.StatusInternalServerError, "%v", err)
			return
		}
		c.JSON(http.StatusOK, users)
	}
}

func messages(pool *pgxpool.Pool) gin.HandlerFunc {
	return func(c *gin.Context) {
		messages, err := queryMessages(c.Request.Context(), pool, c.Query("add"))
		if err != nil {
			c.String(http.StatusInternalServerError, "%v", err)
			return
		}
		// The router has one set of templates, and both pages define the blocks of the layout.
		c.Render(http.StatusOK, render.HTML{Template: messagesTemplate, Name: "layout.html", Data: messages})
	}
}

func jsonItems(items []entry) gin.HandlerFunc {
	return func(c *gin.Context) {
		n, err := strconv.Atoi(c.Param("n"))
		m, errM := strconv.ParseInt(c.Query("m"), 10, 64)
		if err != nil || errM != nil {
			c.Status(http.StatusNotFound)
			return
		}
		c.JSON(http.StatusOK, withTotals(items, n, m))
	}
}

func proxy(url string) gin.HandlerFunc {
	return func(c *gin.Context) {
		status, body, err := askUpstream(c.Request.Context(), url)
		if err != nil {
			c.String(http.StatusBadGateway, "%v", err)
			return
		}
		c.String(status, "%s", body)
	}
}

// serveUntilDone listens until ctx ends, then lets the requests under way finish.
func serveUntilDone(ctx context.Context, handler http.Handler) error {
	server := &http.Server{Addr: net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")), Handler: handler}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
