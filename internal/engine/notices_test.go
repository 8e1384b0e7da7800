package engine_test

import (
	"slices"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/engine"
	"watchmark/internal/match"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/tell/notify"
)

// told are the kinds of the notices of a record, the oldest first.
func (h *house) told(t *testing.T, recordID int64) []notify.Kind {
	t.Helper()
	entries, _, err := h.notices.List(t.Context(), notify.Filter{Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	kinds := []notify.Kind{}
	for _, e := range slices.Backward(entries) {
		if e.RecordID == recordID {
			kinds = append(kinds, e.Kind)
		}
	}
	return kinds
}

func TestWhatPeopleAreToldOfARecord(t *testing.T) {
	refused := &catalog.Error{Kind: catalog.ErrRefused}
	outage := &catalog.Error{Kind: catalog.ErrUnreachable}
	for _, c := range []struct {
		name   string
		user   string
		match  match.Status // "" = matched
		before func(t *testing.T, h *house)
		want   []notify.Kind
	}{
		{"a new mark", "mira", "", nil, []notify.Kind{notify.RequestReceived, notify.Marked}},
		{"a mark that the list held", "mira", "", func(t *testing.T, h *house) { h.settled(t, h.accept(t, episode("a", "mira", 1))[0]) },
			[]notify.Kind{notify.RequestReceived, notify.AlreadyWatched}},
		{"nobody's user", "guest", "", nil, []notify.Kind{notify.RequestReceived, notify.NoAccount}},
		{"a user without a name", "", "", nil, []notify.Kind{notify.RequestReceived, notify.NoAccount}},
		{"a blocked title", "mira", match.Blocked, nil, []notify.Kind{notify.RequestReceived, notify.Ignored}},
		{"a title that nobody knows", "mira", match.NotFound, nil, []notify.Kind{notify.RequestReceived, notify.NotMatched}},
		{"a missing episode", "mira", match.EpisodeNotFound, nil, []notify.Kind{notify.RequestReceived, notify.EpisodeNotFound}},
		{"an unsure match", "mira", match.Review, nil, []notify.Kind{notify.RequestReceived, notify.ReviewWaiting}},
		{"an unsure match that another record asks about", "mira", match.Review, func(t *testing.T, h *house) { h.settled(t, h.accept(t, episode("a", "mira", 7))[0]) },
			[]notify.Kind{notify.RequestReceived}},
		{"a refused mark", "mira", "", func(_ *testing.T, h *house) { h.list.fail(refused) }, []notify.Kind{notify.RequestReceived, notify.MarkFailed}},
		{"an outage", "mira", "", func(_ *testing.T, h *house) { h.list.fail(outage) }, []notify.Kind{notify.RequestReceived, notify.Queued}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t)
			h.account(t, "one", true, "mira")
			if c.match != "" {
				h.matcher.set("a", match.Trace{Result: match.Result{Status: c.match, Reason: reason.Text("because"), SubjectName: "best guess"}, Steps: []match.Step{}})
			}
			h.run(t)
			if c.before != nil {
				c.before(t, h)
			}
			id := h.accept(t, episode("a", c.user, 1))[0]
			h.settled(t, id)
			if got := h.told(t, id); !slices.Equal(got, c.want) {
				t.Errorf("told %v, want %v", got, c.want)
			}
		})
	}
}

func TestAnOutageIsToldOnceAndSoIsItsEnd(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.list.fail(&catalog.Error{Kind: catalog.ErrUnreachable})
	h.set(func(o *engine.Options) { o.MaxRetries = 3 })
	h.run(t)
	id := h.accept(t, episode("a", "mira", 1))[0]
	for range 2 { // it is tried again in vain
		h.settled(t, id)
		h.retry(t, id)
	}
	h.settled(t, id)
	h.list.fail(nil)
	h.retry(t, id)
	if r := h.settled(t, id); r.Status != record.Success {
		t.Fatalf("the record is %s", r.Status)
	}
	want := []notify.Kind{notify.RequestReceived, notify.Queued, notify.Replayed}
	if got := h.told(t, id); !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

func TestWhatIsGivenUpIsToldOnce(t *testing.T) {
	h := newHouse(t) // which gives up after two tries
	h.account(t, "one", true, "mira")
	h.list.fail(&catalog.Error{Kind: catalog.ErrUnreachable})
	h.run(t)
	id := h.accept(t, episode("a", "mira", 1))[0]
	for h.settled(t, id).Status == record.Queued {
		h.retry(t, id)
	}
	want := []notify.Kind{notify.RequestReceived, notify.Queued, notify.Abandoned}
	if got := h.told(t, id); !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

func TestANoticeCarriesWhatAMessageIsMadeOf(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.run(t)
	h.settled(t, h.accept(t, episode("a", "mira", 3))[0])
	entries, _, err := h.notices.List(t.Context(), notify.Filter{Kinds: []notify.Kind{notify.Marked}})
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d notices (%v)", len(entries), err)
	}
	e := entries[0]
	if e.User != "mira" || e.Account != "one" || e.AccountID == 0 {
		t.Errorf("it concerns %q, account %d %q", e.User, e.AccountID, e.Account)
	}
	for name, want := range map[string]string{"title": "a", "season": "1", "episode": "3", "subject_id": "8", "subject_name": "a", "episode_id": "803", "source": "plex"} {
		if e.Facts[name] != want {
			t.Errorf("fact %s is %q, want %q", name, e.Facts[name], want)
		}
	}
}
