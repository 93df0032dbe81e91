// Command server answers Pippin's workloads with Fiber, its html template engine and pgx.
package main

import (
	"context"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/compress"
	"github.com/gofiber/fiber/v3/middleware/static"
	"github.com/gofiber/template/html/v2"
	"github.com/jackc/pgx/v5/pgxpool"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := serve(ctx); err != nil {
		log.Fatal(err)
	}
}

//go:embed templates/*.html
var templateFiles embed.FS

func serve(ctx context.Context) error {
	views, err := fs.Sub(templateFiles, "templates")
	if err != nil {
		return err
	}
	app := fiber.New(fiber.Config{
		Views: html.NewFileSystem(http.FS(views), ".html"),
		// By default it is 4 MB. With StreamRequestBody, chunks that no handler reads would be taken for the next request.
		BodyLimit: 20_000_000,
	})
	app.Get("/", hello)
	app.Get("/hola/:name", hola)
	app.Get("/page/:n", page)
	app.Get("/device", device)
	app.Get("/events", events)
	app.Post("/upload", upload)

	if url := os.Getenv("DATABASE_URL"); url != "" {
		pool, err := openPool(ctx, url, os.Getenv("DATABASE_POOL"))
		if err != nil {
			return err
		}
		defer pool.Close()
		app.Get("/api/users/", users(pool))
		app.Get("/messages", messages(pool))
		addProducts(app.Group("/products"), pool)
	}
	if path := os.Getenv("ITEMS_FILE"); path != "" {
		items, err := readItems(path)
		if err != nil {
			return err
		}
		// For clients that accept a coding, of this route alone.
		app.Get("/json/:n", compress.New(), jsonItems(items))
	}
	if folder := os.Getenv("STATIC_FOLDER"); folder != "" {
		app.Get("/static*", static.New(folder, static.Config{ByteRange: true, CacheDuration: 500 * time.Millisecond}))
	}
	if url := os.Getenv("UPSTREAM_URL"); url != "" {
		app.Get("/api/proxy/", proxy(url+"/slow"))
	}
	return app.Listen(net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")), fiber.ListenConfig{
		DisableStartupMessage: true,
		GracefulContext:       ctx,
	})
}

func hello(c fiber.Ctx) error {
	return c.SendString("Hello World!")
}

// hola decodes the name itself: Fiber gives parts of the path as they were sent.
func hola(c fiber.Ctx) error {
	name, err := url.PathUnescape(c.Params("name"))
	if err != nil {
		return fiber.ErrBadRequest
	}
	return c.SendString("Hola " + name)
}

func page(c fiber.Ctx) error {
	n, err := strconv.Atoi(c.Params("n"))
	if err != nil {
		return fiber.ErrNotFound
	}
	return c.Render("page", newPageData(n), "layout")
}

func device(c fiber.Ctx) error {
	waitForDevice()
	return c.SendString(deviceBody)
}

// upload digests the body, which is there as a whole.
func upload(c fiber.Ctx) error {
	body := c.Body()
	return c.SendString(fmt.Sprintf("%d %x", len(body), sha256.Sum256(body)))
}

func users(pool *pgxpool.Pool) fiber.Handler {
	return func(c fiber.Ctx) error {
		users, err := queryUsers(c.Context(), pool)
		if err != nil {
			return err
		}
		return c.JSON(users)
	}
}

func messages(pool *pgxpool.Pool) fiber.Handler {
	return func(c fiber.Ctx) error {
		messages, err := queryMessages(c.Context(), pool, c.Query("add"))
		if err != nil {
			return err
		}
		return c.Render("messages", fiber.Map{"Title": "Messages", "Messages": messages}, "layout")
	}
}

func jsonItems(items []entry) fiber.Handler {
	return func(c fiber.Ctx) error {
		n, err := strconv.Atoi(c.Params("n"))
		m, errM := strconv.ParseInt(c.Query("m"), 10, 64)
		if err != nil || errM != nil {
			return fiber.ErrNotFound
		}
		return c.JSON(withTotals(items, n, m))
	}
}

func proxy(url string) fiber.Handler {
	return func(c fiber.Ctx) error {
		status, body, err := askUpstream(c.Context(), url)
		if err != nil {
			return err
		}
		return c.Status(status).SendString(body)
	}
}
