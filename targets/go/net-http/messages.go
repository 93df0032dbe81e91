package main

import (
	"bytes"
	"cmp"
	"context"
	"html/template"
	"net/http"
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

type messagesHandler struct{ pool *pgxpool.Pool }

func (m messagesHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	messages, err := queryMessages(r.Context(), m.pool, r.URL.Query().Get("add"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	var out bytes.Buffer
	if err := messagesTemplate.ExecuteTemplate(&out, "layout.html", messages); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	out.WriteTo(w)
}
