package main

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
)

//go:embed templates/*.html
var templateFiles embed.FS

var pageTemplate = template.Must(template.ParseFS(templateFiles, "templates/layout.html", "templates/page.html"))

type item struct {
	ID    int
	Name  string
	Price int
}

type pageData struct {
	N     int
	Items []item
}

func newPageData(n int) pageData {
	data := pageData{N: n}
	for id := 1; id <= 12; id++ {
		data.Items = append(data.Items, item{id, fmt.Sprintf("Item %d <of> page %d & more", id, n), id * n})
	}
	return data
}

func page(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	// Into a buffer first, so that a template error can still become a 500.
	var out bytes.Buffer
	if err := pageTemplate.ExecuteTemplate(&out, "layout.html", newPageData(n)); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	out.WriteTo(w)
}
