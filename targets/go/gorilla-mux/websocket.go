package main

import (
	"errors"
	"log"
	"net/http"

	"github.com/gorilla/websocket"
)

var upgrader = websocket.Upgrader{}

// echo sends every message back as it came. The library answers pings and closes by itself.
func echo(w http.ResponseWriter, r *http.Request) {
	socket, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered.
	}
	defer socket.Close()
	for {
		kind, message, err := socket.ReadMessage()
		if err != nil {
			logUnlessClosed(err)
			return
		}
		if err := socket.WriteMessage(kind, message); err != nil {
			log.Print(err)
			return
		}
	}
}

func logUnlessClosed(err error) {
	var closed *websocket.CloseError
	if !errors.As(err, &closed) {
		log.Print(err)
	}
}
