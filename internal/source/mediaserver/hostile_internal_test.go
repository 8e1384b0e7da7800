package mediaserver

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestAFloodIsReadAtAPace has a server send faster than anybody watches.
func TestAFloodIsReadAtAPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, began := newPace(), time.Now()
		if err := p.take(t.Context(), 8<<20); err != nil || time.Since(began) > 0 {
			t.Errorf("one long message waits %s: %v", time.Since(began), err)
		}
		for range 100_000 {
			if err := p.take(t.Context(), 200); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took < time.Minute {
			t.Errorf("100 000 messages are read within %s", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if p.take(ctx, 8<<20) == nil {
			t.Error("it waits on after its end")
		}
	})
}

// TestNotesOfAPlexAreBounded has a message of many empty rows.
func TestNotesOfAPlexAreBounded(t *testing.T) {
	for _, text := range []string{
		`{"PlaySessionStateNotification":[` + strings.Repeat(`{},`, mostPlexValues) + `{"sessionKey":"1","state":"stopped"}]}`,
		`[` + strings.Repeat(`{},`, mostPlexValues) + `{"sessionKey":"1","state":"stopped"}]`,
		strings.Repeat(`{"PlaySessionStateNotification":`, 20_000),
		"{\"NotificationContainer\":\"\xff\xfe\"}",
	} {
		if notes := plexNotes([]byte(text)); len(notes) != 0 {
			t.Errorf("%d notes of %.60s", len(notes), text)
		}
	}
}
