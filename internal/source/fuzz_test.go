package source_test

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"watchmark/internal/source"
	"watchmark/internal/watch"
)

func FuzzPlex(f *testing.F)     { fuzz(f, watch.Plex) }
func FuzzTautulli(f *testing.F) { fuzz(f, watch.Tautulli) }
func FuzzEmby(f *testing.F)     { fuzz(f, watch.Emby) }
func FuzzJellyfin(f *testing.F) { fuzz(f, watch.Jellyfin) }
func FuzzCustom(f *testing.F)   { fuzz(f, watch.Custom) }

// fuzz holds the laws of every delivery, and that a rejection is one the caller can answer.
func fuzz(f *testing.F, src watch.Source) {
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
		f.Add("", "", body)
	}
	f.Add("multipart/form-data; boundary=b", "source=kodi", []byte("x\r\n--b--"))
	f.Fuzz(func(t *testing.T, contentType, query string, body []byte) {
		values, _ := url.ParseQuery(query) // a bad query is part of the input
		d, err := source.Parse(src, source.Request{ContentType: contentType, Query: values, Body: body})
		if err == nil {
			check(t, src, d)
		} else if bad := (*source.BadRequest)(nil); !errors.As(err, &bad) && !errors.Is(err, source.ErrUnsupportedMedia) {
			t.Fatalf("an error nobody can answer: %v", err)
		}
	})
}
