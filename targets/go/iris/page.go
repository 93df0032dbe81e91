package main

import "fmt"

type item struct {
	ID    int
	Name  string
	Price int
}

type pageData struct {
	Title string
	N     int
	Items []item
}

func newPageData(n int) pageData {
	data := pageData{Title: fmt.Sprintf("Page %d", n), N: n}
	for id := 1; id <= 12; id++ {
		data.Items = append(data.Items, item{id, fmt.Sprintf("Item %d <of> page %d & more", id, n), id * n})
	}
	return data
}
