package record_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/watch"
)

func newStore(t testing.TB) (*record.Store, *db.DB) {
	t.Helper()
	d := dbtest.Open(t)
	return record.NewStore(d), d
}

func episode(title string, season int, number float64) watch.Event {
	return watch.Event{
		Source: watch.Plex, Action: watch.Watched, Media: watch.Episode, Title: title, Season: &season, Episode: &number,
		AirDate: watch.ParseDate("2024-05-19"), UserName: "mira", ItemIDs: watch.IDs{"tmdb": "1"},
	}
}

func insert(t *testing.T, d *db.DB, events ...watch.Event) (ids []int64) {
	t.Helper()
	err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for _, event := range events {
			id, err := record.Insert(ctx, tx, event, false, time.Now())
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func settle(t *testing.T, d *db.DB, o record.Outcome) {
	t.Helper()
	if err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { return record.SettleTx(ctx, tx, o) }); err != nil {
		t.Fatal(err)
	}
}

func TestClaimGivesTheWholeEventOldestFirst(t *testing.T) {
	s, d := newStore(t)
	ids := insert(t, d, episode("a", 1, 1), episode("b", 2, 7.5), episode("c", 0, 3))
	works, _, err := s.Claim(t.Context(), me, record.Room{Background: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(works) != 2 || works[0].ID != ids[0] || works[1].ID != ids[1] {
		t.Fatalf("claimed %v, want the two oldest of %v", works, ids)
	}
	w := works[1]
	if w.Status != record.Processing || w.Attempts != 1 || w.Event.ItemIDs["tmdb"] != "1" || *w.Event.Episode != 7.5 ||
		w.Event.AirDate.String() != "2024-05-19" || w.ReleaseDate != "2024-05-19" {
		t.Errorf("claimed record is %+v", w)
	}
}

func TestAnEventThatCannotBeReadStandsInNobodysWay(t *testing.T) {
	s, d := newStore(t)
	ids := insert(t, d, episode("a", 1, 1), episode("b", 1, 1))
	if err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE records SET event = '{"season":"one"}' WHERE id = ?`, ids[0])
		return err
	}); err != nil {
		t.Fatal(err)
	}
	works, _, err := s.Claim(t.Context(), me, record.Room{Background: 9})
	if err != nil || len(works) != 1 || works[0].ID != ids[1] {
		t.Fatalf("claimed %v, %v, want %d alone", works, err, ids[1])
	}
	r, err := s.Get(t.Context(), ids[0])
	if err != nil || r.Status != record.Failed || r.ErrorKind != record.Internal || r.Message.Code != "event_unreadable" {
		t.Errorf("the other one is %+v, %v", r, err)
	}
}

// me is the incarnation that tests claim for, another one that is beside it.
const me, another = 7, 8

func TestWhatIsInHandIsItsOwnersUntilThatIsDead(t *testing.T) {
	s, d := newStore(t)
	ids := insert(t, d, episode("a", 1, 1), episode("b", 1, 1))
	works, _, err := s.Claim(t.Context(), me, record.Room{Background: 1})
	if err != nil || len(works) != 1 {
		t.Fatal(works, err)
	}
	if others, _, err := s.Claim(t.Context(), another, record.Room{Background: 9}); err != nil || len(others) != 1 || others[0].ID != ids[1] {
		t.Fatalf("another claimed %v, %v", others, err)
	}
	if err := s.Release(t.Context(), another, ids[0]); err != nil {
		t.Fatal(err)
	}
	settle(t, d, record.Outcome{RecordID: ids[0], Owner: another, Status: record.Success})
	if r, err := s.Get(t.Context(), ids[0]); err != nil || r.Status != record.Processing {
		t.Fatalf("another one changed it: %+v, %v", r, err)
	}
	if err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { return record.FreeTx(ctx, tx, []int64{me}) }); err != nil {
		t.Fatal(err)
	}
	settle(t, d, record.Outcome{RecordID: ids[0], Owner: me, Status: record.Success}) // too late
	if err := s.Assign(t.Context(), works[0], []int64{1}); !errors.Is(err, record.ErrMoved) {
		t.Errorf("the dead one assigns: %v", err)
	}
	again, _, err := s.Claim(t.Context(), another, record.Room{Background: 9})
	if err != nil || len(again) != 1 || again[0].ID != ids[0] || again[0].Attempts != 2 {
		t.Errorf("what the dead one had is claimed as %+v, %v", again, err)
	}
	if held, err := s.Held(t.Context(), another); err != nil || !slices.Equal(held, ids) {
		t.Errorf("held are %v, %v", held, err)
	}
}

func TestShowsInWorkElsewhereAreLeft(t *testing.T) {
	s, d := newStore(t)
	ids := insert(t, d, episode("a", 1, 1))
	if _, _, err := s.Claim(t.Context(), me, record.Room{Background: 1}); err != nil {
		t.Fatal(err)
	}
	ids = append(ids, insert(t, d, episode("a", 1, 2), episode("b", 1, 1))...)
	if works, _, err := s.Claim(t.Context(), another, record.Room{Background: 9}); err != nil || len(works) != 1 || works[0].ID != ids[2] {
		t.Fatalf("another claimed %v, %v, want the one of another show", works, err)
	}
	reclaim := func(owner, id int64) (claimed bool) {
		t.Helper()
		if err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) (err error) {
			_, claimed, err = record.ReclaimTx(ctx, tx, owner, id)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return claimed
	}
	if works, _, err := s.Claim(t.Context(), me, record.Room{Background: 9}); err != nil || len(works) != 1 || works[0].ID != ids[1] {
		t.Fatalf("its own replica claimed %v, %v", works, err)
	}
	settle(t, d, record.Outcome{RecordID: ids[0], Owner: me, Status: record.Failed})
	if reclaim(another, ids[0]) || !reclaim(me, ids[0]) || reclaim(me, ids[0]) {
		t.Error("a settled record is taken by another than the one that works on its show, or while it is on its way")
	}
}

func TestAHeldRecordWaits(t *testing.T) {
	s, d := newStore(t)
	id := insert(t, d, episode("a", 1, 1))[0]
	tx := func(fn func(ctx context.Context, tx *sql.Tx) error) {
		t.Helper()
		if err := d.Write(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	claims := func(want int) {
		t.Helper()
		if works, _, err := s.Claim(t.Context(), me, record.Room{Background: 9}); err != nil || len(works) != want {
			t.Errorf("claimed %v, %v, want %d", works, err, want)
		}
		if err := s.Release(t.Context(), me, id); err != nil {
			t.Fatal(err)
		}
	}
	tx(func(ctx context.Context, tx *sql.Tx) error { return record.HoldTx(ctx, tx, id) })
	claims(0)
	tx(func(ctx context.Context, tx *sql.Tx) error { return record.LetTx(ctx, tx, id) })
	claims(1)
	for until, want := range map[time.Duration]int{-time.Second: 1, time.Second: 0, time.Hour: 1} { // the last one is of another clock
		tx(func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE records SET lease_until = ?`, time.Now().Add(until).UnixMilli())
			return err
		})
		claims(want)
	}
}

