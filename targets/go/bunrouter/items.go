package main

import (
	"encoding/json"
	"os"
)

// entry is an item of the data file.
type entry struct {
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

type entryWithTotal struct {
	entry
	Total int64 `json:"total"`
}

type entryList struct {
	Count int              `json:"count"`
	Items []entryWithTotal `json:"items"`
}

// readItems reads the data file.
func readItems(path string) ([]entry, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var items []entry
	return items, json.Unmarshal(text, &items)
}

// withTotals are the first n items, each with its price times quantity times m.
func withTotals(items []entry, n int, m int64) entryList {
	items = items[:min(max(n, 0), len(items))]
	list := entryList{len(items), make([]entryWithTotal, len(items))}
	for i, it := range items {
		list.Items[i] = entryWithTotal{it, it.Price * it.Quantity * m}
	}
	return list
}
