package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type user struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

func openPool(ctx context.Context, url, size string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	if size != "" {
		connections, err := strconv.ParseInt(size, 10, 32)
		if err != nil || connections < 1 {
			return nil, fmt.Errorf("DATABASE_POOL: %q is no positive number", size)
		}
		config.MaxConns = int32(connections)
	}
	return pgxpool.NewWithConfig(ctx, config)
}

type usersHandler struct{ pool *pgxpool.Pool }

func (u usersHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rows, err := u.pool.Query(r.Context(), "SELECT id, name, email FROM users ORDER BY id")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	users, err := pgx.CollectRows(rows, pgx.RowToStructByPos[user])
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(users)
}
