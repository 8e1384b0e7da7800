package catalog_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/budget"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/secret"
	"watchmark/internal/testkit/dbtest"
)

// banning is a catalog that bans by the address or by the owner of a token.
type banning struct {
	url string

	mu     sync.Mutex
	banned map[string]bool // by token; "" is the address
	asked  int
}

func startBanning(t *testing.T) *banning {
	t.Helper()
	s := &banning{banned: map[string]bool{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *banning) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked++
	banned := s.banned[r.Header.Get("Authorization")]
	s.mu.Unlock()
	if banned {
		say(http.StatusTooManyRequests, asJSON, `{"title":"Too Many Request"}`)(w, r)
		return
	}
	say(http.StatusOK, asJSON, `{"id":8,"username":"mira","data":[],"total":0}`)(w, r)
}

func (s *banning) ban(who string, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.banned[who] = is
}

func (s *banning) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// start is a client of it as a service has one that starts on a database.
func (s *banning) start(t *testing.T, d *db.DB, perAccount bool) *catalog.Client {
	t.Helper()
	c := connect(t, s.url, 5*time.Second)
	b, err := budget.New(t.Context(), budget.Config{DB: d, Log: slog.New(slog.DiscardHandler), Options: func(string) budget.Options {
		return budget.Options{PerMinute: 60000, Burst: 1000, Egress: "shared", PerAccount: perAccount}
	}})
	must(t, err)
	c.Keep(b)
	return c
}

func TestABanOutlivesARestart(t *testing.T) {
	s, d := startBanning(t), dbtest.Open(t)
	s.ban("", true)
	if _, err := s.start(t, d, false).Subject(t.Context(), 8); !errors.Is(err, catalog.ErrUnreachable) || !catalog.Asked(err) {
		t.Fatal(err)
	}
	again, before := s.start(t, d, false), s.count()
	_, err := again.Subject(t.Context(), 8)
	if now := again.Reachability(); s.count() != before || !errors.Is(err, catalog.ErrUnreachable) || catalog.Asked(err) || now.Reachable || now.NextTrial.IsZero() ||
		catalog.Outage(err).Code != "outage_busy" {
		t.Errorf("after a restart %d requests were sent, the error is %v, known is %+v", s.count()-before, err, now)
	}
	s.ban("", false)
	for err := ping(t.Context(), again); err != nil; err = ping(t.Context(), again) { // replicas look once a second, whoever asks for it
		if !errors.Is(err, catalog.ErrUnreachable) || t.Context().Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if _, err := s.start(t, d, false).Subject(t.Context(), 8); err != nil {
		t.Errorf("after a restart when the ban is over: %v", err)
	}
}

func TestABanOfAnAccountHoldsNobodyElseUp(t *testing.T) {
	s, d := startBanning(t), dbtest.Open(t)
	s.ban("Bearer one", true)
	c := s.start(t, d, true)
	one, two := c.As(secret.Text("one")).Of(1), c.As(secret.Text("two")).Of(2)
	for _, asked := range []bool{true, false} {
		before := s.count()
		if _, err := one.Me(t.Context()); !errors.Is(err, catalog.ErrUnreachable) || catalog.Asked(err) != asked || (s.count() > before) != asked {
			t.Errorf("the banned account was asked for: %v, want %v (%v)", s.count() > before, asked, err)
		}
	}
	if _, err := two.Me(t.Context()); err != nil {
		t.Errorf("another account: %v", err)
	}
	if _, err := c.Subject(t.Context(), 8); err != nil || !c.Reachability().Reachable {
		t.Errorf("a look-up: %v, known is %+v", err, c.Reachability())
	}
}
