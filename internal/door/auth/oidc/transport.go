package oidc

import (
	"bytes"
	"io"
	"net/http"

	"watchmark/internal/platform/httpx"
)

// longestRequest is more than any request of the libraries.
const longestRequest = 64 << 10

// transport sends what the libraries ask for on the one way out.
type transport struct{ client *httpx.Client }

// stay takes a redirect for the answer: code, verifier and client secret are for the address that discovery named, and
// net/http would take them along to another port of the same host.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// RoundTrip is the answer, read whole. Redirects were followed already of reads that carry no token.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		defer func() { _ = req.Body.Close() }() // it is in memory
		var err error
		if body, err = io.ReadAll(io.LimitReader(req.Body, longestRequest)); err != nil {
			return nil, err
		}
	}
	answer, err := t.client.Do(req.Context(), httpx.Request{Method: req.Method, URL: req.URL.String(), Header: req.Header.Clone(), Body: body, StayOnAddress: req.Header.Get("Authorization") != ""})
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: http.StatusText(answer.Status), StatusCode: answer.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: answer.Header, Body: io.NopCloser(bytes.NewReader(answer.Body)), ContentLength: int64(len(answer.Body)), Request: req,
	}, nil
}
