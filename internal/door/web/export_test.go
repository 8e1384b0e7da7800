package web

import (
	"context"
	"maps"
	"slices"
	"strings"

	"watchmark/internal/record"
)

// Served are the paths of all pages and of those that lead to them.
func Served(g Groups) (paths []string) {
	for _, p := range pages(g.doors()) {
		_, path, _ := strings.Cut(p.pattern(), " ")
		paths = append(paths, path)
	}
	for old := range moved {
		paths = append(paths, old, old+"/")
	}
	return paths
}

// Heard is what a reader is told after changes; records is nil for whom everything is.
func Heard(ctx context.Context, records *record.Store, changed ...int64) (told []int64, anything bool) {
	h := heard{changed: map[int64]bool{}}
	if records != nil {
		h.own = records
	}
	for _, id := range changed {
		h.hear(ctx, id)
	}
	h.keepOwn(ctx)
	return slices.Sorted(maps.Keys(h.changed)), h.anything
}
