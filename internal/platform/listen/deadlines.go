package listen

import (
	"io"
	"net/http"
	"time"
)

const (
	// bodyTime is how long a body may take to arrive, and one second more for every bodyPace bytes that are
	// there: a large upload may take hours, and a byte now and then keeps no connection.
	bodyTime = 15 * time.Second
	bodyPace = 32 << 10
	// bodyPause is how long a body may stand still, however much of it is there.
	bodyPause = time.Minute
	// drainTime is for the rest of a body that nobody wants any more: a caller that still sends would
	// otherwise lose the answer.
	drainTime = time.Second
	// sendTime is for each piece of an answer, sendPiece bytes at most.
	sendTime  = 30 * time.Second
	sendPiece = 64 << 10
)

// Handler bounds how long bodies may take to arrive and answers to leave. What reads a body gets
// os.ErrDeadlineExceeded once it takes too long. A request that is whole may be worked on for any time, and an answer that is
// read as it comes may be of any length. An answer before the body was read ends the connection.
func Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, end := begin(r)
		defer end()
		a := &answer{ResponseWriter: w, control: http.NewResponseController(w)}
		if r.ContentLength != 0 {
			a.body = &body{ReadCloser: r.Body, control: a.control}
			a.http1 = r.ProtoMajor == 1
			whole := *r
			whole.Body = a.body
			r = &whole
		}
		defer a.start() // where nothing was written
		next.ServeHTTP(a, r)
	})
}

// body is the body of a request. Deadlines are best effort, here and below: a server that knows
// none is bounded by itself, as in tests.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	begun   time.Time // zero before the first read
	got     int64
	err     error // of the last read
}

// Read reads on, within the time that is left.
func (b *body) Read(p []byte) (int, error) {
	now := time.Now()
	if b.begun.IsZero() {
		b.begun = now
	}
	until := b.begun.Add(bodyTime + time.Duration(b.got)*time.Second/bodyPace)
	if pause := now.Add(bodyPause); until.After(pause) {
		until = pause
	}
	_ = b.control.SetReadDeadline(until)
	n, err := b.ReadCloser.Read(p)
	b.got += int64(n)
	b.err = err
	if err == io.EOF {
		// The server now waits for the caller to leave, and must not take the deadline for that.
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// answer is the answer to a request.
type answer struct {
	http.ResponseWriter
	control *http.ResponseController
	body    *body // nil where the request has none
	http1   bool
	started bool
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// start is called before the first byte. The server would wait for the rest of the body before it sends the answer, and then
// again before it ends the connection.
func (a *answer) start() {
	if a.started {
		return
	}
	a.started = true
	_ = a.control.SetWriteDeadline(time.Now().Add(sendTime))
	if a.body == nil || a.body.err == io.EOF { //nolint:errorlint // as above
		return
	}
	if a.http1 { // a connection of HTTP/2 has other requests
		a.Header().Set("Connection", "close")
	}
	if a.body.err == nil {
		_ = a.control.SetReadDeadline(time.Now().Add(drainTime))
	}
}

// WriteHeader begins the answer.
func (a *answer) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		a.start()
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write sends p in pieces, each within a time of its own.
func (a *answer) Write(p []byte) (written int, err error) {
	a.start()
	for {
		piece := p[written:min(len(p), written+sendPiece)]
		_ = a.control.SetWriteDeadline(time.Now().Add(sendTime))
		n, err := a.ResponseWriter.Write(piece)
		written += n
		if err != nil || written == len(p) {
			return written, err
		}
	}
}
