package httpx

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// maxMessage bounds a message of a Socket in bytes: marking a show as watched names each of its episodes in one message
// (upstreams/watchers.md section 2.2).
const maxMessage = 8 << 20

// SocketRequest says which websocket to open.
type SocketRequest struct {
	// URL is an http or https address; it is not sent with another scheme.
	URL    string
	Header http.Header
	// Ping is how often the service is asked for a sign of life; 0 = never.
	Ping time.Duration
	// Silence is how long the service may send nothing at all, while it is read, before it is taken for lost.
	Silence time.Duration
}

// Socket is a websocket. Read is for one goroutine, Write for any.
type Socket struct {
	conn     *websocket.Conn
	call     *call
	ctx      context.Context // the caller's own
	patience *patience
	start    time.Time
}

// Socket opens a websocket over HTTP/1.1, without retries and without following redirects. When the service answers but
// opens none, the Socket is nil and status says what it answered. An *Error comes back when there is no answer in
// Config.Timeout. ctx bounds the Socket, too, which must be closed. Proxy, certificates, rate and log are those of Do.
func (c *Client) Socket(ctx context.Context, req SocketRequest) (s *Socket, status int, err error) {
	x, err := c.newCall(Request{URL: req.URL, Header: req.Header})
	if err != nil {
		return nil, 0, err
	}
	if err := x.admit(ctx); err != nil {
		return nil, 0, err
	}
	start := time.Now()
	p := startPatience(ctx, req.Silence)
	alive := func() { p.timer.Reset(p.limit) }
	dial, cancel := context.WithTimeout(p.ctx, x.now.Timeout)
	defer cancel()
	header := req.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("User-Agent", x.now.UserAgent)
	if x.debug(ctx) {
		x.log(ctx, "websocket asked for", slog.Any("headers", c.masker.Header(header)))
	}
	conn, resp, err := websocket.Dial(dial, req.URL, &websocket.DialOptions{ //nolint:bodyclose // the library closes it
		HTTPClient: x.now.sockets, HTTPHeader: header,
		OnPingReceived: func(context.Context, []byte) bool { alive(); return true },
		OnPongReceived: func(context.Context, []byte) { alive() },
	})
	p.pause()
	if err != nil {
		p.end()
		if resp == nil || resp.StatusCode == http.StatusSwitchingProtocols {
			x.ended(start, 0)
			return nil, 0, x.failed(ctx, start, p.explain(ctx, err))
		}
		x.ended(start, resp.StatusCode)
		if x.debug(ctx) {
			x.answered(ctx, start, resp.StatusCode, resp.Header)
		}
		return nil, resp.StatusCode, nil
	}
	x.ended(start, http.StatusSwitchingProtocols)
	conn.SetReadLimit(maxMessage)
	s = &Socket{conn: conn, call: x, ctx: ctx, patience: p, start: start}
	if req.Ping > 0 {
		go s.ping(req.Ping)
	}
	return s, http.StatusSwitchingProtocols, nil
}

// ping asks for signs of life until the socket is closed. A pong that never comes is silence, which Read finds out.
func (s *Socket) ping(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-s.patience.ctx.Done():
			return
		case <-tick.C:
			ctx, cancel := context.WithTimeout(s.patience.ctx, every)
			_ = s.conn.Ping(ctx)
			cancel()
		}
	}
}

// Read is the next message. The error is an *Error: the connection is lost, silent, or the message too long.
func (s *Socket) Read() ([]byte, error) {
	s.patience.resume()
	_, message, err := s.conn.Read(s.patience.ctx)
	s.patience.pause()
	if err != nil {
		if errors.Is(err, websocket.ErrMessageTooBig) {
			err = answerTooLong.With(ErrTooLarge, maxMessage)
		}
		return nil, s.call.failed(s.ctx, s.start, s.patience.explain(s.ctx, err))
	}
	if s.call.debug(s.ctx) {
		s.call.log(s.ctx, "message received", slog.String("body", s.call.client.masker.Body("application/json", message, logBody)))
	}
	return message, nil
}

// Write sends a text.
func (s *Socket) Write(message []byte) error {
	ctx, cancel := context.WithTimeout(s.patience.ctx, s.call.now.Timeout)
	defer cancel()
	if s.call.debug(s.ctx) {
		s.call.log(s.ctx, "message sent", slog.String("body", s.call.client.masker.Body("application/json", message, logBody)))
	}
	if err := s.conn.Write(ctx, websocket.MessageText, message); err != nil {
		return s.call.failed(s.ctx, s.start, s.patience.explain(s.ctx, err))
	}
	return nil
}

// Close gives the connection up.
func (s *Socket) Close() {
	s.patience.end()
	_ = s.conn.CloseNow() // there is nothing left to say
}
