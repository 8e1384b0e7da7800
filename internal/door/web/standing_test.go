package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// TestTheQueueSaysNothingGoodAboveWhatFailed reads the page while the catalog answers.
func TestTheQueueSaysNothingGoodAboveWhatFailed(t *testing.T) {
	const good = "<h2>Bangumi answers</h2>"
	full, empty := newRig(t), newRig(t)
	full.fill(t)
	full.fillQueue(t)
	full.down, full.answered, empty.answered = time.Time{}, time.Now(), time.Now()
	for _, c := range []struct {
		name, path string
		rig        *rig
		good       bool
	}{
		{"what waits", "/records/queue", full, false},
		{"what was given up", "/records/queue?status=abandoned", full, false},
		{"nothing", "/records/queue", empty, true},
		{"nothing given up", "/records/queue?status=abandoned", empty, true},
	} {
		body := c.rig.get(t, c.rig.client(t, true), c.path, "en").body
		if says := strings.Contains(body, good); says != c.good {
			t.Errorf("above %s it says that the catalog answers: %v", c.name, says)
		}
	}
	empty.answered = time.Time{}
	mustContain(t, empty.get(t, empty.client(t, true), "/records/queue", "en").body, "Bangumi has not been asked yet")
}

// TestNothingIsCertainAndUncertain reads records that wait for a person.
func TestNothingIsCertainAndUncertain(t *testing.T) {
	g := newRig(t)
	in := g.client(t, true)
	for confidence, never := range map[float64]string{1: "uncertain", .996: "100 %", .9999: "100 %"} {
		id := g.addRecord(t, episode(watch.Plex, "mira", "show", "", 1, 1, ""), time.Now(), record.Outcome{Status: record.Review, SubjectID: 8, SubjectName: "show", Method: "api", Confidence: confidence,
			Message: value("two_fit", "show", "show II")}, account.Account{})
		for _, path := range []string{"/records", fmt.Sprintf("/records/%d", id)} {
			body := g.get(t, in, path, "en").body
			if strings.Contains(body, never) || strings.Contains(body, ">Confidence<") {
				t.Errorf("%s of a record at %v says %q, or how certain it is", path, confidence, never)
			}
		}
	}
}
