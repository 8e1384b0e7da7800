package catalog_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

func TestUnmark(t *testing.T) {
	type ids = []catalog.EpisodeID
	type state = map[catalog.EpisodeID]catalog.EpisodeState
	for _, c := range []struct {
		name     string
		subject  catalog.SubjectID // 0 = 100
		entry    catalog.CollectionType
		marks    state
		episodes ids
		reopen   bool
		leave    bool
		want     []string
		cleared  ids
		then     catalog.CollectionType
		left     int
	}{
		{name: "one of two", entry: catalog.Doing, marks: state{1001: 2, 1002: 2}, episodes: ids{1002}, want: []string{"PUT 1002 0"}, cleared: ids{1002}, then: catalog.Doing, left: 1},
		{name: "several", entry: catalog.Doing, marks: state{1001: 2, 1002: 2, 1003: 2}, episodes: ids{1002, 1001, 1002}, want: []string{"PATCH 1002,1001 0"}, cleared: ids{1002, 1001}, then: catalog.Doing, left: 1},
		{name: "taken back by the person", entry: catalog.Doing, marks: state{1001: 2}, episodes: ids{1002}, want: []string{}, then: catalog.Doing, left: 1},
		{name: "another mark by now", entry: catalog.Doing, marks: state{1001: 3}, episodes: ids{1001}, want: []string{}, then: catalog.Doing, left: 1},
		{name: "gone from the catalog", entry: catalog.Doing, episodes: ids{999}, want: []string{}, then: catalog.Doing},
		{name: "not on the list", episodes: ids{1001}, want: []string{}},
		{name: "our done", entry: catalog.Done, marks: state{1001: 2, 1002: 2, 1003: 2}, episodes: ids{1003}, reopen: true, want: []string{"PUT 1003 0", "PATCH 100 3"}, cleared: ids{1003}, then: catalog.Doing, left: 2},
		{name: "done of the person", entry: catalog.Done, marks: state{1001: 2, 1002: 2, 1003: 2}, episodes: ids{1003}, want: []string{"PUT 1003 0"}, cleared: ids{1003}, then: catalog.Done, left: 2},
		{name: "a special leaves our done", entry: catalog.Done, marks: state{1001: 2, 1002: 2, 1003: 2, 1004: 2}, episodes: ids{1004}, reopen: true, want: []string{"PUT 1004 0"}, cleared: ids{1004}, then: catalog.Done, left: 3},
		{name: "the rest of a half done one", entry: catalog.Done, marks: state{1001: 2, 1002: 2}, episodes: ids{1003}, reopen: true, want: []string{"PATCH 100 3"}, then: catalog.Doing, left: 2},
		{name: "dropped stays", entry: catalog.Dropped, marks: state{1001: 2}, episodes: ids{1001}, reopen: true, want: []string{"PUT 1001 0"}, cleared: ids{1001}, then: catalog.Dropped},
		{name: "no episode rows", subject: 104, entry: catalog.Done, reopen: true, want: []string{"PATCH 104 3"}, then: catalog.Doing},
		{name: "our entry", entry: catalog.Doing, marks: state{1001: 2}, leave: true, want: []string{"PATCH 100 5"}, then: catalog.Dropped, left: 1},
		{name: "our entry, done by us", subject: 102, entry: catalog.Done, marks: state{1021: 2}, leave: true, reopen: true, want: []string{"PATCH 102 5"}, then: catalog.Dropped, left: 1},
		{name: "our entry, done by the person", subject: 102, entry: catalog.Done, marks: state{1021: 2}, leave: true, want: []string{}, then: catalog.Done, left: 1},
		{name: "our entry, on hold by the person", entry: catalog.OnHold, leave: true, want: []string{}, then: catalog.OnHold},
		{name: "our entry, with a mark", entry: catalog.Doing, marks: state{1001: 2, 1002: 2}, episodes: ids{1002}, leave: true, want: []string{"PUT 1002 0", "PATCH 100 5"}, cleared: ids{1002}, then: catalog.Dropped, left: 1},
		{name: "no episode rows, done of the person", subject: 104, entry: catalog.Done, want: []string{}, then: catalog.Done},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, client := house(t, catalogtest.Config{})
			if c.subject == 0 {
				c.subject = 100
			}
			if c.entry != 0 {
				must(t, s.Collect("mira", c.subject, c.entry, false))
			}
			for id, mark := range c.marks {
				must(t, s.SetMark("mira", id, mark))
			}
			req := catalog.UnmarkRequest{ListEntry: entryOf(client, c.subject), TakeBack: catalog.TakeBack{Episodes: c.episodes, Reopen: c.reopen, Leave: c.leave}}
			marker := catalog.NewMarker()
			got, err := marker.Unmark(t.Context(), req)
			must(t, err)
			if diff := cmp.Diff(c.want, wrote(s)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.cleared, got.Cleared); diff != "" || got.Was != c.entry || got.Reopened != (c.then == catalog.Doing && c.entry == catalog.Done) || got.Left != (c.then == catalog.Dropped && c.entry != c.then) {
				t.Errorf("%+v %s", got, diff)
			}
			now := s.Collections()
			if c.then == 0 && len(now) != 0 || c.then != 0 && (len(now) != 1 || now[0].Type != c.then) || len(s.Marks()) != c.left {
				t.Errorf("entries %+v, marks %+v", now, s.Marks())
			}
			if got.Left && (!now[0].Private || s.Timeline() != 0) {
				t.Errorf("what was left is %+v, with %d entries of the timeline", now[0], s.Timeline())
			}
			if again, err := marker.Unmark(t.Context(), req); err != nil || len(wrote(s)) != len(c.want) || len(again.Cleared) != 0 || again.Reopened {
				t.Errorf("the repetition wrote %v: %+v (%v)", wrote(s)[len(c.want):], again, err)
			}
		})
	}
}

