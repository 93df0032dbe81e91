// Command server answers Pippin's workloads with Hertz on netpoll, its html/template renderer, and pgx.
package main

import (
	"context"
	"crypto/sha256"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/app/server/render"
	"github.com/cloudwego/hertz/pkg/common/hlog"
	"github.com/jackc/pgx/v5/pgxpool"
)

func main() {
	if err := serve(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// serve listens until a signal comes; Hertz itself waits for it and lets the requests under way finish.
func serve(ctx context.Context) error {
	hlog.SetLevel(hlog.LevelWarn)
	h := server.Default(
		server.WithHostPorts(net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT"))),
		server.WithStreamBody(true),
		server.WithMaxRequestBodySize(20_000_000), // by default it is 4 MB
	)
	h.SetHTMLTemplate(pageTemplate)
	h.GET("/", hello)
	h.HEAD("/", hello)
	h.GET("/hola/:name", hola)
	h.HEAD("/hola/:name", hola)
	h.GET("/page/:n", page)
	h.GET("/device", device)
	h.POST("/upload", upload)

	if url := os.Getenv("DATABASE_URL"); url != "" {
		pool, err := openPool(ctx, url, os.Getenv("DATABASE_POOL"))
		if err != nil {
			return err
		}
		defer pool.Close()
		h.GET("/api/users/", users(pool))
		h.GET("/messages", messages(pool))
	}
	if path := os.Getenv("ITEMS_FILE"); path != "" {
		items, err := readItems(path)
		if err != nil {
			return err
		}
		h.GET("/json/:n", jsonItems(items))
	}
	if folder := os.Getenv("STATIC_FOLDER"); folder != "" {
		h.StaticFS("/static", &app.FS{
			Root:            folder,
			PathRewrite:     app.NewPathSlashesStripper(1),
			AcceptByteRange: true,
			CacheDuration:   500 * time.Millisecond,
		})
	}
	if url := os.Getenv("UPSTREAM_URL"); url != "" {
		h.GET("/api/proxy/", proxy(url+"/slow"))
	}
	h.Spin()
	return nil
}

func hello(_ context.Context, c *app.RequestContext) {
	c.String(http.StatusOK, "Hello World!")
}

func hola(_ context.Context, c *app.RequestContext) {
	c.String(http.StatusOK, "Hola %s", c.Param("name"))
}

func page(_ context.Context, c *app.RequestContext) {
	n, err := strconv.Atoi(c.Param("n"))
	if err != nil {
		c.AbortWithStatus(http.StatusNotFound)
		return
	}
	c.HTML(http.StatusOK, "layout.html", newPageData(n))
}

func device(_ context.Context, c *app.RequestContext) {
	waitForDevice()
	c.String(http.StatusOK, deviceBody)
}

// upload digests the body as it comes.
func upload(_ context.Context, c *app.RequestContext) {
	hash := sha256.New()
	length, err := io.Copy(hash, c.RequestBodyStream())
	if err != nil {
		c.String(http.StatusBadRequest, "%s", err.Error())
		return
	}
	c.String(http.StatusOK, "%d %x", length, hash.Sum(nil))
}

func users(pool *pgxpool.Pool) app.HandlerFunc {
	return func(ctx context.Context, c *app.RequestContext) {
		users, err := queryUsers(ctx, pool)
		if err != nil {
			c.String(http.StatusInternalServerError, "%s", err.Error())
			return
		}
		c.JSON(http.StatusOK, users)
	}
}

func jsonItems(items []entry) app.HandlerFunc {
	return func(_ context.Context, c *app.RequestContext) {
		n, err := strconv.Atoi(c.Param("n"))
		m, errM := strconv.ParseInt(c.Query("m"), 10, 64)
		if err != nil || errM != nil {
			c.AbortWithStatus(http.StatusNotFound)
			return
		}
		c.JSON(http.StatusOK, withTotals(items, n, m))
	}
}

func proxy(url string) app.HandlerFunc {
	return func(ctx context.Context, c *app.RequestContext) {
		status, body, err := askUpstream(ctx, url)
		if err != nil {
			c.String(http.StatusInternalServerError, "%s", err.Error())
			return
		}
		c.String(status, "%s", body)
	}
}

func messages(pool *pgxpool.Pool) app.HandlerFunc {
	return func(ctx context.Context, c *app.RequestContext) {
		messages, err := queryMessages(ctx, pool, c.Query("add"))
		if err != nil {
			c.String(http.StatusInternalServerError, "%s", err.Error())
			return
		}
		// The server has one set of templates, and both pages define the blocks of the layout.
		c.Render(http.StatusOK, render.HTMLProduction{Template: messagesTemplate}.Instance("layout.html", messages))
	}
}
