package main

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// product is a row of the table and, without its id, what clients send. The price is a pointer because 0 is one too.
type product struct {
	ID       int32  `json:"id"`
	Name     string `json:"name" binding:"required,max=100"`
	Category string `json:"category" binding:"required,max=100"`
	Price    *int32 `json:"price" binding:"required,min=0,max=1000000"`
}

type products struct{ pool *pgxpool.Pool }

func addProducts(group *gin.RouterGroup, pool *pgxpool.Pool) {
	p := products{pool}
	group.GET("", p.list)
	group.POST("", p.create)
	group.GET("/:id", p.read)
	group.PUT("/:id", p.change)
	group.DELETE("/:id", p.remove)
}

func (p products) list(c *gin.Context) {
	page, err := strconv.ParseInt(c.DefaultQuery("page", "1"), 10, 32)
	if err != nil || page < 1 {
		c.AbortWithStatusJSON(http.StatusUnprocessableEntity, gin.H{"error": "page is a number of at least 1"})
		return
	}
	sql, args := "SELECT id, name, category, price FROM products ORDER BY id LIMIT 20 OFFSET $1", []any{(page - 1) * 20}
	if category := c.Query("category"); category != "" {
		sql = "SELECT id, name, category, price FROM products WHERE category = $2 ORDER BY id LIMIT 20 OFFSET $1"
		args = append(args, category)
	}
	rows, _ := p.pool.Query(c.Request.Context(), sql, args...) // Its error is that of the rows too.
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[product])
	if err != nil {
		c.String(http.StatusInternalServerError, "%v", err)
		return
	}
	c.JSON(http.StatusOK, list)
}

func (p products) create(c *gin.Context) {
	if sent, ok := bodyOf(c); ok {
		p.one(c, http.StatusCreated, "INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id, name, category, price", sent.Name, sent.Category, sent.Price)
	}
}

func (p products) read(c *gin.Context) {
	if id, ok := idOf(c); ok {
		p.one(c, http.StatusOK, "SELECT id, name, category, price FROM products WHERE id = $1", id)
	}
}

func (p products) change(c *gin.Context) {
	id, ok := idOf(c)
	if !ok {
		return
	}
	if sent, ok := bodyOf(c); ok {
		p.one(c, http.StatusOK, "UPDATE products SET name = $1, category = $2, price = $3 WHERE id = $4 RETURNING id, name, category, price", sent.Name, sent.Category, sent.Price, id)
	}
}

func (p products) remove(c *gin.Context) {
	if id, ok := idOf(c); ok {
		p.one(c, http.StatusNoContent, "DELETE FROM products WHERE id = $1 RETURNING id, name, category, price", id)
	}
}

func idOf(c *gin.Context) (int64, bool) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 32)
	if err != nil {
		c.AbortWithStatusJSON(http.StatusNotFound, gin.H{"error": "there is no such product"})
	}
	return id, err == nil
}

func bodyOf(c *gin.Context) (product, bool) {
	var sent product
	err := c.ShouldBindJSON(&sent)
	if err != nil {
		c.AbortWithStatusJSON(http.StatusUnprocessableEntity, gin.H{"error": err.Error()})
	}
	return sent, err == nil
}

// one answers with the row that the statement returns, or with what the database said.
func (p products) one(c *gin.Context, status int, sql string, args ...any) {
	rows, _ := p.pool.Query(c.Request.Context(), sql, args...)
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[product])
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		c.JSON(http.StatusNotFound, gin.H{"error": "there is no such product"})
	case errors.As(err, &refused) && refused.Code == "23505":
		c.JSON(http.StatusConflict, gin.H{"error": "the name is taken"})
	case err != nil:
		c.String(http.StatusInternalServerError, "%v", err)
	case status == http.StatusNoContent:
		c.Status(status)
	default:
		if status == http.StatusCreated {
			c.Header("Location", fmt.Sprintf("/products/%d", row.ID))
		}
		c.JSON(status, row)
	}
}
