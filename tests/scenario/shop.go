// The shop of shop.py, answered at once: what a walk costs its generator shows best where the server is not the limit.
// `go run shop.go` listens on a free port of the loopback, and prints its address.
package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"html"
	"net"
	"net/http"
	"strings"
	"sync"
)

const form = `<!doctype html><title>Log in</title><form method="post">` +
	`<input type="hidden" name="csrfmiddlewaretoken" value="%s"><p><label for="id_username">Username:</label>` +
	`<input type="text" name="username" autofocus autocapitalize="none" autocomplete="username" maxlength="150" required id="id_username"></p>` +
	`<p><label for="id_password">Password:</label><input type="password" name="password" autocomplete="current-password" required id="id_password"></p>` +
	`<button>Log in</button></form>`

var sessions sync.Map // a session's number: the name of its user

func number() string {
	bytes := make([]byte, 16)
	rand.Read(bytes)
	return hex.EncodeToString(bytes)
}

func cookie(w http.ResponseWriter, name, value string) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: 1209600, HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

func login(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		token := number()
		cookie(w, "csrftoken", token)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, form, token)
		return
	}
	token, err := r.Cookie("csrftoken")
	if err != nil || token.Value != r.PostFormValue("csrfmiddlewaretoken") || r.PostFormValue("password") == "" {
		http.Error(w, "not logged in", http.StatusForbidden)
		return
	}
	session := number()
	sessions.Store(session, r.PostFormValue("username"))
	cookie(w, "sessionid", session)
	w.Header().Set("Location", "/items.json")
	w.WriteHeader(http.StatusFound)
}

// The user's name; without a session, the way to the log-in.
func user(w http.ResponseWriter, r *http.Request) (string, bool) {
	if session, err := r.Cookie("sessionid"); err == nil {
		if name, found := sessions.Load(session.Value); found {
			return name.(string), true
		}
	}
	http.Redirect(w, r, "/login/?next="+r.URL.Path, http.StatusFound)
	return "", false
}

func main() {
	var items []string
	for n := 1; n <= 20; n++ {
		items = append(items, fmt.Sprintf(`{"id": %d, "name": "Item %d"}`, n, n))
	}
	list := `{"items": [` + strings.Join(items, ", ") + `]}`
	http.HandleFunc("/login/", login)
	http.HandleFunc("/items.json", func(w http.ResponseWriter, r *http.Request) {
		if _, found := user(w, r); found {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, list)
		}
	})
	http.HandleFunc("/items/", func(w http.ResponseWriter, r *http.Request) {
		if name, found := user(w, r); found {
			n := strings.Trim(strings.TrimPrefix(r.URL.Path, "/items/"), "/")
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, "<!doctype html><title>Item %s</title><p>Hello %s</p>", html.EscapeString(n), html.EscapeString(name))
		}
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("http://" + listener.Addr().String())
	panic(http.Serve(listener, nil))
}
