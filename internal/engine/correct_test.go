package engine_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/engine/queue"
	"watchmark/internal/engine/review"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// subjects is a catalog of two series, 8 and 9, a live-action show, and a book.
type subjects struct{}

func (subjects) Subject(_ context.Context, id catalog.SubjectID) (catalog.Subject, error) {
	switch id {
	case 8, 9:
		return catalog.Subject{ID: id, Type: catalog.Anime, Name: "series"}, nil
	case 6:
		return catalog.Subject{ID: id, Type: catalog.Real, Name: "live action"}, nil
	case 7:
		return catalog.Subject{ID: id, Type: catalog.Book, Name: "book"}, nil
	case 1:
		return catalog.Subject{}, &catalog.Error{Kind: catalog.ErrUnreachable}
	}
	return catalog.Subject{}, &catalog.Error{Kind: catalog.ErrNotFound, Status: 404}
}

func (subjects) Episode(_ context.Context, id catalog.EpisodeID) (catalog.EpisodeInfo, error) {
	return catalog.EpisodeInfo{ID: id, Name: "the title"}, nil
}

func (h *house) correct(t *testing.T, id int64, c review.Correction) (review.Corrected, task.Status) {
	t.Helper()
	corrected, err := h.Correct(t.Context(), id, c)
	if err != nil {
		t.Fatal(err)
	}
	return corrected, ended(t, corrected.Task)
}

func right() review.Correction {
	return review.Correction{SubjectID: 9, EpisodeOffset: 12, Unmark: true, Mark: true}
}

func TestAWrongMarkIsCorrected(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	id := h.accept(t, episode("a", "mira", 3))[0]
	other := h.accept(t, episode("a", "mira", 4))[0]
	if r := h.settled(t, id); !r.Marked {
		t.Fatalf("record is %+v", r)
	}
	h.settled(t, other)
	preview, err := h.PreviewCorrection(t.Context(), id, right())
	if err != nil || len(preview.Marks) != 1 || preview.Others != 1 || preview.OthersMarked != 1 || preview.Leads.EpisodeID != 915 || preview.EpisodeName != "the title" || preview.Same {
		t.Errorf("preview %+v (%v)", preview, err)
	}
	if all, err := h.mappings.All(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("the preview wrote %v (%v)", all, err)
	}
	for range 2 { // every step may run twice
		corrected, status := h.correct(t, id, right())
		m := corrected.Mapping
		if status.State != task.Done || m.Title != "a" || *m.Season != 1 || m.SubjectID != 9 || m.EpisodeOffset != 12 || m.Origin != mapping.ByPerson {
			t.Errorf("%+v %+v", status, m)
		}
		h.wantMarks(t, "one/8/804", "one/9/915")
	}
	r := h.settled(t, id)
	if r.Status != record.Success || r.SubjectID != 9 || r.EpisodeID != 915 || !r.Marked {
		t.Errorf("record is %+v", r)
	}
	trace, err := h.records.Trace(t.Context(), id)
	if err != nil || !strings.Contains(string(trace), `"name":"correct"`) || !strings.Contains(string(trace), `"unmarked_episode_ids":[803]`) {
		t.Errorf("trace %s (%v)", trace, err)
	}
	if h.list.unmarks != 1 {
		t.Errorf("%d requests took marks back", h.list.unmarks)
	}
	if preview, err := h.PreviewCorrection(t.Context(), id, right()); err != nil || !preview.Same {
		t.Errorf("preview %+v (%v)", preview, err)
	}
	if all, err := h.mappings.All(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("mappings %v (%v)", all, err)
	}
}

func TestAWholeTitleIsCorrected(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.account(t, "two", true, "alex")
	h.run(t)
	ids := h.accept(t, episode("a", "mira", 1), episode("a", "mira", 2), episode("a", "alex", 1), episode("b", "mira", 3))
	for _, id := range ids {
		h.settled(t, id)
	}
	season := 2
	next := episode("a", "mira", 1)
	next.Season = &season
	later := h.accept(t, next)[0]
	if r := h.settled(t, later); r.Status != record.Success || r.Marked {
		t.Fatalf("record is %+v", r)
	}
	c := right()
	c.AllOfTitle = true
	corrected, status := h.correct(t, ids[0], c)
	if tally, _ := task.ResultOf[review.CorrectTally](status); status.State != task.Done || !slices.Equal(corrected.RecordIDs, ids[:3]) || tally.TakenBack != 2 || tally.Marked != 3 {
		t.Errorf("%v %+v", corrected.RecordIDs, status)
	}
	// The first episode of season 2 found the mark of season 1 there: it stays, and is its own now.
	h.wantMarks(t, "one/8/801", "one/8/803", "one/9/913", "one/9/914", "two/9/913")
	if r := h.settled(t, later); !r.Marked {
		t.Errorf("record is %+v", r)
	}
}

