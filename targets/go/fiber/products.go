package main

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/gofiber/fiber/v3"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
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

func addProducts(group fiber.Router, pool *pgxpool.Pool) {
	p := products{pool}
	group.Get("", p.list)
	group.Post("", p.create)
	group.Get("/:id", p.read)
	group.Put("/:id", p.change)
	group.Delete("/:id", p.remove)
}

func (p products) list(c fiber.Ctx) error {
	page, err := strconv.ParseInt(c.Query("page", "1"), 10, 32)
	if err != nil || page < 1 {
		return fiber.NewError(fiber.StatusUnprocessableEntity, "page is a number of at least 1")
	}
	sql, args := "SELECT id, name, category, price FROM products ORDER BY id LIMIT 20 OFFSET $1", []any{(page - 1) * 20}
	if category := c.Query("category"); category != "" {
		sql = "SELECT id, name, category, price FROM products WHERE category = $2 ORDER BY id LIMIT 20 OFFSET $1"
		args = append(args, category)
	}
	rows, _ := p.pool.Query(c.Context(), sql, args...) // Its error is that of the rows too.
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[product])
	if err != nil {
		return err
	}
	return c.JSON(list)
}

func (p products) create(c fiber.Ctx) error {
	sent, err := bodyOf(c)
	if err != nil {
		return err
	}
	return p.one(c, fiber.StatusCreated, "INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id, name, category, price", sent.Name, sent.Category, sent.Price)
}

func (p products) read(c fiber.Ctx) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	return p.one(c, fiber.StatusOK, "SELECT id, name, category, price FROM products WHERE id = $1", id)
}

func (p products) change(c fiber.Ctx) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	sent, err := bodyOf(c)
	if err != nil {
		return err
	}
	return p.one(c, fiber.StatusOK, "UPDATE products SET name = $1, category = $2, price = $3 WHERE id = $4 RETURNING id, name, category, price", sent.Name, sent.Category, sent.Price, id)
}

func (p products) remove(c fiber.Ctx) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	return p.one(c, fiber.StatusNoContent, "DELETE FROM products WHERE id = $1 RETURNING id, name, category, price", id)
}

func idOf(c fiber.Ctx) (int64, error) {
	id, err := strconv.ParseInt(c.Params("id"), 10, 32)
	if err != nil {
		return 0, fiber.ErrNotFound
	}
	return id, nil
}

func bodyOf(c fiber.Ctx) (sent product, err error) {
	if c.Bind().JSON(&sent) != nil || !sent.isValid() {
		err = fiber.NewError(fiber.StatusUnprocessableEntity, "a product has a name, a category and a price")
	}
	return sent, err
}

// one answers with the row that the statement returns, or with what the database said.
func (p products) one(c fiber.Ctx, status int, sql string, args ...any) error {
	rows, _ := p.pool.Query(c.Context(), sql, args...)
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[product])
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fiber.ErrNotFound
	case errors.As(err, &refused) && refused.Code == "23505":
		return fiber.NewError(fiber.StatusConflict, "the name is taken")
	case err != nil:
		return err
	case status == fiber.StatusNoContent:
		return c.SendStatus(status)
	case status == fiber.StatusCreated:
		c.Location(fmt.Sprintf("/products/%d", row.ID))
	}
	return c.Status(status).JSON(row)
}
