package fetch

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"watchmark/internal/platform/httpx"
)

// To writes the file at address to w, once and without resuming: it is for a file that a
// person names, of which nothing is known beforehand. It answers its size in bytes.
// progress is called with bytes; total is 0 when the server does not tell.
func To(ctx context.Context, cfg Config, address string, w io.Writer, progress func(done, total int64)) (int64, error) {
	answer, err := cfg.HTTP.Stream(ctx, httpx.Request{URL: address})
	if err != nil {
		return 0, downloadDump.With(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was read to the end, or given up
	if answer.Status != http.StatusOK {
		return 0, downloadDump.With(statusError(answer.Status))
	}
	total, err := strconv.ParseInt(answer.Header.Get("Content-Length"), 10, 64)
	if err != nil || total < 0 {
		total = 0
	}
	if total > cfg.MaxSize {
		return 0, downloadDump.With(tooMany.With(errWrong, total))
	}
	var done int64
	for buf := make([]byte, chunk); ; {
		n, err := answer.Body.Read(buf)
		if _, failed := w.Write(buf[:n]); failed != nil {
			return done, storeDump.With(failed)
		}
		done += int64(n)
		progress(done, total)
		switch {
		case done > cfg.MaxSize:
			return done, downloadDump.With(moreCame.With(errWrong, cfg.MaxSize))
		case err == io.EOF && total > 0 && done != total:
			return done, downloadDump.With(cutAfter.With(errCut, done, total))
		case err == io.EOF:
			return done, nil
		case err != nil:
			return done, downloadDump.With(cutOpen.With(errCut, done, err))
		}
	}
}