func TestWhatIsNotWrittenByARecordIsNotTakenBack(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.list.watched["one/8/803"] = true
	h.run(t)
	id := h.accept(t, episode("a", "mira", 3))[0]
	if r := h.settled(t, id); r.Marked {
		t.Errorf("record is %+v", r)
	}
	if _, err := h.Unmark(t.Context(), id, reason.Text("taken back")); !errors.Is(err, review.ErrNothingMarked) {
		t.Errorf("unmark: %v", err)
	}
	h.correct(t, id, right())
	h.wantMarks(t, "one/8/803", "one/9/915")
}

func TestAMarkIsTakenBack(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	id := h.accept(t, episode("a", "mira", 3))[0]
	h.settled(t, id)
	h.retry(t, id)
	if r := h.settled(t, id); !r.Marked || !strings.HasPrefix(r.Message.Text, "already watched") {
		t.Errorf("a retry makes the record forget its mark: %+v", r)
	}
	h.list.fail(&catalog.Error{Kind: catalog.ErrUnreachable, Status: 503})
	if _, err := h.Unmark(t.Context(), id, reason.Text("taken back")); !errors.Is(err, catalog.ErrUnreachable) {
		t.Errorf("unmark: %v", err)
	}
	_, status := h.correct(t, id, right())
	if status.State != task.Failed || !strings.Contains(status.Message.Text, "Bangumi cannot be reached") {
		t.Errorf("task %+v", status)
	}
	if r := h.settled(t, id); !r.Marked || r.Status != record.Success {
		t.Errorf("record is %+v", r)
	}
	h.list.fail(nil)
	r, err := h.Unmark(t.Context(), id, reason.Text("taken back"))
	if err != nil || r.Status != record.Ignored || r.Marked || r.Message.Text != "taken back: the mark was taken back from the list of one" {
		t.Errorf("record is %+v (%v)", r, err)
	}
	h.wantMarks(t)
	if _, err := h.Unmark(t.Context(), id, reason.Text("taken back")); !errors.Is(err, review.ErrNothingMarked) {
		t.Errorf("twice: %v", err)
	}
}

