package api

import (
	"errors"
	"fmt"
	"testing"

	"watchmark/internal/platform/reason"
)

func TestReasonsAreProblemsByTheirClass(t *testing.T) {
	gone := reason.New("test_gone", "there is no {what}", "没有{what}").For(reason.NotFound)
	full := reason.New("test_full", "is full", "已满").For(reason.NoSpace)
	for _, c := range []struct {
		name   string
		err    error
		status int
		detail string
	}{
		{"a kind", full, 507, "Is full."},
		{"a reason, wrapped", fmt.Errorf("read: %w", gone.With("box 3")), 404, "There is no box 3."},
		{"fields", errors.Join(reason.At("name", gone.With("name")), fmt.Errorf("check: %w", reason.At("a.b", full))), 422, "body.name: there is no name; body.a.b: is full"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if p := new(server).problemOf(t.Context(), "test", c.err); p.Status != c.status || p.Detail != c.detail {
				t.Errorf("it is %d %q", p.Status, p.Detail)
			}
		})
	}
}
