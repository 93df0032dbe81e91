package main

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v5"
)

// product is a row of the table and, without its id, what clients send. A missing price is nil, because 0 is a price.
type product struct {
	ID       int32  `json:"id"`
	Name     string `json:"name"`
	Category string `json:"category"`
	Price    *int32 `json:"price"`
}

func isText(s string) bool { n := utf8.RuneCountInString(s); return n >= 1 && n <= 100 }

func (p product) isValid() bool {
	return isText(p.Name) && isText(p.Category) && p.Price != nil && *p.Price >= 0 && *p.Price <= 1_000_000
}

type products struct{ pool *pgxpool.Pool }

func addProducts(group *echo.Group, pool *pgxpool.Pool) {
	p := products{pool}
	group.GET("", p.list)
	group.POST("", p.create)
	group.GET("/:id", p.read)
	group.PUT("/:id", p.change)
	group.DELETE("/:id", p.remove)
}

func (p products) list(c *echo.Context) error {
	page := int64(1)
	if c.QueryParams().Has("page") {
		var err error
		if page, err = strconv.ParseInt(c.QueryParam("page"), 10, 32); err != nil || page < 1 {
			return echo.NewHTTPError(http.StatusUnprocessableEntity, "page is a number of at least 1")
		}
	}
	sql, args := "SELECT id, name, category, price FROM products ORDER BY id LIMIT 20 OFFSET $1", []any{(page - 1) * 20}
	if category := c.QueryParam("category"); category != "" {
		sql = "SELECT id, name, category, price FROM products WHERE category = $2 ORDER BY id LIMIT 20 OFFSET $1"
		args = append(args, category)
	}
	rows, _ := p.pool.Query(c.Request().Context(), sql, args...) // Its error is that of the rows too.
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[product])
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, list)
}

func (p products) create(c *echo.Context) error {
	sent, err := bodyOf(c)
	if err != nil {
		return err
	}
	return p.one(c, http.StatusCreated, "INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id, name, category, price", sent.Name, sent.Category, sent.Price)
}

func (p products) read(c *echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	return p.one(c, http.StatusOK, "SELECT id, name, category, price FROM products WHERE id = $1", id)
}

func (p products) change(c *echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	sent, err := bodyOf(c)
	if err != nil {
		return err
	}
	return p.one(c, http.StatusOK, "UPDATE products SET name = $1, category = $2, price = $3 WHERE id = $4 RETURNING id, name, category, price", sent.Name, sent.Category, sent.Price, id)
}

func (p products) remove(c *echo.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	return p.one(c, http.StatusNoContent, "DELETE FROM products WHERE id = $1 RETURNING id, name, category, price", id)
}

func idOf(c *echo.Context) (int64, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 32)
	if err != nil {
		return 0, echo.ErrNotFound
	}
	return id, nil
}

func bodyOf(c *echo.Context) (sent product, err error) {
	if echo.BindBody(c, &sent) != nil || !sent.isValid() {
		err = echo.NewHTTPError(http.StatusUnprocessableEntity, "a product has a name, a category and a price")
	}
	return sent, err
}

// one answers with the row that the statement returns, or with what the database said.
func (p products) one(c *echo.Context, status int, sql string, args ...any) error {
	rows, _ := p.pool.Query(c.Request().Context(), sql, args...)
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[product])
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return echo.ErrNotFound
	case errors.As(err, &refused) && refused.Code == "23505":
		return echo.NewHTTPError(http.StatusConflict, "the name is taken")
	case err != nil:
		return err
	case status == http.StatusNoContent:
		return c.NoContent(status)
	case status == http.StatusCreated:
		c.Response().Header().Set(echo.HeaderLocation, fmt.Sprintf("/products/%d", row.ID))
	}
	return c.JSON(status, row)
}