func TestACorrectionThatCannotWorkIsRefused(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	id := h.accept(t, episode("a", "mira", 3))[0]
	h.settled(t, id)
	season := 1
	for name, c := range map[string]struct {
		id    int64
		c     review.Correction
		field string
	}{
		"no subject": {id, review.Correction{}, "subject_id"},
		"unknown":    {id, review.Correction{SubjectID: 404}, "subject_id"},
		"too high":   {id, review.Correction{SubjectID: mapping.MaxSubject + 1}, "subject_id"},
		"a book":     {id, review.Correction{SubjectID: 7}, "subject_id"},
		"offset":     {id, review.Correction{SubjectID: 9, EpisodeOffset: 1 << 30}, "episode_offset"},
	} {
		_, err := h.Correct(t.Context(), c.id, c.c)
		if err == nil || !strings.HasPrefix(err.Error(), c.field+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := h.Correct(t.Context(), id, review.Correction{SubjectID: 1}); !errors.Is(err, catalog.ErrUnreachable) {
		t.Errorf("unreachable: %v", err)
	}
	if _, err := h.Correct(t.Context(), 99, right()); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("no record: %v", err)
	}
	if _, err := h.Chosen(t.Context(), mapping.MaxSubject+1); !errors.As(err, new(*reason.FieldError)) {
		t.Errorf("chosen: %v", err)
	}
	own, err := h.mappings.Create(t.Context(), mapping.Mapping{Title: "a", Season: &season, SubjectID: 8, Origin: mapping.ByPerson})
	if err != nil {
		t.Fatal(err)
	}
	every := right()
	every.EverySeason = true
	var field *reason.FieldError
	if _, err := h.Correct(t.Context(), id, every); !errors.As(err, &field) || field.Field != "every_season" {
		t.Errorf("every season: %v", err)
	}
	if all, err := h.mappings.All(t.Context()); err != nil || len(all) != 1 || all[0].ID != own.ID {
		t.Errorf("mappings %v (%v)", all, err)
	}
	h.wantMarks(t, "one/8/803")
	h.correct(t, id, review.Correction{SubjectID: 6, Unmark: true, Mark: true}) // a person may say that an anime is live action
	h.wantMarks(t, "one/6/603")
}

func TestADryRunMarksNothing(t *testing.T) {
	h := newHouse(t)
	a := h.account(t, "one", true, "mira")
	h.list.fail(&catalog.Error{Kind: catalog.ErrUnreachable, Status: 503})
	h.run(t)
	waiting := h.accept(t, episode("a", "mira", 1))[0]
	if r := h.settled(t, waiting); r.Status != record.Queued {
		t.Fatalf("record is %+v", r)
	}
	h.list.fail(nil)
	dry := func(on bool) {
		if _, err := h.accounts.Update(t.Context(), a.ID, account.Change{DryRun: &on}); err != nil {
			t.Fatal(err)
		}
	}
	dry(true)
	scheduler := queue.New(queue.Config{
		Queue: h.queue, Log: slog.New(slog.DiscardHandler),
		Reachability: func() catalog.Reachability { return catalog.Reachability{Reachable: true} },
		Probe:        func(context.Context) error { return nil },
		Released:     func([]int64) { h.Wake() },
	})
	_, before := h.list.marks()
	if released, err := scheduler.Replay(t.Context(), 10); err != nil || !slices.Equal(released, []int64{waiting}) {
		t.Fatalf("replayed %v (%v)", released, err)
	}
	started := watch.Event{Source: watch.Plex, Action: watch.Started, Media: watch.Movie, Title: "film", UserName: "mira"}
	ids := append(h.accept(t, episode("a", "mira", 2), started), waiting)
	for _, id := range ids {
		r := h.settled(t, id)
		if r.Status != record.Ignored || !strings.HasPrefix(r.Message.Text, "dry run: ") || r.SubjectID != 8 || r.Method != "api" || r.Confidence == 0 {
			t.Errorf("record is %+v", r)
		}
		if trace, err := h.records.Trace(t.Context(), id); err != nil || !strings.Contains(string(trace), `"name":"mark","status":"skipped"`) {
			t.Errorf("trace %s (%v)", trace, err)
		}
	}
	if r := h.settled(t, ids[0]); r.Message.Text != "dry run: a episode 2 would have been marked for one; to mark it, switch off dry run for the account and retry the record" {
		t.Errorf("message %q", r.Message.Text)
	}
	if marks, calls := h.list.marks(); len(marks) != 0 || calls != before || len(h.list.doing) != 0 {
		t.Errorf("marked %v in %d calls, doing %v", marks, calls-before, h.list.doing)
	}
	if counts, err := h.queue.Counts(t.Context()); err != nil || counts["pending"] != 0 {
		t.Errorf("queue %v (%v)", counts, err)
	}
	dry(false)
	for _, id := range ids {
		h.retry(t, id)
		if r := h.settled(t, id); r.Status != record.Success {
			t.Errorf("record is %+v", r)
		}
	}
	h.wantMarks(t, "one/8/801", "one/8/802")
}

func TestACorrectionHoldsForWhatTheRecordTells(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	untold := episode("untold", "mira", 3)
	untold.Season = nil
	for name, c := range map[string]struct {
		event               watch.Event
		every               bool
		season, firstSeason bool
	}{
		"a season":                     {episode("told", "mira", 3), false, true, false},
		"none":                         {untold, false, false, true},
		"a season, corrected for all":  {episode("all", "mira", 3), true, false, false},
		"no season, corrected for all": {func() watch.Event { e := untold; e.Title = "untold, all"; return e }(), true, false, false},
	} {
		id := h.accept(t, c.event)[0]
		h.settled(t, id)
		correction := right()
		correction.EverySeason = c.every
		corrected, _ := h.correct(t, id, correction)
		m := corrected.Mapping
		if (m.Season != nil) != c.season || m.FirstSeason != c.firstSeason || m.Origin != mapping.ByPerson || m.SubjectName == "" {
			t.Errorf("%s: the mapping is %+v", name, m)
		}
	}
}
