package main

import (
	"cmp"
	"context"
	"html/template"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var messagesTemplate = template.Must(template.ParseFS(templateFiles, "templates/layout.html", "templates/messages.html"))

type message struct {
	ID   int
	Text string
}

// queryMessages are the rows of the table and an added one, in the order of their texts: Go compares bytes.
func queryMessages(ctx context.Context, pool *pgxpool.Pool, added string) ([]message, error) {
	rows, err := pool.Query(ctx, "SELECT id, text FROM messages")
	if err != nil {
		return nil, err
	}
	messages, err := pgx.CollectRows(rows, pgx.RowToStructByPos[message])
	if err != nil {
		return nil, err
	}
	messages = append(messages, message{0, added})
	slices.SortFunc(messages, func(a, b message) int { return cmp.Compare(a.Text, b.Text) })
	return messages, nil
}
