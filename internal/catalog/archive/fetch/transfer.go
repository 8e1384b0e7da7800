package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"

	"watchmark/internal/platform/httpx"
)

// chunk is how much is read, hashed and written at a time, in bytes.
const chunk = 256 << 10

var (
	rangeForm = regexp.MustCompile(`^bytes (\d+)-(\d+)/(\d+|\*)$`)
	// etagForm is a strong validator of bearable length; weak ones do not vouch for bytes.
	etagForm = regexp.MustCompile(`^"[^"[:cntrl:]]{1,200}"$`)
)

// transfer asks address once for what the part lacks, or for the whole file, and puts
// down what comes. Without an error the part has its full size. A usable part is not
// touched before the answer shows that it brings the file.
func (d *download) transfer(ctx context.Context, address string, whole bool) error {
	p := d.part
	request := httpx.Request{URL: address, Header: http.Header{}}
	var from int64
	var validator string
	if p.size > 0 && !whole {
		from, validator = d.resumeAt(address)
	}
	if from > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	if validator != "" {
		request.Header.Set("If-Range", validator)
	}
	answer, err := d.cfg.HTTP.Stream(ctx, request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it was read to the end, or given up
	due, err := d.accept(answer, address, from, validator)
	if err != nil {
		return err
	}
	got, err := io.CopyBuffer(p, io.LimitReader(answer.Body, due), make([]byte, chunk))
	var disk *diskError
	switch {
	case errors.As(err, &disk):
		return err
	case err != nil:
		return cutBecause.With(errCut, p.size, d.release.Size, err)
	case got == due && oneMore(answer.Body):
		return moreCame.With(errWrong, p.size)
	case p.size < d.release.Size:
		return cutAfter.With(errCut, p.size, d.release.Size)
	}
	return nil
}

// resumeAt is from which byte address may be asked for the rest, 0 for none. Bytes of
// another source are only built on where the digest will judge the whole.
func (d *download) resumeAt(address string) (from int64, validator string) {
	if d.part.note.Source == address && d.part.note.ETag != "" {
		return d.part.size, d.part.note.ETag
	}
	if d.release.Digest != "" {
		return d.part.size, ""
	}
	return 0, ""
}

// accept looks at the head of the answer and makes the part ready for its body, of which
// it answers how many bytes are due.
func (d *download) accept(answer *httpx.Stream, address string, from int64, validator string) (due int64, err error) {
	rest := from > 0 && answer.Status == http.StatusPartialContent
	switch {
	case from > 0 && answer.Status == http.StatusRequestedRangeNotSatisfiable:
		return 0, noByte.With(errRange, from)
	case !rest && answer.Status != http.StatusOK:
		return 0, statusError(answer.Status)
	}
	if encoding := answer.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return 0, compressed
	}
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind == "text/html" {
		return 0, webPage
	}
	etag := answer.Header.Get("ETag")
	if !etagForm.MatchString(etag) {
		etag = ""
	}
	n := note{Digest: d.release.Digest, Size: d.release.Size, Source: address, ETag: etag}
	if rest {
		if due, err = restDue(answer.Header.Get("Content-Range"), from, d.release.Size); err != nil {
			return 0, err
		}
		if validator != "" && etag != "" && etag != validator {
			return 0, changed.With(errRange)
		}
		return due, d.part.annotate(n)
	}
	if length := answer.Header.Get("Content-Length"); length != "" && length != strconv.FormatInt(d.release.Size, 10) {
		return 0, otherLength.With(fmt.Sprintf("%.20s", length), d.release.Size)
	}
	d.inherited = false
	return d.release.Size, d.part.restart(n)
}

// restDue is how many bytes an answer with this Content-Range brings, from byte from on, of
// a file of size bytes. The answer may end before the file does.
func restDue(contentRange string, from, size int64) (int64, error) {
	m := rangeForm.FindStringSubmatch(contentRange)
	if m == nil {
		return 0, noPart.With(errRange)
	}
	last, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil || m[1] != strconv.FormatInt(from, 10) || last < from || last >= size ||
		m[3] != "*" && m[3] != strconv.FormatInt(size, 10) {
		return 0, otherPart.With(errRange, fmt.Sprintf("%.60s", contentRange), from, size)
	}
	return last - from + 1, nil
}

// oneMore reports whether body goes on. How it ends does not matter any more.
func oneMore(body io.Reader) bool {
	n, err := io.ReadFull(body, make([]byte, 1))
	return n == 1 && err == nil
}
