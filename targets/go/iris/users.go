package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type user struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

// openPool makes a pool of at most size connections, or of pgx's default where size is empty.
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

func queryUsers(ctx context.Context, pool *pgxpool.Pool) ([]user, error) {
	rows, err := pool.Query(ctx, "SELECT id, name, email FROM users ORDER BY id")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[user])
}
