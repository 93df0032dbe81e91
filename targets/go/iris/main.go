// Command server answers Pippin's workloads with Iris, its HTML view engine, and pgx.
package main

import (
	"context"
	"crypto/sha256"
	"embed"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/kataras/iris/v12"
)

//go:embed templates/*.html
var templateFiles embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serve(ctx); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context) error {
	app := iris.New()
	app.Logger().SetLevel("warn")
	app.RegisterView(iris.HTML(templateFiles, ".html").RootDir("templates").Layout("layout.html"))
	app.HandleMany("GET HEAD", "/", hello)
	app.HandleMany("GET HEAD", "/hola/{name}", hola)
	app.Get("/page/{n:int}", page)
	app.Get("/device", device)
	app.Post("/upload", upload)

	if url := os.Getenv("DATABASE_URL"); url != "" {
		pool, err := openPool(ctx, url, os.Getenv("DATABASE_POOL"))
		if err != nil {
			return err
		}
		defer pool.Close()
		app.Get("/api/users", users(pool))
		app.Get("/messages", messages(pool))
	}
	if path := os.Getenv("ITEMS_FILE"); path != "" {
		items, err := readItems(path)
		if err != nil {
			return err
		}
		// For clients that accept a coding, of this route alone.
		app.Get("/json/{n:int}", iris.Compression, jsonItems(items))
	}
	if folder := os.Getenv("STATIC_FOLDER"); folder != "" {
		app.HandleDir("/static", iris.Dir(folder))
	}
	if url := os.Getenv("UPSTREAM_URL"); url != "" {
		app.Get("/api/proxy", proxy(url+"/slow"))
	}
	return serveUntilDone(ctx, app)
}

// serveUntilDone listens until ctx ends, then lets the requests under way finish.
func serveUntilDone(ctx context.Context, app *iris.Application) error {
	failed := make(chan error, 1)
	go func() {
		failed <- app.Listen(
			net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")),
			iris.WithoutStartupLog,
			iris.WithoutInterruptHandler,
			// Iris drops the last slash of a path; without this it would answer with a redirect first.
			iris.WithoutPathCorrectionRedirection,
			iris.WithoutServerError(iris.ErrServerClosed),
		)
	}()

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return app.Shutdown(grace)
}

func hello(c iris.Context) {
	c.Text("Hello World!")
}

func hola(c iris.Context) {
	c.Text("Hola %s", c.Params().Get("name"))
}

func page(c iris.Context) {
	n, err := c.Params().GetInt("n")
	if err != nil {
		c.NotFound()
		return
	}
	if err := c.View("page.html", newPageData(n)); err != nil {
		c.StopWithError(http.StatusInternalServerError, err)
	}
}

func device(c iris.Context) {
	waitForDevice()
	c.Text(deviceBody)
}

// upload digests the body as it comes.
func upload(c iris.Context) {
	hash := sha256.New()
	length, err := io.Copy(hash, c.Request().Body)
	if err != nil {
		c.StopWithError(http.StatusBadRequest, err)
		return
	}
	c.Text("%d %x", length, hash.Sum(nil))
}

func users(pool *pgxpool.Pool) iris.Handler {
	return func(c iris.Context) {
		users, err := queryUsers(c.Request().Context(), pool)
		if err != nil {
			c.StopWithError(http.StatusInternalServerError, err)
			return
		}
		c.JSON(users)
	}
}

func jsonItems(items []entry) iris.Handler {
	return func(c iris.Context) {
		n, err := c.Params().GetInt("n")
		m, errM := c.URLParamInt64("m")
		if err != nil || errM != nil {
			c.NotFound()
			return
		}
		c.JSON(withTotals(items, n, m))
	}
}

func proxy(url string) iris.Handler {
	return func(c iris.Context) {
		status, body, err := askUpstream(c.Request().Context(), url)
		if err != nil {
			c.StopWithError(http.StatusInternalServerError, err)
			return
		}
		c.StatusCode(status)
		c.Text("%s", body)
	}
}

func messages(pool *pgxpool.Pool) iris.Handler {
	return func(c iris.Context) {
		messages, err := queryMessages(c.Request().Context(), pool, c.URLParam("add"))
		if err == nil {
			err = c.View("messages.html", iris.Map{"Title": "Messages", "Messages": messages})
		}
		if err != nil {
			c.StopWithError(http.StatusInternalServerError, err)
		}
	}
}
