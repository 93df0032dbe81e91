package main

import (
	"net/http"
	"os"

	"github.com/quic-go/quic-go/http3"
)

// quicServer serves HTTP/3, which net/http does not have.
type quicServer struct{ *http3.Server }

func newQUICServer(address string, handler http.Handler) quicServer {
	return quicServer{&http3.Server{Addr: address, Handler: handler}}
}

func (s quicServer) listen() error {
	return s.ListenAndServeTLS(os.Getenv("TLS_CERTIFICATE"), os.Getenv("TLS_KEY"))
}
