package web

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/cover"
)

// emptyImage is a GIF of one transparent pixel. It is answered where there is no cover, so that the placeholder below
// the image is seen. The script recognises it by its size.
var emptyImage, _ = base64.StdEncoding.DecodeString("R0lGODlhAQABAIAAAAAAAAAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==")

// How long a browser keeps a cover, and the answer that there is none.
const (
	coverKept = 7 * 24 * time.Hour
	missKept  = time.Hour
)

// cover answers the cover of a subject. It answers an empty image when there is none or it cannot be fetched.
func (s *site) cover(w http.ResponseWriter, r *http.Request) {
	if _, signedIn := s.Viewer(r); !signedIn {
		http.Error(w, "Sign in first.", http.StatusUnauthorized)
		return
	}
	id, err := strconv.ParseUint(r.PathValue("subject"), 10, 31)
	if err != nil || id == 0 {
		http.NotFound(w, r)
		return
	}
	image, err := s.Cover(r.Context(), catalog.SubjectID(id))
	keep := "private, max-age=" + strconv.Itoa(int(coverKept.Seconds()))
	switch {
	case err == nil:
	case errors.Is(err, cover.ErrNone):
		image, keep = cover.Image{Type: "image/gif", Data: emptyImage}, "private, max-age="+strconv.Itoa(int(missKept.Seconds()))
	default:
		if !errors.Is(err, cover.ErrLater) {
			s.Log.WarnContext(r.Context(), "a cover cannot be read", "subject", id, "error", err)
		}
		image, keep = cover.Image{Type: "image/gif", Data: emptyImage}, "no-store"
	}
	h := w.Header()
	h.Set("Content-Type", image.Type)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", keep)
	http.ServeContent(w, r, "", image.At, bytes.NewReader(image.Data))
}
