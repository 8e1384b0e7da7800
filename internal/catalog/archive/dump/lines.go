package dump

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

const (
	// chunkSize is how much text a worker is given at a time.
	chunkSize = 512 << 10
	// maxLine bounds one line; real ones have tens of kilobytes.
	maxLine = 8 << 20
	// From longLine on, a line may have maxParts commas and brackets: each part of a row
	// takes much more memory than its text.
	longLine = 64 << 10
	maxParts = 20_000
)

// chunk is a piece of a member that ends with a line.
type chunk struct {
	text  []byte
	first int // the number of its first line
	buf   []byte
}

// eachChunk unpacks a member once and gives its lines to several workers, in pieces.
// work is called by worker number 0 to workers-1, each in one goroutine; the text is
// gone when it returns.
func (d *Dump) eachChunk(ctx context.Context, member string, workers int, p *Progress, work func(worker int, c chunk) error) error {
	f := d.members[member]
	packed, err := f.Open()
	if err != nil {
		return &Error{Member: member, What: notUnpacked.With(), Err: err}
	}
	defer func() { _ = packed.Close() }() // opened for reading: nothing can be lost
	g, ctx := errgroup.WithContext(ctx)
	full := make(chan chunk)
	free := make(chan []byte, workers+2)
	for range workers + 2 {
		free <- nil
	}
	g.Go(func() error {
		defer close(full)
		s := &splitter{member: member, r: packed, progress: p}
		return s.run(ctx, full, free)
	})
	for worker := range workers {
		g.Go(func() error {
			for c := range full {
				if err := work(worker, c); err != nil {
					return err
				}
				free <- c.buf
			}
			return nil
		})
	}
	return g.Wait()
}

// splitter cuts a member into chunks.
type splitter struct {
	member   string
	r        io.Reader
	progress *Progress
	lines    int
}

func (s *splitter) run(ctx context.Context, full chan<- chunk, free <-chan []byte) error {
	var rest []byte // the beginning of a line, in a buffer of its own
	for ended := false; !ended; {
		var buf []byte
		select {
		case buf = <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
		if need := len(rest) + chunkSize; cap(buf) < need {
			buf = make([]byte, need)
		}
		buf = buf[:cap(buf)]
		n := copy(buf, rest)
		got, err := fill(s.r, buf[n:])
		s.progress.bytes.Add(int64(got))
		switch {
		case errors.Is(err, io.EOF): // length and checksum were right
			ended = true
		case errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrChecksum):
			return &Error{Member: s.member, What: otherContent.With()}
		case err != nil:
			return &Error{Member: s.member, Line: s.lines + 1, What: breaksOff.With(), Err: err}
		}
		text := buf[:n+got]
		end := bytes.LastIndexByte(text, '\n') + 1
		if ended {
			end = len(text)
		}
		if len(text)-end > maxLine {
			return &Error{Member: s.member, Line: s.lines + bytes.Count(text[:end], newline) + 1, What: tooLongLine.With(maxLine >> 20)}
		}
		rest = append(rest[:0], text[end:]...)
		c := chunk{text: text[:end], first: s.lines + 1, buf: buf}
		s.lines += bytes.Count(c.text, newline)
		select {
		case full <- c:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// fill reads until buf is full; only then the error is nil.
func fill(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var got int
		got, err = r.Read(buf[n:])
		n += got
	}
	return n, err
}

var newline = []byte{'\n'}

// eachLine calls use with every line of a chunk that is not empty.
func (c chunk) eachLine(use func(number int, line []byte) error) error {
	number := c.first
	for text := c.text; len(text) > 0; number++ {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		if line = bytes.TrimSuffix(line, []byte{'\r'}); len(line) == 0 {
			continue
		}
		if len(line) > maxLine {
			return &Error{Line: number, What: tooLongLine.With(maxLine >> 20)}
		}
		if err := use(number, line); err != nil {
			return err
		}
	}
	return nil
}

// Progress counts the bytes unpacked so far; it may be read and told by several goroutines.
type Progress struct{ bytes atomic.Int64 }

// Bytes is how many there were.
func (p *Progress) Bytes() int64 { return p.bytes.Load() }
