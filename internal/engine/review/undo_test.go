package review_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/engine/review"
	"watchmark/internal/platform/secret"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

func TestUndoLeavesAloneWhatSomebodyCorrected(t *testing.T) {
	h := newHouse(t)
	h.ask(watch.Event{Media: watch.Movie, Title: "Film"})
	q := h.only()
	a := must(h.Confirm(t.Context(), q.ID, 0, review.Choice{SubjectID: 8}))(t)
	h.end(a.RecordIDs[0], record.Failed)
	m := a.Mapping
	m.SubjectID = 9
	must(h.mappings.Update(t.Context(), m))(t)
	back := must(h.Undo(t.Context(), q.ID, 0))(t)
	if m, found := h.rules().Find([]string{"Film"}, nil, true, nil); !back.Kept || !found || m.SubjectID != 9 {
		t.Errorf("undo: %+v; the mapping is %+v", back, m)
	}
}

func TestUndoTakesTheNewestOfMany(t *testing.T) {
	h := newHouse(t)
	h.ask(episode("Show", season(1), 1))
	q := h.only()
	a := must(h.Confirm(t.Context(), q.ID, 0, review.Choice{SubjectID: 8}))(t)
	first := a.RecordIDs[0]
	h.end(first, record.Success)
	box := must(secret.OpenBox(t.TempDir(), "", false))(t)
	mira := must(account.NewStore(h.db, box).Create(t.Context(), account.Draft{Username: "mira", Enabled: true}))(t)
	rule := &record.Rule{ID: a.Mapping.ID, SubjectID: 8}
	var later []int64
	err := h.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for n := range 502 {
			id, err := record.Insert(ctx, tx, episode("show", season(1), float64(n)), false, time.Now())
			if err != nil {
				return err
			}
			later = append(later, id)
			o := record.Outcome{RecordID: id, Status: record.Success, AccountID: mira.ID, SubjectID: 8, EpisodeID: catalog.EpisodeID(n + 1), Mark: &record.Written{}, Trace: []byte(`{}`), Rule: rule}
			if err := record.SettleTx(ctx, tx, o); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	newest := later[2:]
	_, err = h.Undo(t.Context(), q.ID, 0)
	var marked *review.MarkedError
	if !errors.As(err, &marked) || len(marked.RecordIDs) != len(newest) || slices.Min(marked.RecordIDs) != newest[0] {
		t.Fatalf("undo while they are marked: %v", err)
	}
	if now := must(h.Get(t.Context(), q.ID))(t); now.Status != review.Confirmed {
		t.Errorf("the question is %s", now.Status)
	}
	err = h.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for _, id := range newest {
			if err := record.DropMarkTx(ctx, tx, record.Mark{RecordID: id, AccountID: mira.ID, SubjectID: 8, EpisodeID: catalog.EpisodeID(id - later[0] + 1)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if back := must(h.Undo(t.Context(), q.ID, 0))(t); back.Left != 2 || !slices.Equal(back.RecordIDs, append([]int64{first}, newest...)) {
		t.Errorf("undo leaves %d and runs %d again", back.Left, len(back.RecordIDs))
	}
}

func TestUndoReadsNoTrace(t *testing.T) {
	h := newHouse(t)
	first := h.ask(episode("Show", season(1), 1))
	q := h.only()
	a := must(h.Confirm(t.Context(), q.ID, 0, review.Choice{SubjectID: 8}))(t)
	h.end(first, record.Success)
	outcomes := map[string]record.Outcome{
		"led":             {Status: record.Success, SubjectID: 8, Rule: &record.Rule{ID: a.Mapping.ID, SubjectID: 8}, Trace: []byte(`{"steps":[{"name":"mapping","output":"`)},
		"by another rule": {Status: record.Success, SubjectID: 8, Rule: &record.Rule{ID: a.Mapping.ID, SubjectID: 9}, Trace: []byte(`{}`)},
		"by none":         {Status: record.Success, SubjectID: 8, Method: "api", Trace: []byte(`{`)},
	}
	want := []int64{first}
	for name, o := range outcomes {
		w := h.claim(episode("Show", season(1), 2))
		o.RecordID = w.ID
		if name == "led" {
			want = append(want, w.ID)
		}
		if err := h.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { return record.SettleTx(ctx, tx, o) }); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(want)
	if back := must(h.Undo(t.Context(), q.ID, 0))(t); back.Kept || !slices.Equal(back.RecordIDs, want) {
		t.Errorf("undo of %+v: %+v, want records %v", a.Mapping, back, want)
	}
}

func TestUndoOfARuleThatIsGoneLeavesNothing(t *testing.T) {
	h := newHouse(t)
	id := h.ask(episode("Show", season(1), 1))
	q := h.only()
	a := must(h.Confirm(t.Context(), q.ID, 0, review.Choice{SubjectID: 8}))(t)
	if err := h.mappings.Delete(t.Context(), a.Mapping.ID); err != nil {
		t.Fatal(err)
	}
	h.end(id, record.Success)
	if back := must(h.Undo(t.Context(), q.ID, 0))(t); back.Kept || back.Question.Status != review.Pending {
		t.Errorf("undo: %+v", back)
	}
	h.end(id, record.Review)
	a = must(h.Reject(t.Context(), q.ID, 0))(t)
	b := a.Blocked
	b.Keyword = "Another Show"
	must(h.mappings.UpdateBlocked(t.Context(), b))(t)
	h.end(id, record.Ignored)
	if back := must(h.Undo(t.Context(), q.ID, 0))(t); !back.Kept {
		t.Errorf("undo removes a keyword that somebody changed: %+v", back)
	}
}
