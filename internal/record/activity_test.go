package record_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

func insertAt(t testing.TB, d *db.DB, e watch.Event, status record.Status, times ...time.Time) {
	t.Helper()
	err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for _, at := range times {
			id, err := record.Insert(ctx, tx, e, false, at)
			if err != nil {
				return err
			}
			if err := record.SettleTx(ctx, tx, record.Outcome{RecordID: id, Status: status}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestActivityCountsByTheDaysOfTheZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	s, d := newStore(t)
	e := episode("a", 1, 1)
	at := func(month time.Month, day, hour, minute int) time.Time {
		return time.Date(2026, month, day, hour, minute, 0, 0, berlin)
	}
	// Clocks went back on 25 October 2026: that day had 25 hours.
	insertAt(t, d, e, record.Success, at(10, 24, 23, 59), at(10, 25, 0, 0), at(10, 25, 23, 59), at(10, 26, 0, 0), at(10, 20, 12, 0), at(10, 19, 23, 59))
	insertAt(t, d, e, record.Failed, at(10, 25, 12, 0), at(10, 27, 1, 0), at(10, 20, 12, 0))
	insertAt(t, d, e, record.Review, at(10, 27, 1, 0))
	insertAt(t, d, e, record.Ignored, at(10, 27, 1, 0))
	got, err := s.Activity(t.Context(), at(10, 20, 9, 0), at(10, 27, 13, 0).UTC().In(berlin), 3)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"20: 1 0 0", "21: 0 0 0", "22: 0 0 0", "23: 0 0 0", "24: 1 0 0", "25: 2 1 0", "26: 1 0 0", "27: 0 1 1"}
	for i, day := range got.Days {
		told := fmt.Sprintf("%d: %d %d %d", day.Start.Day(), day.Marked, day.Failed, day.Review)
		if i >= len(want) || told != want[i] || day.Start.Hour() != 0 {
			t.Errorf("day %d is %s, want %v", i, told, want)
		}
	}
	if len(got.Days) != len(want) || got.Today[record.Failed] != 1 || got.Today[record.Ignored] != 1 || got.Today[record.Success] != 0 {
		t.Errorf("%d days, today %v", len(got.Days), got.Today)
	}
}

// Where clocks go forward at midnight, a day begins at one.
func TestActivityKnowsDaysWithoutMidnight(t *testing.T) {
	for zone, change := range map[string]string{
		"America/Havana": "2026-03-08", "America/Santiago": "2026-09-06", "Atlantic/Azores": "2026-03-29", "Africa/Cairo": "2026-04-24", "Asia/Beirut": "2026-03-29",
	} {
		t.Run(zone, func(t *testing.T) {
			location, err := time.LoadLocation(zone)
			if err != nil {
				t.Fatal(err)
			}
			noon, err := time.ParseInLocation("2006-01-02 15", change+" 12", location)
			if err != nil {
				t.Fatal(err)
			}
			begin := noon.Add(-11 * time.Hour) // one o'clock
			s, d := newStore(t)
			insertAt(t, d, episode("a", 1, 1), record.Success, begin.Add(-time.Millisecond), begin, begin.Add(time.Millisecond), begin.Add(23*time.Hour))
			for _, when := range []string{"counted at once", "counted before"} {
				a, err := s.Activity(t.Context(), noon.AddDate(0, 0, -2), noon.AddDate(0, 0, 2), 1)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, day := range a.Days {
					got = append(got, fmt.Sprintf("%s: %d", day.Start.Format("02 15"), day.Marked))
				}
				var want []string
				for i, marked := range []int{0, 1, 2, 1, 0} {
					clock := "00"
					if i == 2 {
						clock = "01"
					}
					want = append(want, fmt.Sprintf("%s %s: %d", noon.AddDate(0, 0, i-2).Format("02"), clock, marked))
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s", when, diff)
				}
				if err := s.CountDays(t.Context(), noon.AddDate(0, 0, 2)); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// What CountDays counted must stay right whatever happens to a record of such a day.
func TestCountedDaysFollowTheirRecords(t *testing.T) {
	first, now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local), time.Date(2026, 3, 20, 12, 0, 0, 0, time.Local)
	day := first.AddDate(0, 0, 3)
	const marked, waiting = 1, 3 // ids: two are marked, two wait
	inTx := func(fn func(ctx context.Context, tx *sql.Tx) error) func(*testing.T, *record.Store, *db.DB) error {
		return func(t *testing.T, _ *record.Store, d *db.DB) error { return d.Write(t.Context(), fn) }
	}
	for _, c := range []struct {
		name   string
		change func(*testing.T, *record.Store, *db.DB) error
		want   int
	}{
		{"nothing", inTx(func(context.Context, *sql.Tx) error { return nil }), 2},
		{"a record is retried", inTx(func(ctx context.Context, tx *sql.Tx) error {
			_, err := record.RequeueTx(ctx, tx, marked)
			return err
		}), 1},
		{"a record is marked at last", inTx(func(ctx context.Context, tx *sql.Tx) error {
			return record.MoveTx(ctx, tx, waiting, record.Queued, record.Success, "", reason.Reason{})
		}), 3},
		{"a title is blocked", inTx(func(ctx context.Context, tx *sql.Tx) error { return record.IgnoreTx(ctx, tx, marked, reason.Reason{}) }), 1},
		{"history moves in", inTx(func(ctx context.Context, tx *sql.Tx) error {
			_, err := record.InsertPast(ctx, tx, record.Past{Event: episode("b", 1, 1), At: day, Outcome: record.Outcome{Status: record.Success}})
			return err
		}), 3},
		{"old records are removed", func(t *testing.T, s *record.Store, _ *db.DB) error {
			_, err := s.DeleteBefore(t.Context(), day.AddDate(0, 0, 1), 10)
			return err
		}, 0},
		{"the time zone changes", func(t *testing.T, s *record.Store, _ *db.DB) error {
			return s.CountDays(t.Context(), now.In(time.FixedZone("", 13*60*60)))
		}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, d := newStore(t)
			insertAt(t, d, episode("a", 1, 1), record.Success, day, day)
			insertAt(t, d, episode("a", 1, 2), record.Queued, day, day)
			if err := s.CountDays(t.Context(), now); err != nil {
				t.Fatal(err)
			}
			if err := c.change(t, s, d); err != nil {
				t.Fatal(err)
			}
			for _, when := range []string{"at once", "counted anew"} {
				a, err := s.Activity(t.Context(), first, now, 2)
				if err != nil {
					t.Fatal(err)
				}
				if got := a.Days[3].Marked; got != c.want {
					t.Errorf("%s: %d marked, want %d", when, got, c.want)
				}
				if all, err := s.Stats(t.Context(), now); err != nil || all.Total[record.Success] != c.want {
					t.Errorf("%s: %v are counted in all (%v), want %d marked", when, all.Total, err, c.want)
				}
				if err := s.CountDays(t.Context(), now); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestActivityReadsCountedDays(t *testing.T) {
	s, d := newStore(t)
	now := time.Now()
	for range 2 {
		if err := s.CountDays(t.Context(), now); err != nil {
			t.Fatal(err)
		}
	}
	err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE day_counts SET marked = 7`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Activity(t.Context(), now.AddDate(0, 0, -370), now, 30)
	if err != nil {
		t.Fatal(err)
	}
	if first, today := a.Days[0].Marked, a.Days[len(a.Days)-1].Marked; first != 7 || today != 0 {
		t.Errorf("a counted day has %d, want what was counted; today has %d", first, today)
	}
}

func TestHeardCountsDaysNotRecords(t *testing.T) {
	s, d := newStore(t)
	last := time.Date(2026, 6, 30, 20, 0, 0, 0, time.Local)
	plex, emby := episode("a", 1, 1), episode("a", 1, 1)
	emby.Source = watch.Emby
	insertAt(t, d, plex, record.Success, last.AddDate(0, 0, -40), last.AddDate(0, 0, -20), last.AddDate(0, 0, -3), last.Add(-time.Hour), last)
	for range 250 {
		insertAt(t, d, emby, record.Success, last)
	}
	heard, err := s.Heard(t.Context(), []watch.Source{watch.Plex, watch.Emby, watch.Jellyfin})
	if err != nil {
		t.Fatal(err)
	}
	if got := heard[watch.Plex]; got.Days != 3 || !got.Last.Equal(last) {
		t.Errorf("plex: %+v, want 3 days", got)
	}
	if got := heard[watch.Emby]; got.Days != 1 {
		t.Errorf("an import of many is %d days", got.Days)
	}
	if _, known := heard[watch.Jellyfin]; known {
		t.Error("a source without records was heard of")
	}
}

// BenchmarkDashboard measures what the dashboard counts, with records of one year.
func BenchmarkDashboard(b *testing.B) {
	for _, records := range []int{15_000, 150_000} {
		b.Run(fmt.Sprint(records), func(b *testing.B) {
			s, d := newStore(b)
			now := time.Now()
			const batch = 1000
			for n := 0; n < records; n += batch {
				times := make([]time.Time, batch)
				for i := range times {
					times[i] = now.Add(-time.Duration(records-n-i) * (370 * 24 * time.Hour / time.Duration(records)))
				}
				insertAt(b, d, episode("a", 1, 1), record.Statuses[2+n/batch%5], times...)
			}
			if err := s.CountDays(b.Context(), now); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := s.Activity(b.Context(), now.AddDate(0, 0, -370), now, 30); err != nil {
					b.Fatal(err)
				}
				if _, err := s.Heard(b.Context(), []watch.Source{watch.Plex, watch.Emby, watch.Jellyfin}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
