// Package rowread reads files of rows that anybody may have made: as UTF-8, and with a bound for each row, so that no row takes more
// memory than it may, whatever a decoder does with it.
package rowread

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

const (
	// RowMost is how large a row may be, in bytes.
	RowMost = 2 << 20
	// readMost is how much is read at once, so that what is read ahead does not count as a row.
	readMost = 64 << 10
)

// Reader reads a file, without its byte order mark.
type Reader struct {
	*bufio.Reader
	bounds *bounds
}

// New reads from, of which no more than left may be read; readers that share left share that. Where there is more the error is tooMuch, and
// where a row is too large RowLarge.
func New(from io.Reader, left *int64, tooMuch error) (*Reader, error) {
	b := &bounds{Reader: from, left: left, tooMuch: tooMuch}
	r := &Reader{bufio.NewReader(b), b}
	head, _ := r.Peek(3) // an error comes again
	if bytes.HasPrefix(head, []byte{0xfe, 0xff}) || bytes.HasPrefix(head, []byte{0xff, 0xfe}) {
		return r, Encoding
	}
	if bytes.Equal(head, []byte("\ufeff")) {
		_, _ = r.Discard(len(head))
	}
	return r, nil
}

// Row begins a row.
func (r *Reader) Row() { r.bounds.row = 0 }

// Begins is the first character that is no space, which is still to be read.
func (r *Reader) Begins() (byte, error) {
	for {
		head, err := r.Peek(1)
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\n", rune(head[0])) {
			return head[0], nil
		}
		_, _ = r.Discard(1)
	}
}

type bounds struct {
	io.Reader
	left    *int64
	tooMuch error
	row     int
}

func (b *bounds) Read(into []byte) (int, error) {
	n, err := b.Reader.Read(into[:min(len(into), readMost)])
	b.row += n
	switch *b.left -= int64(n); {
	case *b.left < 0:
		return 0, b.tooMuch
	case b.row > RowMost+readMost:
		return 0, RowLarge.With(RowMost >> 20)
	}
	return n, err
}
