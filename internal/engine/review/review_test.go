package review_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/engine/review"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/changes"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/watch"
)

// house is questions over a real database; the test stands in for the engine.
type house struct {
	*review.Store
	t        *testing.T
	db       *db.DB
	mappings *mapping.Store
	records  *record.Store
	told     string // what the last record that settle ended as review says
}

func newHouse(t *testing.T) *house {
	t.Helper()
	d := dbtest.Open(t)
	mappings := mapping.NewStore(d, changes.New(d))
	return &house{Store: review.NewStore(d, mappings), t: t, db: d, mappings: mappings, records: record.NewStore(d)}
}

// end settles a record that is run again.
func (h *house) end(id int64, status record.Status) {
	h.t.Helper()
	w := record.Work{}
	w.ID = id
	h.settle(w, status)
}

func season(n int) *int { return &n }

func episode(title string, season *int, number float64) watch.Event {
	return watch.Event{Source: watch.Plex, Action: watch.Watched, Media: watch.Episode, Title: title, Season: season, Episode: &number, UserName: "mira"}
}

// claim stores an event and claims it.
func (h *house) claim(e watch.Event) record.Work {
	h.t.Helper()
	w, err := h.records.InsertClaimed(h.t.Context(), e, false, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	return w
}

// settle ends a claimed record; one that ends as review asks.
func (h *house) settle(w record.Work, status record.Status, candidates ...match.Candidate) (answered bool) {
	h.t.Helper()
	err := h.db.Write(h.t.Context(), func(ctx context.Context, tx *sql.Tx) (err error) {
		if status == record.Review {
			trace := match.Trace{Result: match.Result{Reason: reason.Text("perhaps")}, Steps: []match.Step{{Name: "api", Candidates: candidates}}}
			asked, err := review.AskTx(ctx, tx, w, 0, trace)
			h.told = asked.Message.Text
			if answered = asked.Again; err != nil || answered {
				return err
			}
		}
		return record.SettleTx(ctx, tx, record.Outcome{RecordID: w.ID, Status: status})
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return answered
}

// ask has a new event come out as review.
func (h *house) ask(e watch.Event, candidates ...match.Candidate) int64 {
	h.t.Helper()
	w := h.claim(e)
	h.settle(w, record.Review, candidates...)
	return w.ID
}

func (h *house) list(statuses ...review.Status) []review.Question {
	h.t.Helper()
	questions, _, err := h.List(h.t.Context(), review.Filter{Statuses: statuses})
	if err != nil {
		h.t.Fatal(err)
	}
	return questions
}

// only is the one pending question.
func (h *house) only() review.Question {
	h.t.Helper()
	open := h.list(review.Pending)
	if len(open) != 1 {
		h.t.Fatalf("%d questions are pending: %+v", len(open), open)
	}
	return open[0]
}

func (h *house) status(id int64) record.Status {
	h.t.Helper()
	r, err := h.records.Get(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return r.Status
}

func (h *house) rules() *mapping.Rules {
	h.t.Helper()
	rules, err := h.mappings.Rules(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return rules
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestATitleAndSeasonIsOneQuestion(t *testing.T) {
	h := newHouse(t)
	h.ask(episode("Moonshade Teahouse", season(1), 2), match.Candidate{SubjectID: 1, Score: .6})
	newest := h.ask(episode("  moonshade teahouse ", season(1), 1), match.Candidate{SubjectID: 2, Score: .7}, match.Candidate{SubjectID: 3, Score: .8})
	q := h.only()
	if q.Waiting != 2 || q.RecordID != newest || !slices.Equal(q.Episodes, []float64{1, 2}) || q.Source != watch.Plex || q.Reason.Text != "perhaps" {
		t.Errorf("question is %+v", q)
	}
	if len(q.Candidates) != 2 || q.Candidates[0].SubjectID != 3 {
		t.Errorf("candidates are not the newest, best first: %+v", q.Candidates)
	}
	h.ask(episode("Moonshade Teahouse", season(2), 1))
	h.ask(episode("Moonshade Teahouse", nil, 1))
	h.ask(watch.Event{Media: watch.Movie, Title: "Moonshade Teahouse"})
	if open := h.list(review.Pending); len(open) != 4 {
		t.Errorf("another season, none, and a film: %d questions, want 4", len(open))
	}
	if n := must(h.Open(t.Context()))(t); n != 4 {
		t.Errorf("open is %d", n)
	}
}

func TestCandidatesOfAllLayersAreJoined(t *testing.T) {
	h := newHouse(t)
	w := h.claim(episode("a", season(1), 14))
	trace := match.Trace{Steps: []match.Step{
		{Name: "archive", Candidates: []match.Candidate{{SubjectID: 5, StartID: 4, Score: .6, Source: "archive"}, {SubjectID: 9, Score: .55, Source: "archive"}}},
		{Name: "api", Candidates: []match.Candidate{{SubjectID: 6, StartID: 4, Score: .7, Source: "api"}, {SubjectID: 0, Score: 1}}},
	}}
	for n := range 20 {
		trace.Steps[1].Candidates = append(trace.Steps[1].Candidates, match.Candidate{SubjectID: catalog.SubjectID(100 + n), Score: .1})
	}
	err := h.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		if _, err := review.AskTx(ctx, tx, w, 0, trace); err != nil {
			return err
		}
		return record.SettleTx(ctx, tx, record.Outcome{RecordID: w.ID, Status: record.Review})
	})
	if err != nil {
		t.Fatal(err)
	}
	found := h.only().Candidates
	if len(found) != 10 || found[0].SubjectID != 6 || found[1].SubjectID != 9 {
		t.Errorf("candidates are %+v", found)
	}
	if c := review.Choose(found[0]); c.SubjectID != 4 {
		t.Errorf("the choice is %+v, want the season's first subject", c)
	}
}

func TestConfirmWritesTheMappingAndGivesBackWhatWaits(t *testing.T) {
	h := newHouse(t)
	old := must(h.mappings.Create(t.Context(), mapping.Mapping{Title: "show", Season: season(2), SubjectID: 77, Origin: mapping.ByPerson, Note: "mine"}))(t)
	first, second := h.ask(episode("Show", season(2), 1)), h.ask(episode("Show", season(2), 2))
	other := h.ask(episode("Show", season(3), 1))
	q := h.list(review.Pending)[1]
	a := must(h.Confirm(t.Context(), q.ID, 0, review.Choice{SubjectID: 8, Name: "eight", EpisodeOffset: -12}))(t)
	if !slices.Equal(a.RecordIDs, []int64{first, second}) || h.status(first) != record.Received || h.status(other) != record.Review {
		t.Errorf("run again: %v; the other season is %s", a.RecordIDs, h.status(other))
	}
	m, found := h.rules().Find([]string{"SHOW"}, season(2), false, nil)
	if !found || m.SubjectID != 8 || m.EpisodeOffset != -12 || m.Origin != mapping.ByConfirm || m.ID != a.Mapping.ID || *m.Season != 2 {
		t.Errorf("the mapping is %+v", m)
	}
	if _, found := h.rules().Find([]string{"Show"}, season(3), false, nil); found {
		t.Error("the mapping holds for another season")
	}
	if a.Question.Status != review.Confirmed || a.Question.SubjectName != "eight" || a.Question.MappingID != m.ID {
		t.Errorf("the question is %+v", a.Question)
	}
	if _, err := h.Confirm(t.Context(), q.ID, 0, review.Choice{SubjectID: 9}); !errors.Is(err, review.ErrAnswered) {
		t.Errorf("confirming twice: %v", err)
	}
	if _, err := h.Undo(t.Context(), q.ID, 0); !errors.Is(err, review.ErrInWork) {
		t.Errorf("undo while a record is on its way: %v", err)
	}
	for _, id := range []int64{first, second} {
		h.end(id, record.Success)
	}
	back := must(h.Undo(t.Context(), q.ID, 0))(t)
	if !slices.Equal(back.RecordIDs, []int64{first, second}) || back.Kept || back.Question.Status != review.Pending {
		t.Errorf("undo: %+v", back)
	}
	if m, found := h.rules().Find([]string{"Show"}, season(2), false, nil); !found || m.SubjectID != old.SubjectID || m.Note != "mine" || m.Origin != mapping.ByPerson {
		t.Errorf("the replaced mapping is not back: %+v", m)
	}
	if _, err := h.Undo(t.Context(), q.ID, 0); !errors.Is(err, review.ErrUnanswered) {
		t.Errorf("undoing twice: %v", err)
	}
}

func TestRejectBlocksTheTitleAndNothingElse(t *testing.T) {
	h := newHouse(t)
	first, second := h.ask(episode("Show", season(1), 1)), h.ask(episode("Show", season(2), 1))
	other := h.ask(episode("Show Time", season(1), 1))
	questions := h.list(review.Pending)
	q := questions[2]
	a := must(h.Reject(t.Context(), q.ID, 0))(t)
	if a.Blocked.Source != mapping.ByReject || a.Blocked.Kind != mapping.Exact || !slices.Equal(a.RecordIDs, []int64{first, second}) || h.status(other) != record.Review {
		t.Errorf("reject: %+v; another title is %s", a, h.status(other))
	}
	if _, blocked := h.rules().Blocks([]string{"show"}); !blocked {
		t.Error("the title is not blocked")
	}
	if b, blocked := h.rules().Blocks([]string{"Show Time", "Late Show"}); blocked {
		t.Errorf("a longer title is blocked by %+v", b)
	}
	if open := h.list(review.Pending); len(open) != 1 || open[0].Title != "Show Time" {
		t.Errorf("pending: %+v", open)
	}
	for _, id := range a.RecordIDs {
		h.end(id, record.Ignored)
	}
	back := must(h.Undo(t.Context(), q.ID, 0))(t)
	if _, blocked := h.rules().Blocks([]string{"Show"}); blocked || !slices.Equal(back.RecordIDs, []int64{first, second}) {
		t.Errorf("after undo blocked is %v, run again %v", blocked, back.RecordIDs)
	}
}

func TestRejectOfWhatIsBlockedAlreadyIsUndoneWithoutIt(t *testing.T) {
	h := newHouse(t)
	id := h.ask(episode("Show", season(1), 1))
	must(h.mappings.Block(t.Context(), mapping.Blocked{Keyword: "Show", Kind: mapping.Exact, Source: mapping.ByPerson}))(t)
	q := h.only()
	must(h.Reject(t.Context(), q.ID, 0))(t)
	h.end(id, record.Ignored)
	back := must(h.Undo(t.Context(), q.ID, 0))(t)
	if _, blocked := h.rules().Blocks([]string{"Show"}); !blocked || !back.Kept {
		t.Errorf("a keyword of somebody else: blocked %v, %+v", blocked, back)
	}
}

func TestDeletedQuestionIsGoneUntilTheNextEvent(t *testing.T) {
	h := newHouse(t)
	first := h.ask(episode("Show", season(1), 1))
	q := h.only()
	if err := h.Delete(t.Context(), q.ID, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Get(t.Context(), q.ID); !errors.Is(err, review.ErrNotFound) {
		t.Errorf("a deleted question is answered: %v", err)
	}
	if err := h.Delete(t.Context(), q.ID, ""); !errors.Is(err, review.ErrNotFound) {
		t.Errorf("deleting twice: %v", err)
	}
	if open, s := h.list(review.Pending), h.status(first); len(open) != 0 || s != record.Review {
		t.Errorf("pending %+v, the record is %s", open, s)
	}
	must(h.Undo(t.Context(), q.ID, 0))(t)
	if h.only().ID != q.ID {
		t.Error("undo does not bring it back")
	}
	if err := h.Delete(t.Context(), q.ID, ""); err != nil {
		t.Fatal(err)
	}
	h.ask(episode("Show", season(1), 2))
	if again := h.only(); again.ID != q.ID || again.Waiting != 2 {
		t.Errorf("asked again: %+v", again)
	}
}

func TestAnswerHoldsForWhatWasMatchedMeanwhile(t *testing.T) {
	h := newHouse(t)
	h.ask(episode("Show", season(1), 1))
	late := h.claim(episode("Show", season(1), 2)) // matched by the rules from before the answer
	q := h.only()
	a := must(h.Confirm(t.Context(), q.ID, 0, review.Choice{SubjectID: 8}))(t)
	if !h.settle(late, record.Review) {
		t.Fatal("what was matched before the answer asks again")
	}
	if now := must(h.Get(t.Context(), q.ID))(t); now.Status != review.Confirmed {
		t.Errorf("the question is %s", now.Status)
	}
	for _, id := range append(a.RecordIDs, late.ID) {
		h.end(id, record.Success)
	}
	if back := must(h.Undo(t.Context(), q.ID, 0))(t); !slices.Contains(back.RecordIDs, late.ID) {
		t.Errorf("undo runs %v again, without %d", back.RecordIDs, late.ID)
	}
}

// TestAnAnswerWhoseRuleStandsIsNotForgotten: what comes out as review although it was answered
// leaves the answer and its undo alone.
func TestAnAnswerWhoseRuleStandsIsNotForgotten(t *testing.T) {
	h := newHouse(t)
	later := func(n float64) record.Work {
		w := h.claim(episode("Show", season(1), n))
		w.UpdatedAt = w.UpdatedAt.Add(time.Second)
		return w
	}
	first := h.ask(episode("Show", season(1), 1))
	q := h.only()
	for _, answer := range []func() review.Answer{
		func() review.Answer { return must(h.Confirm(t.Context(), q.ID, 0, review.Choice{SubjectID: 8}))(t) },
		func() review.Answer { return must(h.Reject(t.Context(), q.ID, 0))(t) },
	} {
		a := answer()
		for _, id := range a.RecordIDs {
			h.end(id, record.Success)
		}
		w := later(2)
		if h.settle(w, record.Review) || h.status(w.ID) != record.Review || h.told == "" {
			t.Errorf("the record is %s and says %q", h.status(w.ID), h.told)
		}
		if now := must(h.Get(t.Context(), q.ID))(t); now.Status != a.Question.Status || now.MappingID != a.Question.MappingID || now.BlockedID != a.Question.BlockedID {
			t.Errorf("the answer is %+v, want %+v", now, a.Question)
		}
		if back := must(h.Undo(t.Context(), q.ID, 0))(t); back.Kept || !slices.Contains(back.RecordIDs, w.ID) {
			t.Errorf("undo: %+v", back)
		}
		h.settle(w, record.Review)
		h.end(first, record.Success)
	}
	// When somebody changed the rule, the answer says nothing any more.
	a := must(h.Confirm(t.Context(), q.ID, 0, review.Choice{SubjectID: 8}))(t)
	m := a.Mapping
	m.Season = season(2)
	must(h.mappings.Update(t.Context(), m))(t)
	if h.settle(later(3), record.Review) || h.told != "" || h.only().ID != q.ID {
		t.Errorf("the question is not asked again: %q", h.told)
	}
}

func TestASpecialIsConfirmedForItsNumberAlone(t *testing.T) {
	h := newHouse(t)
	one, half := 1.0, 6.5
	h.ask(episode("Show", season(0), 9), match.Candidate{SubjectID: 5, EpisodeSort: &one, Score: .7})
	q := h.only()
	c := must(q.Choose(q.Candidates[0]))(t)
	if c.SubjectID != 5 || c.EpisodeOffset != -8 {
		t.Errorf("the choice is %+v", c)
	}
	if c := must(q.Choose(match.Candidate{SubjectID: 5}))(t); c.EpisodeOffset != 0 {
		t.Errorf("without an episode the choice is %+v", c)
	}
	h.ask(episode("Show", season(0), 8))
	again := h.ask(episode("show", season(0), 9), match.Candidate{SubjectID: 5, EpisodeSort: &one, Score: .7})
	if open := h.list(review.Pending); len(open) != 2 || open[1].ID != q.ID || open[1].RecordID != again || open[1].Waiting != 2 {
		t.Errorf("the questions are %+v", open)
	}
	a := must(h.Confirm(t.Context(), q.ID, 0, c))(t)
	if n := a.Mapping.Episode; n == nil || *n != 9 || len(a.RecordIDs) != 2 {
		t.Errorf("the answer is %+v", a)
	}
	var field *reason.FieldError
	if _, err := q.Choose(match.Candidate{SubjectID: 5, EpisodeSort: &half}); !errors.As(err, &field) || field.Field != "episode_offset" {
		t.Errorf("a fraction: %v", err)
	}
	q.Season = season(1)
	if c := must(q.Choose(match.Candidate{SubjectID: 5, StartID: 4, EpisodeSort: &one}))(t); c.SubjectID != 4 || c.EpisodeOffset != 0 {
		t.Errorf("of a season the choice is %+v", c)
	}
}

func TestAnAnswerIsForFilmsOrForShows(t *testing.T) {
	h := newHouse(t)
	h.ask(watch.Event{Media: watch.Movie, Title: "Show"})
	film := h.only()
	h.ask(episode("Show", nil, 1))
	must(h.Confirm(t.Context(), film.ID, 0, review.Choice{SubjectID: 8}))(t)
	must(h.Confirm(t.Context(), h.only().ID, 0, review.Choice{SubjectID: 9}))(t)
	for _, c := range []struct {
		season *int
		film   bool
		want   catalog.SubjectID
	}{{nil, true, 8}, {nil, false, 9}, {season(1), false, 9}, {season(0), false, 0}, {season(2), false, 0}} {
		if m, _ := h.rules().Find([]string{"show"}, c.season, c.film, nil); m.SubjectID != c.want {
			t.Errorf("%+v leads to %d", c, m.SubjectID)
		}
	}
}

func TestUndoWaitsForWhatItsMappingLeadsNow(t *testing.T) {
	h := newHouse(t)
	first := h.ask(episode("Show", season(1), 1))
	q := h.only()
	must(h.Confirm(t.Context(), q.ID, 0, review.Choice{SubjectID: 8}))(t)
	h.end(first, record.Success)
	h.claim(episode("Show", season(2), 1))
	other := h.claim(episode(" show", season(1), 2))
	if _, err := h.Undo(t.Context(), q.ID, 0); !errors.Is(err, review.ErrInWork) {
		t.Errorf("undo: %v", err)
	}
	h.settle(other, record.Success)
	must(h.Undo(t.Context(), q.ID, 0))(t)
}

func TestQuestionThatNothingWaitsForIsNoGhost(t *testing.T) {
	h := newHouse(t)
	w := h.claim(episode("Show", season(1), 1))
	h.settle(w, record.Review)
	q := h.only()
	if n := must(h.OfRecord(t.Context(), w.ID))(t); n != q.ID {
		t.Errorf("the record waits for %d", n)
	}
	h.settle(w, record.Success)
	if open := h.list(review.Pending); len(open) != 0 || must(h.Open(t.Context()))(t) != 0 || must(h.OfRecord(t.Context(), w.ID))(t) != 0 {
		t.Errorf("pending: %+v", open)
	}
	if n := must(h.Prune(t.Context(), time.Now().Add(-time.Hour), 10))(t); n != 0 {
		t.Errorf("%d removed that were asked just now", n)
	}
	h.ask(episode("Other", season(1), 1))
	if n := must(h.Prune(t.Context(), time.Now().Add(time.Hour), 10))(t); n != 1 || h.only().Title != "Other" {
		t.Errorf("%d removed", n)
	}
}

func TestListIsPaged(t *testing.T) {
	h := newHouse(t)
	for _, title := range []string{"a", "b", "c"} {
		h.ask(episode(title, season(1), 1))
	}
	titles := ""
	f := review.Filter{Statuses: []review.Status{review.Pending}, Limit: 2}
	for {
		page, next, err := h.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range page {
			titles += q.Title
		}
		titles += "|"
		if f.Before = next; next == 0 {
			break
		}
	}
	if titles != "cb|a|" {
		t.Errorf("pages are %q", titles)
	}
}

// TestCountsReadWhatWaitsAlone holds the queries to the index of what waits, so that no page
// grows slower with the history.
func TestCountsReadWhatWaitsAlone(t *testing.T) {
	if dbtest.OnServer() {
		t.Skip("a plan of SQLite")
	}
	h := newHouse(t)
	var plan string
	rows, err := h.db.Read().QueryContext(t.Context(), `EXPLAIN QUERY PLAN SELECT q.id, `+record.IsAwaited("q.id")+`
		FROM pending_candidates q WHERE q.status = 'pending'`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan += detail + "\n"
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, index := range []string{"records_question", "pending_candidates_status"} {
		if !strings.Contains(plan, index) {
			t.Errorf("the plan lacks %s:\n%s", index, plan)
		}
	}
}
