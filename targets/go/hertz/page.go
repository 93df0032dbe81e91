package main

import (
	"embed"
	"fmt"
	"html/template"
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
