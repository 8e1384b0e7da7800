package source_test

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"watchmark/internal/source"
)

// FuzzParse gives any request to any source and holds the laws of every delivery, and that a rejection is one the caller
// can answer.
func FuzzParse(f *testing.F) {
	for n, src := range source.Push {
		files, err := filepath.Glob(filepath.Join("testdata", string(src), "*"))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			if filepath.Ext(file) == ".golden" {
				continue
			}
			body, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(n, "", "", body)
		}
		f.Add(n, "multipart/form-data; boundary=b", "source=kodi", []byte("x\r\n--b--"))
	}
	f.Fuzz(func(t *testing.T, n int, contentType, query string, body []byte) {
		if n < 0 || n >= len(source.Push) {
			t.Skip("there is no such source")
		}
		src := source.Push[n]
		values, _ := url.ParseQuery(query) // a bad query is part of the input
		d, err := source.Parse(src, source.Request{ContentType: contentType, Query: values, Body: body})
		if err == nil {
			check(t, src, d)
		} else if bad := (*source.BadRequest)(nil); !errors.As(err, &bad) && !errors.Is(err, source.ErrUnsupportedMedia) {
			t.Fatalf("an error nobody can answer: %v", err)
		}
	})
}