func TestSettledRecordShowsItsOutcomeAndTrace(t *testing.T) {
	s, d := newStore(t)
	id := insert(t, d, episode("a", 1, 1))[0]
	if _, err := s.Trace(t.Context(), id); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("trace of an unsettled record: %v, want ErrNotFound", err)
	}
	sort := 13.0
	settle(t, d, record.Outcome{
		RecordID: id, Status: record.Success, AccountID: 99, AccountName: "gone", SubjectID: 8, SubjectName: "八", EpisodeID: 80, EpisodeSort: &sort,
		Method: "api", Confidence: 0.9, Message: reason.Text("marked as watched"), Trace: json.RawMessage(`{"steps":[]}`),
	})
	r, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != record.Success || r.SubjectID != 8 || *r.EpisodeSort != 13 || r.Message.Text != "marked as watched" {
		t.Errorf("record is %+v", r)
	}
	if r.AccountID != 0 || r.AccountName != "gone" {
		t.Errorf("account %d %q, want no id for an account that was deleted meanwhile, its name kept", r.AccountID, r.AccountName)
	}
	trace, err := s.Trace(t.Context(), id)
	if err != nil || string(trace) != `{"steps":[]}` {
		t.Errorf("trace %s, %v", trace, err)
	}
}

func TestRequeueLeavesRecordsInHandAlone(t *testing.T) {
	s, d := newStore(t)
	id := insert(t, d, episode("a", 1, 1))[0]
	requeue := func() (requeued bool) {
		t.Helper()
		err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) (err error) {
			requeued, err = record.RequeueTx(ctx, tx, id)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return requeued
	}
	if requeue() {
		t.Error("a received record was requeued")
	}
	settle(t, d, record.Outcome{RecordID: id, Status: record.Failed})
	if !requeue() {
		t.Error("a failed record was not requeued")
	}
	if works, _, err := s.Claim(t.Context(), me, record.Room{Background: 1}); err != nil || len(works) != 1 {
		t.Errorf("claimed %v (%v), want the requeued record", works, err)
	}
}

