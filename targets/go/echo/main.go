// Command server answers Pippin's workloads with Echo, its renderer with html/template, and pgx.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v5"
	"github.com/labstack/echo/v5/middleware"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serve(ctx); err != nil {
		log.Fatal(err)
	}
}

// renderer is what Echo asks for: html/template behind one method.
type renderer struct{}

func (renderer) Render(_ *echo.Context, out io.Writer, name string, data any) error {
	if name == "messages" {
		return messagesTemplate.ExecuteTemplate(out, "layout.html", data)
	}
	return pageTemplate.ExecuteTemplate(out, "layout.html", data)
}

func serve(ctx context.Context) error {
	// By default Echo gives parts of the path as they were sent.
	router := echo.NewRouter(echo.RouterConfig{UnescapePathParamValues: true})
	app := echo.NewWithConfig(echo.Config{Router: router})
	app.Renderer = renderer{}
	app.GET("/", hello)
	app.HEAD("/", hello)
	app.GET("/hola/:name", hola)
	app.HEAD("/hola/:name", hola)
	app.GET("/page/:n", page)
	app.GET("/device", device)
	app.GET("/events", events)
	app.POST("/upload", upload)

	if url := os.Getenv("DATABASE_URL"); url != "" {
		pool, err := openPool(ctx, url, os.Getenv("DATABASE_POOL"))
		if err != nil {
			return err
		}
		defer pool.Close()
		app.GET("/api/users/", users(pool))
		app.GET("/messages", messages(pool))
		addProducts(app.Group("/products"), pool)
	}
	if path := os.Getenv("ITEMS_FILE"); path != "" {
		items, err := readItems(path)
		if err != nil {
			return err
		}
		// For clients that accept gzip, of this route alone.
		app.GET("/json/:n", jsonItems(items), middleware.Gzip())
	}
	if folder := os.Getenv("STATIC_FOLDER"); folder != "" {
		app.StaticFS("/static", os.DirFS(folder))
	}
	if url := os.Getenv("UPSTREAM_URL"); url != "" {
		app.GET("/api/proxy/", proxy(url+"/slow"))
	}
	return serveUntilDone(ctx, app)
}

func hello(c *echo.Context) error {
	return c.String(http.StatusOK, "Hello World!")
}

func hola(c *echo.Context) error {
	return c.String(http.StatusOK, "Hola "+c.Param("name"))
}

func page(c *echo.Context) error {
	n, err := strconv.Atoi(c.Param("n"))
	if err != nil {
		return echo.ErrNotFound
	}
	return c.Render(http.StatusOK, "page", newPageData(n))
}

func device(c *echo.Context) error {
	waitForDevice()
	return c.String(http.StatusOK, deviceBody)
}

// upload digests the body as it comes.
func upload(c *echo.Context) error {
	hash := sha256.New()
	length, err := io.Copy(hash, c.Request().Body)
	if err != nil {
		return echo.ErrBadRequest
	}
	return c.String(http.StatusOK, fmt.Sprintf("%d %x", length, hash.Sum(nil)))
}

func users(pool *pgxpool.Pool) echo.HandlerFunc {
	return func(c *echo.Context) error {
		users, err := queryUsers(c.Request().Context(), pool)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, users)
	}
}

func messages(pool *pgxpool.Pool) echo.HandlerFunc {
	return func(c *echo.Context) error {
		messages, err := queryMessages(c.Request().Context(), pool, c.QueryParam("add"))
		if err != nil {
			return err
		}
		return c.Render(http.StatusOK, "messages", messages)
	}
}

func jsonItems(items []entry) echo.HandlerFunc {
	return func(c *echo.Context) error {
		n, err := strconv.Atoi(c.Param("n"))
		m, errM := strconv.ParseInt(c.QueryParam("m"), 10, 64)
		if err != nil || errM != nil {
			return echo.ErrNotFound
		}
		return c.JSON(http.StatusOK, withTotals(items, n, m))
	}
}

func proxy(url string) echo.HandlerFunc {
	return func(c *echo.Context) error {
		status, body, err := askUpstream(c.Request().Context(), url)
		if err != nil {
			return err
		}
		return c.String(status, body)
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
