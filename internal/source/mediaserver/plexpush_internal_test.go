package mediaserver

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPlexNotesAreReadInEachShape(t *testing.T) {
	const one = `{"sessionKey":"12","ratingKey":"4812","viewOffset":1320000,"state":"playing"}`
	twelve := []plexNote{{session: "12", item: "4812"}}
	for name, test := range map[string]struct {
		message string
		want    []plexNote
	}{
		"a list in its container":        {`{"NotificationContainer":{"type":"playing","size":1,"PlaySessionStateNotification":[` + one + `]}}`, twelve},
		"an object in its container":     {`{"NotificationContainer":{"PlaySessionStateNotification":` + one + `}}`, twelve},
		"a list without container":       {`{"PlaySessionStateNotification":[` + one + `]}`, twelve},
		"an object without container":    {`{"PlaySessionStateNotification":` + one + `}`, twelve},
		"the inner object alone":         {one, twelve},
		"the inner objects alone":        {"[" + one + "," + one + "]", append(twelve, twelve...)},
		"numbers for texts":              {`{"sessionKey":12,"ratingKey":4812,"time":1320,"state":"playing"}`, twelve},
		"a stop":                         {`{"sessionKey":"12","ratingKey":"4812","state":"stopped"}`, []plexNote{{"12", "4812", true}}},
		"several, with one of no use":    {`{"NotificationContainer":{"size":3,"PlaySessionStateNotification":[` + one + `,{"state":"playing"},{"sessionKey":"13","state":"Stopped"}]}}`, append(twelve, plexNote{session: "13", stopped: true})},
		"another kind of notification":   {`{"NotificationContainer":{"type":"timeline","size":1,"TimelineEntry":[{"itemID":"1","state":5}]}}`, nil},
		"a ping":                         {`{}`, nil},
		"no JSON":                        {`<html>`, nil},
		"a number":                       {`7`, nil},
		"a list of numbers":              {`[1,2]`, nil},
		"a container that is a text":     {`{"NotificationContainer":"x"}`, nil},
		"a session without what it does": {`{"sessionKey":"12"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, plexNotes([]byte(test.message)), cmp.AllowUnexported(plexNote{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if n := len(plexNotes([]byte("[" + strings.Repeat(one+",", 1000) + one + "]"))); n > mostPlexNotes {
		t.Errorf("%d notes of one message", n)
	}
}

func FuzzPlexNotes(f *testing.F) {
	for _, seed := range []string{`{"NotificationContainer":{"PlaySessionStateNotification":[{"sessionKey":"1","ratingKey":"2","state":"stopped"}]}}`, `[{}]`, `{"PlaySessionStateNotification":{}}`, "", "null"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		notes := plexNotes(message)
		if len(notes) > mostPlexNotes {
			t.Fatalf("%d notes", len(notes))
		}
		p := newPlexSessions(len(message)%2 == 0)
		now := time.Unix(0, 0)
		p.note(now, notes)
		if items, _, wait := p.step(now); len(items) > len(notes) || wait <= 0 {
			t.Fatalf("%d items of %d notes, wait %s", len(items), len(notes), wait)
		}
	})
}

// TestPlexSessionsTellWhatEnds plays sessions at moments in seconds.
func TestPlexSessionsTellWhatEnds(t *testing.T) {
	playing := func(session, item string) plexNote { return plexNote{session: session, item: item} }
	stopped := func(session, item string) plexNote { return plexNote{session, item, true} }
	type event struct {
		at      int
		notes   []plexNote
		playing []plexPlaying // what the owner is told when it is asked; nil when that fails
	}
	type told struct {
		at    int
		items []string
	}
	for name, test := range map[string]struct {
		owner  bool
		events []event
		want   []told
	}{
		"a stop is told at once and again": {events: []event{{at: 0, notes: []plexNote{playing("1", "7")}}, {at: 60, notes: []plexNote{stopped("1", "7")}}},
			want: []told{{60, []string{"7"}}, {62, []string{"7"}}, {75, []string{"7"}}}},
		"the next episode ends the one before": {events: []event{{at: 0, notes: []plexNote{playing("1", "7")}}, {at: 60, notes: []plexNote{playing("1", "8")}}, {at: 120, notes: []plexNote{playing("1", "8")}}},
			want: []told{{60, []string{"7"}}, {62, []string{"7"}}, {75, []string{"7"}}, {240, []string{"8"}}, {242, []string{"8"}}, {255, []string{"8"}}}},
		"a session that goes silent is over": {events: []event{{at: 0, notes: []plexNote{playing("1", "7")}}, {at: 100, notes: []plexNote{playing("1", "7")}}},
			want: []told{{220, []string{"7"}}, {222, []string{"7"}}, {235, []string{"7"}}}},
		"two sessions at once": {events: []event{{at: 0, notes: []plexNote{playing("1", "7"), playing("2", "9")}}, {at: 5, notes: []plexNote{stopped("1", "7"), stopped("2", "9")}}},
			want: []told{{5, []string{"7", "9"}}, {7, []string{"7", "9"}}, {20, []string{"7", "9"}}}},
		"a stop without a session before, of the person's own stream": {events: []event{{at: 3, notes: []plexNote{stopped("1", "7")}}},
			want: []told{{3, []string{"7"}}, {5, []string{"7"}}, {18, []string{"7"}}}},
		"sessions of others are left alone": {owner: true, events: []event{
			{at: 0, notes: []plexNote{playing("1", "7"), playing("2", "9")}, playing: []plexPlaying{{"1", "1", "7"}, {"2", "101", "9"}}},
			{at: 60, notes: []plexNote{stopped("1", "7"), stopped("2", "9")}}},
			want: []told{{60, []string{"7"}}, {62, []string{"7"}}, {75, []string{"7"}}}},
		"whose a session is, is asked again": {owner: true, events: []event{
			{at: 0, notes: []plexNote{playing("1", "7")}},
			{at: 20, notes: []plexNote{playing("1", "7")}, playing: []plexPlaying{{"1", "1", "7"}}},
			{at: 60, notes: []plexNote{stopped("1", "7")}}},
			want: []told{{60, []string{"7"}}, {62, []string{"7"}}, {75, []string{"7"}}}},
		"a session is told whose owner is not found out": {owner: true, events: []event{
			{at: 0, notes: []plexNote{playing("1", "7")}}, {at: 60, notes: []plexNote{stopped("1", "7")}}},
			want: []told{{60, []string{"7"}}, {62, []string{"7"}}, {75, []string{"7"}}}},
		"a session is told that is over before it is asked whose it is": {owner: true, events: []event{{at: 3, notes: []plexNote{playing("1", "7"), stopped("1", "7")}}},
			want: []told{{3, []string{"7"}}, {5, []string{"7"}}, {18, []string{"7"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlexSessions(test.owner)
			var got []told
			var answer []plexPlaying
			events := test.events
			for second := range 400 {
				now := time.Unix(int64(second), 0)
				for len(events) > 0 && events[0].at == second {
					answer = events[0].playing
					p.note(now, events[0].notes)
					events = events[1:]
				}
				items, ask, wait := p.step(now)
				if wait <= 0 {
					t.Fatalf("at %d it waits %s", second, wait)
				}
				if len(items) > 0 {
					got = append(got, told{second, items})
				}
				if ask {
					p.attribute(now, answer)
				}
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(told{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(p.live) > 0 || len(p.due) > 0 {
				t.Errorf("%d sessions and %d items are kept", len(p.live), len(p.due))
			}
		})
	}
}

func TestPlexSessionsAreBounded(t *testing.T) {
	p := newPlexSessions(false)
	for i := range 5000 {
		p.note(time.Unix(0, 0), []plexNote{{session: string(rune(i + 1000)), item: string(rune(i + 1000))}})
	}
	if len(p.live) > mostPlexSessions {
		t.Errorf("%d sessions are followed", len(p.live))
	}
}

func TestPlexStreamIsReadByEvents(t *testing.T) {
	s := newPlexStream(io.NopCloser(strings.NewReader("event: ping\ndata: {}\n\n: comment\nevent: playing\nid: 4\ndata: {\"a\":\ndata: 1}\n\ndata: cut")))
	for _, want := range []string{"{}\n", "{\"a\":\n1}\n"} {
		if data, err := s.Read(); string(data) != want || err != nil {
			t.Errorf("%q, %v; want %q", data, err, want)
		}
	}
	if data, err := s.Read(); err == nil {
		t.Errorf("%q is read where the stream was cut", data)
	}
	endless := newPlexStream(io.NopCloser(strings.NewReader("data: " + strings.Repeat("x", 2*mostPlexEvent))))
	if data, err := endless.Read(); err == nil {
		t.Errorf("an event of %d bytes is read", len(data))
	}
}