func TestListPagesThroughWhatTheFilterSelects(t *testing.T) {
	s, d := newStore(t)
	var events []watch.Event
	for i := range 7 {
		events = append(events, episode(fmt.Sprintf("灯塔 100%% %d", i), 1, 1))
	}
	other := episode("别的", 1, 1)
	other.Source, other.UserName = watch.Emby, "alex"
	insert(t, d, append(events, other)...)
	settle(t, d, record.Outcome{RecordID: 3, Status: record.Failed})

	var seen []int64
	filter := record.Filter{Text: "100% ", Limit: 3}
	for {
		page, next, err := s.List(t.Context(), filter)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page {
			seen = append(seen, r.ID)
		}
		if next == 0 {
			break
		}
		filter.Before = next
	}
	if want := []int64{7, 6, 5, 4, 3, 2, 1}; !slices.Equal(seen, want) {
		t.Errorf("pages gave %v, want %v", seen, want)
	}
	for name, c := range map[string]struct {
		filter record.Filter
		want   int
	}{
		"status":                     {record.Filter{Status: record.Failed}, 1},
		"source":                     {record.Filter{Source: watch.Emby}, 1},
		"user":                       {record.Filter{User: "alex"}, 1},
		"text in the user name":      {record.Filter{Text: "ALE"}, 1},
		"underscore is no wildcard":  {record.Filter{Text: "_"}, 0},
		"nothing fits":               {record.Filter{Source: watch.Emby, User: "mira"}, 0},
		"limit out of range is sane": {record.Filter{Limit: 100000}, 8},
	} {
		if got, _, err := s.List(t.Context(), c.filter); err != nil || got == nil || len(got) != c.want {
			t.Errorf("%s: %d records (%v), want %d", name, len(got), err, c.want)
		}
	}
}

