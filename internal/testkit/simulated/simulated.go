// Package simulated lets servers that stand in for those of others listen: for tests, for
// `watchmark demo` and for `watchmark simulate`.
package simulated

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"
)

// Listen serves handler on addr, such as 127.0.0.1:0 for a free port, until stop is called. That cuts
// every connection and returns when all requests in hand have ended. ctx bounds the opening alone. url
// has no slash at the end.
func Listen(ctx context.Context, handler http.Handler, addr string) (url string, stop func(), err error) {
	return listen(ctx, handler, addr, nil)
}

// ListenTLS is Listen by https, with a certificate of its own that nobody has signed.
func ListenTLS(ctx context.Context, handler http.Handler, addr string) (url string, stop func(), err error) {
	certificate, err := selfSigned()
	if err != nil {
		return "", nil, err
	}
	return listen(ctx, handler, addr, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}})
}

// selfSigned makes a certificate for the loopback.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a key: %w", err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "simulated"},
		NotBefore: time.Now().AddDate(-1, 0, 0), NotAfter: time.Now().AddDate(10, 0, 0),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, DNSNames: []string{"localhost"},
	}
	made, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{made}, PrivateKey: key}, nil
}

// listen is Listen, by https where safe is set.
func listen(ctx context.Context, handler http.Handler, addr string, safe *tls.Config) (url string, stop func(), err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return "", nil, fmt.Errorf("listen for a simulated server: %w", err)
	}
	var open sync.WaitGroup // the server, and its connections with the requests in hand
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		TLSConfig:         safe,
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				open.Add(1)
			case http.StateClosed, http.StateHijacked:
				open.Done()
			}
		},
	}
	scheme := "http://"
	if safe != nil {
		scheme = "https://"
		server.ErrorLog = log.New(io.Discard, "", 0) // a client that refuses the certificate is no news
	}
	open.Go(func() { // ends with Close
		if safe != nil {
			_ = server.ServeTLS(listener, "", "")
		} else {
			_ = server.Serve(listener)
		}
	})
	return scheme + listener.Addr().String(), func() {
		_ = server.Close() // there is nothing to save
		open.Wait()
	}, nil
}

// TB is the part of testing.TB that Start needs; naming it here keeps package testing
// out of the binary.
type TB interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Fatal(args ...any)
}

// Start serves handler for one test on a free port of the loopback.
func Start(tb TB, handler http.Handler) (url string) {
	tb.Helper()
	url, stop, err := Listen(tb.Context(), handler, "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(stop)
	return url
}
