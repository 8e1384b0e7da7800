package record_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"watchmark/internal/record"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/watch"
)

func TestWatchedInASpan(t *testing.T) {
	s, d := newStore(t)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	from, to := noon.Add(-24*time.Hour), noon
	alex, began := episode("of alex", 1, 1), episode("only began", 1, 1)
	alex.UserName, began.Action = "alex", watch.Started
	insertAt(t, d, episode("too early", 1, 1), record.Success, from.Add(-time.Millisecond))
	insertAt(t, d, episode("first", 1, 1), record.Success, from)
	insertAt(t, d, episode("failed", 1, 1), record.Failed, noon.Add(-time.Hour))
	insertAt(t, d, alex, record.Review, noon.Add(-2*time.Hour))
	insertAt(t, d, episode("blocked", 1, 1), record.Ignored, noon.Add(-time.Hour))
	insertAt(t, d, began, record.Success, noon.Add(-time.Hour))
	insertAt(t, d, episode("too late", 1, 1), record.Success, to)
	err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		if _, err := record.Insert(ctx, tx, episode("a test", 1, 1), true, noon.Add(-time.Hour)); err != nil {
			return err
		}
		id, err := record.Insert(ctx, tx, episode("tried out", 1, 1), false, noon.Add(-3*time.Hour))
		if err != nil {
			return err
		}
		return record.SettleTx(ctx, tx, record.Outcome{RecordID: id, Status: record.Ignored, SubjectID: 8})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		user  string
		limit int
		want  string
		total int
	}{
		{"everybody", "", 10, "failed, of alex, tried out, first", 4},
		{"one user", "alex", 10, "of alex", 1},
		{"nobody", "Alex", 10, "", 0},
		{"the newest alone", "", 2, "failed, of alex", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			records, total, err := s.Watched(t.Context(), record.Span{From: from, To: to, User: c.user, Limit: c.limit})
			if err != nil {
				t.Fatal(err)
			}
			var titles []string
			for _, r := range records {
				titles = append(titles, r.Title)
			}
			if got := strings.Join(titles, ", "); got != c.want || total != c.total {
				t.Errorf("%q of %d, want %q of %d", got, total, c.want, c.total)
			}
		})
	}
}

func TestASpanIsReadByItsTimes(t *testing.T) {
	if dbtest.OnServer() {
		t.Skip("a plan of SQLite")
	}
	_, d := newStore(t)
	where, args := record.Span{From: time.UnixMilli(1), To: time.UnixMilli(2), User: "mira"}.Where()
	var id, parent, unused int
	var plan string
	err := d.Read().QueryRowContext(t.Context(), `EXPLAIN QUERY PLAN SELECT id FROM records `+where+` ORDER BY created_at DESC, id DESC LIMIT 5`, args...).Scan(&id, &parent, &unused, &plan)
	if err != nil || !strings.Contains(plan, "records_created") {
		t.Errorf("it is read by %q (%v)", plan, err)
	}
}
