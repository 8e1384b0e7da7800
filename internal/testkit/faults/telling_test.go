package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"
)

// listener receives webhooks slowly, so that a kill often meets a message on its way.
type listener struct {
	mu sync.Mutex
	// told is how many notices each message told of, by its id; again are ids that came twice.
	told  map[string]int
	again []string
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var message struct{ ID, Count string }
	if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	l.mu.Lock()
	if _, came := l.told[message.ID]; came {
		l.again = append(l.again, message.ID)
	}
	l.told[message.ID], _ = strconv.Atoi(message.Count)
	l.mu.Unlock()
	<-time.After(300 * time.Millisecond) // the answer takes its time
}

// notices sums up what was told.
func (l *listener) notices() (messages, notices int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, count := range l.told {
		notices += count
	}
	return len(l.told), notices
}

// TestNothingIsToldTwiceWhenKilled kills the service at any moment while it tells of events that
// nobody's account takes: each is told in one message, or said to be unsure, and few messages tell all.
func TestNothingIsToldTwiceWhenKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	t.Parallel()
	random := randomOf(seed(t), t.Name())
	heard := &listener{told: map[string]int{}}
	receiver := httptest.NewServer(heard)
	defer receiver.Close()
	s := serve(t, t.TempDir(), "http://127.0.0.1:9")
	var made struct{ ID int64 }
	s.call(http.StatusCreated, http.MethodPost, "/api/notification/webhooks", fmt.Sprintf(`{"name":"phone","config":{"url":%q}}`, receiver.URL), &made)

	const rounds, each = 4, 60
	accepted := 0
	for round := range rounds {
		for n := range each {
			body := fmt.Sprintf(`{"title":"Night Flight","season":1,"episode":1,"user_name":"guest %d-%d"}`, round, n)
			status, _, err := s.request(context.Background(), http.MethodPost, "/webhook/custom?key="+webhookKey, []byte(body))
			if err != nil || status != http.StatusAccepted {
				t.Fatalf("event %d is answered %d (%v)", n, status, err)
			}
			accepted++
		}
		// The first message goes out after three seconds.
		<-time.After(2500*time.Millisecond + time.Duration(random.Int64N(int64(1500*time.Millisecond))))
		s.restart()
	}
	s.settled()
	eventually(t, "nothing waits to be sent", func() bool {
		var phone struct{ Waiting int }
		s.call(http.StatusOK, http.MethodGet, fmt.Sprintf("/api/notification/webhooks/%d", made.ID), "", &phone)
		_, notices := heard.notices()
		return phone.Waiting == 0 && notices > 0
	})
	var states map[string]int
	eventually(t, "nothing is being sent", func() bool {
		states = s.deliveries()
		return states["waiting"]+states["sending"] == 0
	})
	messages, notices := heard.notices()
	t.Logf("%d events, %d messages, %d notices told, deliveries %v", accepted, messages, notices, states)
	if len(heard.again) > 0 || notices > accepted {
		t.Errorf("messages %v came twice; %d notices were told of %d events", heard.again, notices, accepted)
	}
	if states["sent"]+states["unsure"] != accepted || notices < states["sent"] {
		t.Errorf("of %d notices %v were sent, of which %d arrived", accepted, states, notices)
	}
	if messages > 4*rounds {
		t.Errorf("%d messages told of %d failures", messages, accepted)
	}
}

// deliveries counts what became of the notices of events without an account, by state.
func (s *service) deliveries() map[string]int {
	s.tb.Helper()
	states := map[string]int{}
	for cursor := ""; ; {
		var page struct {
			Items      []struct{ ID int64 }
			NextCursor string `json:"next_cursor"`
		}
		s.call(http.StatusOK, http.MethodGet, "/api/notification/inbox?kind=no_account&limit=200&cursor="+cursor, "", &page)
		for _, item := range page.Items {
			var notice struct{ Deliveries []struct{ State string } }
			s.call(http.StatusOK, http.MethodGet, fmt.Sprintf("/api/notification/inbox/%d", item.ID), "", &notice)
			for _, d := range notice.Deliveries {
				states[d.State]++
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			return states
		}
	}
}
