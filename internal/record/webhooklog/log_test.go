package webhooklog_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/watch"
)

func newLog(t *testing.T, entries ...webhooklog.Entry) *webhooklog.Log {
	t.Helper()
	d := dbtest.Open(t)
	err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for _, e := range entries {
			if err := webhooklog.InsertTx(ctx, tx, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return webhooklog.NewLog(d)
}

func entry(source watch.Source, text string, age time.Duration, ids ...int64) webhooklog.Entry {
	return webhooklog.Entry{At: time.Now().Add(-age), Source: source, Status: 200, Reason: reason.Text(text), RecordIDs: ids}
}

func TestListPagesNewestFirst(t *testing.T) {
	l := newLog(t, entry(watch.Plex, "a", 0, 1, 2), entry(watch.Emby, "b", 0), entry(watch.Plex, "c", 0))
	page, next, err := l.List(t.Context(), webhooklog.Filter{Source: watch.Plex, Limit: 1})
	if err != nil || len(page) != 1 || page[0].Reason.Text != "c" || next == 0 {
		t.Fatalf("first page %+v next %d (%v)", page, next, err)
	}
	page, next, err = l.List(t.Context(), webhooklog.Filter{Source: watch.Plex, Limit: 1, Before: next})
	if err != nil || len(page) != 1 || page[0].Reason.Text != "a" || len(page[0].RecordIDs) != 2 || next != 0 {
		t.Fatalf("second page %+v next %d (%v)", page, next, err)
	}
}

func TestOfRecordIsTheRequestThatBecameIt(t *testing.T) {
	now := time.Now()
	at := func(text string, ids ...int64) webhooklog.Entry {
		return webhooklog.Entry{At: now, Source: watch.Plex, Status: 202, Reason: reason.Text(text), RecordIDs: ids}
	}
	l := newLog(t, at("three", 2, 12, 3), at("one", 1), at("two", 21, 22), at("none"), entry(watch.Plex, "earlier", time.Hour, 30))
	for id, want := range map[int64]string{1: "one", 2: "three", 12: "three", 3: "three", 21: "two", 22: "two"} {
		if e, err := l.OfRecord(t.Context(), id, now); err != nil || e.Reason.Text != want {
			t.Errorf("record %d: %q, %v, want %q", id, e.Reason, err, want)
		}
	}
	for _, id := range []int64{30, 4} {
		if e, err := l.OfRecord(t.Context(), id, now); !errors.Is(err, webhooklog.ErrNotFound) {
			t.Errorf("record %d: %+v, %v", id, e, err)
		}
	}
}

func TestListIsFiltered(t *testing.T) {
	at := func(status int, text, title, user, body string) webhooklog.Entry {
		return webhooklog.Entry{At: time.Now(), Source: watch.Plex, Status: status, Reason: reason.Text(text), Title: title, UserName: user, Body: body}
	}
	pause := reason.New("test_pause", "a pause of {who:q}", "{who:q}暂停").With("x")
	l := newLog(t, webhooklog.Entry{At: time.Now(), Source: watch.Emby, Status: 418, Reason: pause}, at(202, "accepted", "灯塔守望者", "mira", `{"a":"100%"}`), at(200, "media.pause is no watch", "Show", "alex", ""), at(401, "the key is wrong", "", "", ""), at(503, "busy", "", "", ""))
	for _, c := range []struct {
		name   string
		filter webhooklog.Filter
		want   string
	}{
		{"accepted", webhooklog.Filter{Outcome: webhooklog.Accepted}, "accepted"},
		{"ignored", webhooklog.Filter{Outcome: webhooklog.Ignored}, "media.pause is no watch"},
		{"refused", webhooklog.Filter{Outcome: webhooklog.Refused}, "busy, the key is wrong, a pause of \"x\""},
		{"a title", webhooklog.Filter{Text: "守望"}, "accepted"},
		{"a user, in any case", webhooklog.Filter{Text: "ALEX"}, "media.pause is no watch"},
		{"a reason", webhooklog.Filter{Text: "key"}, "the key is wrong"},
		{"a body", webhooklog.Filter{Text: "100%"}, "accepted"},
		{"signs of the database are letters", webhooklog.Filter{Text: "_"}, ""},
		{"a reason that is a value", webhooklog.Filter{Text: "of \"x\""}, `a pause of "x"`},
		{"no name of a value's part", webhooklog.Filter{Text: "test_pause"}, ""},
		{"both", webhooklog.Filter{Outcome: webhooklog.Refused, Text: "mira"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			entries, _, err := l.List(t.Context(), c.filter)
			if err != nil {
				t.Fatal(err)
			}
			var reasons []string
			for _, e := range entries {
				reasons = append(reasons, e.Reason.Text)
			}
			if got := strings.Join(reasons, ", "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestLastSeenIsTheNewestOfEachSource(t *testing.T) {
	l := newLog(t, entry(watch.Plex, "old", time.Hour), entry(watch.Emby, "only", 0), entry(watch.Plex, "new", 0))
	last, err := l.LastSeen(t.Context())
	if err != nil || len(last) != 2 || last[watch.Plex].Reason.Text != "new" || last[watch.Emby].RecordIDs == nil {
		t.Errorf("last seen %+v (%v)", last, err)
	}
}

func TestPruneRemovesWhatIsOlder(t *testing.T) {
	l := newLog(t, entry(watch.Plex, "old", 48*time.Hour), entry(watch.Plex, "new", 0))
	if _, err := l.Prune(t.Context(), time.Now().Add(-24*time.Hour), 500); err != nil {
		t.Fatal(err)
	}
	left, _, err := l.List(t.Context(), webhooklog.Filter{})
	if err != nil || len(left) != 1 || left[0].Reason.Text != "new" {
		t.Errorf("left %+v (%v)", left, err)
	}
}