func TestAssignAddsOneRecordForEachFurtherAccount(t *testing.T) {
	s, d := newStore(t)
	err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for _, name := range []string{"one", "two", "three"} {
			if _, err := tx.ExecContext(ctx, `INSERT INTO accounts (username, auth_method, enabled, preferred, private, complete_series, complete_films, created_at, updated_at)
				VALUES (?, 'token', 1, 0, 0, 0, 1, 0, 0)`, name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	insert(t, d, episode("a", 1, 1))
	works, _, err := s.Claim(t.Context(), me, record.Room{Background: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Assign(t.Context(), works[0], []int64{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	siblings, _, err := s.Claim(t.Context(), me, record.Room{Background: 9})
	if err != nil || len(siblings) != 2 {
		t.Fatalf("%d further records (%v), want 2", len(siblings), err)
	}
	for i, w := range siblings {
		if w.AccountID != int64(i+2) || w.Event.Title != "a" {
			t.Errorf("sibling %d is %+v", i, w)
		}
	}
}

func TestDeleteBeforeKeepsWhatWaits(t *testing.T) {
	s, d := newStore(t)
	insert(t, d, episode("received", 1, 1), episode("queued", 1, 1), episode("done", 1, 1), episode("done", 1, 2))
	settle(t, d, record.Outcome{RecordID: 2, Status: record.Queued})
	settle(t, d, record.Outcome{RecordID: 3, Status: record.Success, Trace: []byte(`{}`)})
	settle(t, d, record.Outcome{RecordID: 4, Status: record.Success})
	n, err := s.DeleteBefore(t.Context(), time.Now().Add(time.Hour), 10)
	if err != nil || n != 2 {
		t.Fatalf("deleted %d (%v), want the 2 settled ones", n, err)
	}
	if _, err := s.Trace(t.Context(), 3); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("the trace of a deleted record is still there: %v", err)
	}
}

func TestStatsCountByState(t *testing.T) {
	s, d := newStore(t)
	insert(t, d, episode("a", 1, 1), episode("b", 1, 1))
	settle(t, d, record.Outcome{RecordID: 1, Status: record.Success})
	st, err := s.Stats(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if st.Today[record.Success] != 1 || st.Week[record.Received] != 1 || st.Total[record.Success] != 1 || len(st.Total) != len(record.Statuses) {
		t.Errorf("stats are %+v", st)
	}
	tomorrow, err := s.Stats(t.Context(), time.Now().AddDate(0, 0, 1))
	if err != nil || tomorrow.Today[record.Success] != 0 || tomorrow.Week[record.Success] != 1 {
		t.Errorf("tomorrow's stats are %+v (%v)", tomorrow, err)
	}
}

func TestStatsCountByTheDay(t *testing.T) {
	now := time.Date(2026, 7, 25, 12, 0, 0, 0, time.UTC)
	s, d := newStore(t)
	for _, r := range []struct {
		status record.Status
		at     time.Time
	}{
		{record.Success, now.AddDate(-1, 0, 0)},
		{record.Ignored, now.AddDate(-1, 0, 0)},
		{record.Success, time.Date(2026, 7, 18, 23, 59, 59, 0, time.UTC)},
		{record.Failed, time.Date(2026, 7, 18, 23, 59, 59, 0, time.UTC)},
		{record.Success, time.Date(2026, 7, 19, 0, 0, 0, 0, time.UTC)},
		{record.Ignored, time.Date(2026, 7, 19, 0, 0, 0, 0, time.UTC)},
		{record.Success, time.Date(2026, 7, 25, 0, 0, 0, 0, time.UTC)},
		{record.Failed, time.Date(2026, 7, 25, 0, 0, 0, 0, time.UTC)},
		{record.Success, now.AddDate(0, 0, 2)}, // by a clock that was set back
		{record.Queued, now.AddDate(0, 0, 2)},
	} {
		insertAt(t, d, episode("a", 1, 1), r.status, r.at)
	}
	want := map[string]map[record.Status]int{
		"today": {record.Success: 2, record.Failed: 1, record.Queued: 1},
		"week":  {record.Success: 3, record.Failed: 1, record.Queued: 1, record.Ignored: 1},
		"total": {record.Success: 5, record.Failed: 2, record.Queued: 1, record.Ignored: 2},
	}
	for _, when := range []string{"before days are counted", "once days are counted"} {
		st, err := s.Stats(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		for part, got := range map[string]map[record.Status]int{"today": st.Today, "week": st.Week, "total": st.Total} {
			for _, status := range record.Statuses {
				if n, told := got[status]; n != want[part][status] || !told {
					t.Errorf("%s, %d are %s of %s, want %d", when, n, status, part, want[part][status])
				}
			}
		}
		if err := s.CountDays(t.Context(), now); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSlowSubscriberNeverBlocksPublishing(t *testing.T) {
	s, _ := newStore(t)
	slow, cancel := s.Feed.Subscribe()
	defer cancel()
	for id := range int64(1000) {
		s.Feed.Publish(id + 1)
	}
	if first := <-slow; first != 1 {
		t.Errorf("first id %d, want 1", first)
	}
	cancel()
	for range slow { // ends because cancel closes the channel
	}
}
