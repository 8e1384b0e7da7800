package api

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"

	"watchmark/internal/catalog/archive"
	"watchmark/internal/door/problem"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
)

// uploads are those of one path that are under way, one at a time of each caller: nobody waits for somebody else, or hears of them.
type uploads struct{ of sync.Map }

// begin notes that the caller sends a file, until done; first is false while the caller sends one already.
func (u *uploads) begin(r *http.Request) (done func(), first bool) {
	whose := scope.From(r.Context())
	_, running := u.of.LoadOrStore(whose, true)
	return func() { u.of.Delete(whose) }, !running
}

// zipTypes are what browsers and scripts call a zip.
var zipTypes = []string{"application/zip", "application/octet-stream", "application/x-zip-compressed"}

// fileIn is the file in a request: the body, where it is of one of some types, or the first file of a form. It ends beyond most bytes. The
// name of the file is never looked at. other is told for a body of another type.
func fileIn(w http.ResponseWriter, r *http.Request, most int64, types []string, other *reason.Kind) (io.Reader, error) {
	r.Body = http.MaxBytesReader(w, r.Body, most)
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == "multipart/form-data":
		form, err := r.MultipartReader()
		for err == nil {
			part, next := form.NextPart()
			if err = next; err == nil && part.FileName() != "" {
				return part, nil
			}
		}
		return nil, noFile
	case err == nil && slices.Contains(types, kind):
		return r.Body, nil
	}
	return nil, problem.With(http.StatusUnsupportedMediaType, other.With())
}

// receive writes a body to a file; tooLarge is told where it has more than it may. listen.Handler ends it when nothing comes for a while.
func receive(file *os.File, body io.Reader, tooLarge reason.Reason) error {
	buf := make([]byte, 1<<20)
	for {
		n, err := body.Read(buf)
		switch _, failed := file.Write(buf[:n]); {
		case errors.Is(failed, syscall.ENOSPC):
			return fmt.Errorf("store the upload: %w", archive.ErrNoSpace)
		case failed != nil:
			return fmt.Errorf("store the upload: %w", failed)
		}
		var large *http.MaxBytesError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &large):
			return problem.With(http.StatusRequestEntityTooLarge, tooLarge)
		case err != nil:
			return uploadEnds
		}
	}
}
