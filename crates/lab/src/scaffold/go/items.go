package main

import (
	"encoding/json"
	"os"
)

// item is one of the data file.
type item struct {
	ID       int      `json:"id"`
	Name     string   `json:"name"`
	Category string   `json:"category"`
	Price    int64    `json:"price"`
	Quantity int64    `json:"quantity"`
	Active   bool     `json:"active"`
	Tags     []string `json:"tags"`
	Rating   struct {
		Score float64 `json:"score"`
		Count int     `json:"count"`
	} `json:"rating"`
}

type itemWithTotal struct {
	item
	Total int64 `json:"total"`
}

type itemList struct {
	Count int             `json:"count"`
	Items []itemWithTotal `json:"items"`
}

// readItems reads the data file.
func readItems(path string) ([]item, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var items []item
	return items, json.Unmarshal(text, &items)
}

// withTotals lists the first n items, each with its price times quantity times m.
func withTotals(items []item, n int, m int64) itemList {
	items = items[:min(max(n, 0), len(items))]
	list := itemList{len(items), make([]itemWithTotal, len(items))}
	for i, one := range items {
		list.Items[i] = itemWithTotal{one, one.Price * one.Quantity * m}
	}
	return list
}
