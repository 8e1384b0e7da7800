package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/reason"
	"watchmark/internal/testkit/catalogtest"
)

// sent is every write that was applied, in full.
func sent(s *catalogtest.Server) []string {
	list := []string{}
	for _, w := range s.Writes() {
		if w.Episodes != nil {
			list = append(list, fmt.Sprintf("%s %v=%d", w.Method, w.Episodes, w.Type))
		} else {
			list = append(list, w.Method+" "+w.Body)
		}
	}
	return list
}

func codes(all []reason.Reason) (list []string) {
	for _, r := range all {
		list = append(list, r.Code)
	}
	return list
}

// marksOf are marks of episodes of subject 100 that a snapshot would hold.
func marksOf(state catalog.EpisodeState, sorts ...float64) (all []catalog.Mark) {
	for _, sort := range sorts {
		all = append(all, catalog.Mark{Episode: catalog.EpisodeID(1000 + int(sort)), Sort: sort, State: state})
	}
	return all
}

func TestAnEntryIsPutAsItWas(t *testing.T) {
	long, longest := strings.Repeat("长", 381), strings.Repeat("长", 380)
	type state = map[catalog.EpisodeID]catalog.EpisodeState
	entry := func(state catalog.CollectionType, rate int, comment string, tags ...string) catalogtest.Listed {
		return catalogtest.Listed{Type: state, Rate: rate, Comment: comment, Tags: tags}
	}
	hidden := func(l catalogtest.Listed) catalogtest.Listed { l.Private = true; return l }
	book := func(l catalogtest.Listed, chapter, volume int) catalogtest.Listed {
		l.SubjectID, l.Chapter, l.Volume = 106, chapter, volume
		return l
	}
	for _, c := range []struct {
		name     string
		was, now catalogtest.Listed // now of Type 0 is not on the list
		marks    state
		wanted   []catalog.Mark
		lower    bool
		want     []string
		cannot   []string
		held     []string
		then     catalogtest.Listed // what it is then, if not was
		lines    int
		hides    bool
	}{
		{name: "nothing differs", was: entry(catalog.Done, 8, "good", "TV", "原创"), now: entry(catalog.Done, 8, "good", "原创", "TV"), want: []string{}, then: entry(catalog.Done, 8, "good", "原创", "TV")},
		{name: "gone", was: entry(catalog.Done, 8, "good", "TV"), want: []string{`POST {"type":2,"rate":8,"comment":"good","tags":["TV"],"private":true}`, `PATCH {"private":false}`}},
		{name: "gone, was hidden", was: hidden(entry(catalog.Doing, 0, "")), want: []string{`POST {"type":3,"private":true}`}},
		{name: "gone, with marks that come back", was: entry(catalog.Doing, 0, ""), marks: state{1001: 2}, wanted: marksOf(2, 1, 2), want: []string{`POST {"type":3,"private":true}`, `PATCH {"private":false}`, "PATCH [1002]=2"}, lines: 1},
		{name: "rated, told to nobody", was: entry(catalog.Done, 9, ""), now: entry(catalog.Done, 7, ""), want: []string{`PATCH {"rate":9}`}},
		{name: "rated lower", was: entry(catalog.Done, 7, ""), now: entry(catalog.Done, 9, ""), want: []string{}, held: []string{"entry_held_rating"}, then: entry(catalog.Done, 9, "")},
		{name: "rated lower, allowed", was: entry(catalog.Done, 0, ""), now: entry(catalog.Done, 9, ""), lower: true, want: []string{`PATCH {"rate":0}`}},
		{name: "state on, shown", was: entry(catalog.Done, 9, ""), now: entry(catalog.Doing, 9, ""), want: []string{`PATCH {"type":2,"private":true}`, `PATCH {"private":false}`}},
		{name: "state on, hidden", was: hidden(entry(catalog.Done, 9, "")), now: hidden(entry(catalog.Doing, 9, "")), want: []string{`PATCH {"type":2}`}},
		{name: "state on, hidden since", was: entry(catalog.Done, 9, ""), now: hidden(entry(catalog.Doing, 9, "")), want: []string{`PATCH {"type":2}`, `PATCH {"private":false}`}},
		{name: "state on, shown since", was: hidden(entry(catalog.Done, 9, "")), now: entry(catalog.Doing, 9, ""), want: []string{`PATCH {"type":2,"private":true}`}},
		{name: "state back", was: entry(catalog.Doing, 0, "text"), now: entry(catalog.Done, 0, ""), want: []string{`PATCH {"comment":"text"}`}, held: []string{"entry_held_state"}, then: entry(catalog.Done, 0, "text")},
		{name: "state back, allowed", was: entry(catalog.Dropped, 0, ""), now: entry(catalog.Done, 0, ""), lower: true, want: []string{`PATCH {"type":5,"private":true}`, `PATCH {"private":false}`}},
		{name: "text emptied", was: entry(catalog.Done, 0, ""), now: entry(catalog.Done, 0, "new", "TV"), want: []string{}, held: []string{"entry_held_comment", "entry_held_tags"}, then: entry(catalog.Done, 0, "new", "TV")},
		{name: "text emptied, allowed", was: entry(catalog.Done, 0, ""), now: entry(catalog.Done, 0, "new", "TV"), lower: true, want: []string{`PATCH {"comment":"","tags":[]}`}},
		{name: "text of before", was: entry(catalog.Done, 0, "old", "原创"), now: entry(catalog.Done, 0, "new", "TV", "科幻"), want: []string{`PATCH {"comment":"old","tags":["原创"]}`}},
		{name: "longest comment", was: entry(catalog.Done, 0, longest), now: entry(catalog.Done, 0, ""), want: []string{`PATCH {"comment":"` + longest + `"}`}},
		{name: "comment too long", was: entry(catalog.Done, 9, long), now: entry(catalog.Done, 0, ""), want: []string{`PATCH {"rate":9}`}, cannot: []string{"entry_comment_long"}, then: entry(catalog.Done, 9, "")},
		{name: "short tag", was: entry(catalog.Done, 0, "", "x", "TV"), now: entry(catalog.Done, 0, ""), want: []string{`PATCH {"tags":["TV"]}`}, cannot: []string{"entry_tags_refused"}, then: entry(catalog.Done, 0, "", "TV")},
		{name: "short tag, repeated", was: entry(catalog.Done, 0, "", "x", "TV"), now: entry(catalog.Done, 0, "", "TV"), want: []string{}, cannot: []string{"entry_tags_refused"}, then: entry(catalog.Done, 0, "", "TV")},
		{name: "short tag that would go", was: entry(catalog.Done, 0, "", "x", "TV"), now: entry(catalog.Done, 0, "", "x"), want: []string{}, cannot: []string{"entry_tags_refused"}, then: entry(catalog.Done, 0, "", "x")},
		{name: "comment that is refused", was: entry(catalog.Done, 9, "bad\u0001", "TV"), now: entry(catalog.Doing, 0, ""), want: []string{`PATCH {"type":2,"rate":9,"private":true}`, `PATCH {"tags":["TV"]}`, `PATCH {"private":false}`}, cannot: []string{"entry_part_refused"}, then: entry(catalog.Done, 9, "", "TV")},
		{name: "rating of a wish", was: entry(catalog.Wish, 8, ""), want: []string{`POST {"type":1,"private":true}`, `PATCH {"private":false}`}, cannot: []string{"entry_rating_of_wish"}, then: entry(catalog.Wish, 0, "")},
		{name: "rating of a wish that has it", was: entry(catalog.Wish, 8, ""), now: entry(catalog.Doing, 8, ""), lower: true, want: []string{`PATCH {"type":1,"private":true}`, `PATCH {"private":false}`}},
		{name: "word filter", was: entry(catalog.Done, 0, "forbidden"), now: entry(catalog.Doing, 0, ""), want: []string{`PATCH {"type":2,"comment":"forbidden","private":true}`, `PATCH {"private":false}`}, cannot: []string{"entry_word_filter"}, then: hidden(entry(catalog.Done, 0, "forbidden")), hides: true},
		{name: "marks", was: entry(catalog.Doing, 0, ""), now: entry(catalog.Doing, 0, ""), marks: state{1001: 2}, wanted: append(marksOf(2, 1, 2, 3), marksOf(3, 4)...), want: []string{"PATCH [1002 1003]=2", "PATCH [1004]=3"}, lines: 1},
		{name: "other marks", was: entry(catalog.Doing, 0, ""), now: entry(catalog.Doing, 0, ""), marks: state{1001: 3, 1002: 1}, wanted: marksOf(2, 1, 2), want: []string{"PATCH [1001 1002]=0", "PATCH [1001 1002]=2"}, lines: 1},
		{name: "marks of another id, and gone ones", was: entry(catalog.Doing, 0, ""), now: entry(catalog.Doing, 0, ""), wanted: []catalog.Mark{{Episode: 501, Sort: 2, State: 2}, {Episode: 502, Sort: 9, State: 2}}, want: []string{"PATCH [1002]=2"}, cannot: []string{"entry_episodes_gone"}, lines: 1},
		{name: "marks to take away", was: entry(catalog.Doing, 0, ""), now: entry(catalog.Doing, 0, ""), marks: state{1001: 2, 1002: 2}, wanted: marksOf(2, 1), want: []string{}, held: []string{"entry_held_marks"}},
		{name: "marks to take away, allowed", was: entry(catalog.Doing, 0, ""), now: entry(catalog.Doing, 0, ""), marks: state{1001: 2, 1002: 2}, wanted: marksOf(2, 1), lower: true, want: []string{"PATCH [1002]=0"}},
		{name: "watched to dropped", was: entry(catalog.Doing, 0, ""), now: entry(catalog.Doing, 0, ""), marks: state{1001: 2}, wanted: marksOf(3, 1), want: []string{}, held: []string{"entry_held_marks"}},
		{name: "book", was: book(entry(catalog.Doing, 0, ""), 12, 3), now: book(entry(catalog.Doing, 0, ""), 10, 3), want: []string{`PATCH {"private":true,"ep_status":12}`, `PATCH {"private":false}`}},
		{name: "book, back", was: book(entry(catalog.Doing, 0, ""), 12, 3), now: book(entry(catalog.Doing, 0, ""), 10, 4), want: []string{`PATCH {"private":true,"ep_status":12}`, `PATCH {"private":false}`}, held: []string{"entry_held_number"}, then: book(entry(catalog.Doing, 0, ""), 12, 4)},
		{name: "book, gone", was: book(entry(catalog.Doing, 0, ""), 12, 3), now: book(entry(0, 0, ""), 0, 0), want: []string{`POST {"type":3,"private":true,"ep_status":12,"vol_status":3}`, `PATCH {"private":false}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, client := house(t, catalogtest.Config{Filter: []string{"forbidden"}})
			s.AddSubject(catalogtest.Subject{ID: 106, Type: catalog.Book, Name: "本"})
			kind := catalog.Anime
			if c.was.SubjectID == 0 {
				c.was.SubjectID = 100
			} else {
				kind = catalog.Book
			}
			c.now.SubjectID = c.was.SubjectID
			if c.now.Username = "mira"; c.now.Type != 0 {
				must(t, s.Put(c.now))
			}
			for id, mark := range c.marks {
				must(t, s.SetMark("mira", id, mark))
			}
			wanted := catalog.As(catalog.Entry{Subject: c.was.SubjectID, SubjectType: kind, Type: c.was.Type, Rate: c.was.Rate, Comment: c.was.Comment, Tags: append([]string{}, c.was.Tags...),
				Private: c.was.Private, Marked: c.was.Chapter, Volume: c.was.Volume}, c.wanted)
			wanted.Lower = c.lower
			begun := 0
			req := catalog.PutRequest{ListEntry: entryOf(client, c.was.SubjectID), Wanted: wanted, Begin: func(_ context.Context, change catalog.Change) error {
				begun++
				if begun == 1 && (change.Empty() || len(s.Writes()) > 0) {
					t.Errorf("told of %+v after %v", change, sent(s))
				}
				return nil
			}}
			marker := catalog.NewMarker()
			got, err := marker.Put(t.Context(), req)
			must(t, err)
			if diff := cmp.Diff(c.want, sent(s)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.cannot, codes(got.Cannot)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.held, codes(got.Held)); diff != "" {
				t.Error(diff)
			}
			if len(got.Failed) > 0 || got.Hidden != c.hides || got.Lines() != c.lines || s.Timeline() != c.lines || begun != min(1, len(c.want)) {
				t.Errorf("%+v: %d lines, told %d times before", got, s.Timeline(), begun)
			}
			then := c.was
			if c.then.Type != 0 {
				then = c.then
				then.SubjectID = c.was.SubjectID
			}
			then.Username = "mira"
			if diff := cmp.Diff([]catalogtest.Listed{then}, s.Listed("mira"), sorted); diff != "" {
				t.Error(diff)
			}
			if c.hides {
				return // its next try is the caller's to leave
			}
			before := len(s.Writes())
			if _, err := marker.Put(t.Context(), req); err != nil || len(s.Writes()) != before {
				t.Errorf("twice: %v, %v", sent(s)[before:], err)
			}
		})
	}
}

// sorted compares tags without their order, which is not kept.
var sorted = cmp.Transformer("tags", func(tags []string) string { return strings.Join(slices.Sorted(slices.Values(tags)), " ") })

func TestWhatWasPutIsTakenBack(t *testing.T) {
	s, client := house(t, catalogtest.Config{})
	before := catalogtest.Listed{Username: "mira", SubjectID: 100, Type: catalog.Doing, Rate: 9, Comment: "mine", Tags: []string{"TV"}}
	must(t, s.Put(before))
	must(t, s.SetMark("mira", 1001, catalog.EpisodeDropped))
	put := func(w catalog.Wanted) catalog.PutResult {
		got, err := catalog.NewMarker().Put(t.Context(), catalog.PutRequest{ListEntry: entryOf(client, 100), Wanted: w, Begin: func(context.Context, catalog.Change) error { return nil }})
		must(t, err)
		return got
	}
	w := catalog.As(catalog.Entry{SubjectType: catalog.Anime, Type: catalog.Done, Rate: 10, Comment: "theirs", Tags: []string{"TV", "原创"}}, marksOf(2, 1, 2, 3))
	got := put(w)
	back := func() catalog.Wanted {
		b, sent := got.Back, got.Sent
		b.Lower, b.Only = true, &sent
		text, err := json.Marshal(b) // it is stored meanwhile
		must(t, err)
		var again catalog.Wanted
		must(t, json.Unmarshal(text, &again))
		return again
	}
	put(back())
	if diff := cmp.Diff([]catalogtest.Listed{before}, s.Listed("mira")); diff != "" || len(s.Marks()) != 1 || s.Marks()[0].Type != catalog.EpisodeDropped {
		t.Errorf("%s %+v", diff, s.Marks())
	}
	t.Run("but not what somebody changed since", func(t *testing.T) {
		got = put(w)
		must(t, s.Put(catalogtest.Listed{Username: "mira", SubjectID: 100, Type: catalog.Done, Rate: 3, Comment: "theirs", Tags: []string{"x2"}}))
		must(t, s.SetMark("mira", 1002, catalog.EpisodeWish))
		left := put(back())
		if diff := cmp.Diff([]catalogtest.Listed{{Username: "mira", SubjectID: 100, Type: catalog.Doing, Rate: 3, Comment: "mine", Tags: []string{"x2"}}}, s.Listed("mira")); diff != "" {
			t.Error(diff)
		}
		if marks := s.Marks(); len(marks) != 2 || marks[0].Type != catalog.EpisodeDropped || marks[1].Type != catalog.EpisodeWish || !slices.Equal(codes(left.Cannot), []string{"entry_changed_since"}) {
			t.Errorf("%+v %v", marks, codes(left.Cannot))
		}
	})
	t.Run("an entry that was made is dropped and hidden", func(t *testing.T) {
		s.Remove("mira", 100, true)
		got = put(w)
		put(back())
		if now := s.Listed("mira"); now[0].Type != catalog.Dropped || !now[0].Private || len(s.Marks()) != 0 {
			t.Errorf("%+v %+v", now, s.Marks())
		}
	})
	t.Run("one that was removed since stays away", func(t *testing.T) {
		s.Remove("mira", 100, true)
		if put(back()); len(s.Listed("mira")) != 0 {
			t.Errorf("%+v", s.Listed("mira"))
		}
	})
}

func TestAChangeThatWasCutOff(t *testing.T) {
	s, client := house(t, catalogtest.Config{})
	must(t, s.Put(catalogtest.Listed{Username: "mira", SubjectID: 100, Type: catalog.Doing}))
	w := catalog.Wanted{Type: catalog.Done}
	put := func(w catalog.Wanted) (told catalog.Change, got catalog.PutResult) {
		got, err := catalog.NewMarker().Put(t.Context(), catalog.PutRequest{ListEntry: entryOf(client, 100), Wanted: w, Begin: func(_ context.Context, c catalog.Change) error { told = c; return nil }})
		must(t, err)
		return told, got
	}
	told, _ := put(w)
	must(t, s.Put(catalogtest.Listed{Username: "mira", SubjectID: 100, Type: catalog.Done, Private: true})) // what a crash after the first request leaves
	w.Private = new(false)
	_, rest := put(w)
	if !told.Quiet || s.Listed("mira")[0].Private {
		t.Errorf("%+v is left", s.Listed("mira"))
	}
	both := told.Then(rest.Change)
	if both.Back.Type != catalog.Doing || both.Back.Private != nil || both.Sent.Private != nil {
		t.Errorf("the way back of both is %+v", both.Back)
	}
}

func TestAnEntryThatTakesNothing(t *testing.T) {
	s, client := house(t, catalogtest.Config{})
	s.AddSubject(catalogtest.Subject{ID: 107, Type: catalog.Anime, Name: "locked", Locked: true}, catalogtest.Subject{ID: 108, Type: catalog.Anime, Name: "adult", NSFW: true})
	must(t, s.Collect("mira", 107, catalog.Wish, false))
	s.SetUser(catalogtest.User{ID: 7, Username: "mira", Token: token, Young: true})
	for subject, want := range map[catalog.SubjectID]string{103: "entry_locked", 107: "entry_locked", 108: "entry_hidden"} {
		got, err := catalog.NewMarker().Put(t.Context(), catalog.PutRequest{
			ListEntry: entryOf(client, subject), Wanted: catalog.As(catalog.Entry{SubjectType: catalog.Anime, Type: catalog.Done, Rate: 7}, []catalog.Mark{}),
			Begin: func(context.Context, catalog.Change) error { return nil },
		})
		if err != nil || !slices.Equal(codes(got.Cannot), []string{want}) || !got.Empty() {
			t.Errorf("%d: %+v %v, want %s", subject, got, err, want)
		}
	}
	if len(s.Writes()) != 0 {
		t.Error(sent(s))
	}
}

func TestAPutWhoseAnswersAreLost(t *testing.T) {
	w := catalog.As(catalog.Entry{SubjectType: catalog.Anime, Type: catalog.Done, Rate: 10, Comment: "text", Tags: []string{}}, marksOf(2, 1, 2))
	for _, fault := range []catalogtest.Fault{
		{Mode: catalogtest.Cut, Paths: catalogtest.Writes}, // done, and not answered
		{Mode: catalogtest.Status, Status: http.StatusBadGateway, Paths: catalogtest.Writes, Times: 1},
		{Mode: catalogtest.Refuse, Paths: catalogtest.Writes, Times: 1},
	} {
		t.Run(string(fault.Mode), func(t *testing.T) {
			s, client := house(t, catalogtest.Config{})
			must(t, s.Collect("mira", 100, catalog.Doing, false))
			must(t, s.SetFault(fault))
			req := catalog.PutRequest{ListEntry: entryOf(client, 100), Wanted: w, Begin: func(context.Context, catalog.Change) error { return nil }}
			for try := 0; ; try++ { // each by a marker of its own, as after a crash
				_, err := catalog.NewMarker().Put(t.Context(), req)
				if err == nil {
					break
				}
				if !errors.Is(err, catalog.ErrUnreachable) || try > 5 {
					t.Fatal(err)
				}
				<-time.After(10 * time.Millisecond)
			}
			want := []string{`PATCH {"type":2,"rate":10,"comment":"text","private":true}`, `PATCH {"private":false}`, "PATCH [1001 1002]=2"}
			if diff := cmp.Diff(want, sent(s)); diff != "" || s.Timeline() != 1 {
				t.Errorf("%s, %d lines", diff, s.Timeline())
			}
		})
	}
	s, client := house(t, catalogtest.Config{})
	must(t, s.Collect("mira", 100, catalog.Doing, false))
	failed := errors.New("it cannot be stored")
	if _, err := catalog.NewMarker().Put(t.Context(), catalog.PutRequest{ListEntry: entryOf(client, 100), Wanted: w, Begin: func(context.Context, catalog.Change) error { return failed }}); !errors.Is(err, failed) || len(s.Writes()) > 0 {
		t.Errorf("%v %v", err, sent(s))
	}
}

func TestNumbersOfEpisodes(t *testing.T) {
	all := append(marksOf(2, 3, 1, 2, 5, 7.5, 11, 12), catalog.Mark{Kind: catalog.Special, Sort: 1}, catalog.Mark{Kind: catalog.Special, Sort: 2}, catalog.Mark{Kind: catalog.Special, Sort: 13})
	if got := catalog.Numbers(all); got != "1–3 5 7.5 11–12 SP1–2 SP13" {
		t.Error(got)
	}
}