func TestUnmarkUndoesAMark(t *testing.T) {
	s, client := house(t, catalogtest.Config{})
	marker := catalog.NewMarker()
	_, err := marker.Mark(t.Context(), catalog.MarkRequest{ListEntry: entryOf(client, 102), Episodes: []catalog.EpisodeID{1021}, Complete: completing(1)})
	must(t, err)
	got, err := marker.Unmark(t.Context(), catalog.UnmarkRequest{ListEntry: entryOf(client, 102), TakeBack: catalog.TakeBack{Episodes: []catalog.EpisodeID{1021}, Reopen: true}})
	must(t, err)
	if now := s.Collections(); !got.Reopened || len(now) != 1 || now[0].Type != catalog.Doing || len(s.Marks()) != 0 {
		t.Errorf("%+v, entries %+v, marks %+v", got, now, s.Marks())
	}
}

func TestUnmarkThatFails(t *testing.T) {
	inBubble(t, func(t *testing.T, at *site) {
		s, client := furnished(catalogtest.Config{}), at.Client
		at.does(s.ServeHTTP)
		must(t, s.Collect("mira", 100, catalog.Doing, false))
		must(t, s.SetMark("mira", 1001, catalog.EpisodeWatched))
		req := catalog.UnmarkRequest{ListEntry: entryOf(client, 100), TakeBack: catalog.TakeBack{Episodes: []catalog.EpisodeID{1001}}}
		marker := catalog.NewMarker()
		stranger := req
		stranger.Session = client.As("nobody's")
		if _, err := marker.Unmark(t.Context(), stranger); !errors.Is(err, catalog.ErrUnauthorized) {
			t.Errorf("with a dead token: %v", err)
		}
		must(t, s.SetFault(catalogtest.Fault{Mode: catalogtest.Status, Status: http.StatusInternalServerError, Paths: catalogtest.Writes}))
		if _, err := marker.Unmark(t.Context(), req); !errors.Is(err, catalog.ErrUnreachable) || len(s.Marks()) != 1 {
			t.Errorf("while it fails: %v, marks %v", err, s.Marks())
		}
		must(t, s.SetFault(catalogtest.Fault{Mode: catalogtest.Cut, Paths: catalogtest.Writes}))
		if got, err := marker.Unmark(catalog.Probing(t.Context()), req); err != nil || len(got.Cleared) != 1 || len(s.Marks()) != 0 {
			t.Errorf("with the answer lost: %+v %v, marks %v", got, err, s.Marks())
		}
	})
}
