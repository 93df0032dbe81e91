package main

import (
	"log"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"
)

// outboxLength is how many messages may wait for a member; one that falls behind further is let go.
const outboxLength = 256

// room sends the messages of each member to all of them.
type room struct {
	mutex   sync.Mutex
	members map[*member]struct{}
}

type member struct {
	outbox chan *websocket.PreparedMessage
}

func newRoom() *room {
	return &room{members: make(map[*member]struct{})}
}

// serve takes a WebSocket in. Whoever joins before the handshake misses nothing after it.
func (r *room) serve(w http.ResponseWriter, request *http.Request) {
	one := r.join()
	defer r.leave(one)
	socket, err := upgrader.Upgrade(w, request, nil)
	if err != nil {
		return // Upgrade has answered.
	}
	defer socket.Close()
	go one.write(socket)
	for {
		kind, message, err := socket.ReadMessage()
		if err != nil {
			logUnlessClosed(err)
			return
		}
		prepared, err := websocket.NewPreparedMessage(kind, message)
		if err != nil {
			log.Print(err)
			return
		}
		r.say(prepared)
	}
}

func (r *room) join() *member {
	one := &member{outbox: make(chan *websocket.PreparedMessage, outboxLength)}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.members[one] = struct{}{}
	return one
}

func (r *room) leave(one *member) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.remove(one)
}

// remove ends the writer of a member that is still here.
func (r *room) remove(one *member) {
	if _, isHere := r.members[one]; isHere {
		delete(r.members, one)
		close(one.outbox)
	}
}

func (r *room) say(message *websocket.PreparedMessage) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for one := range r.members {
		select {
		case one.outbox <- message:
		default:
			r.remove(one)
		}
	}
}

// write sends what is said until the member is let go, and closes its connection then.
func (m *member) write(socket *websocket.Conn) {
	defer socket.Close()
	for message := range m.outbox {
		if err := socket.WritePreparedMessage(message); err != nil {
			return
		}
	}
}
