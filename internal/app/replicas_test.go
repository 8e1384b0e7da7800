package app_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/logtest"
)

// secretKey is the key of replicas, which is given to them.
const secretKey = "WATCHMARK_SECRET_KEY=6f1d0a4c5b3e29788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"

// startReplicas starts two services on one database.
func startReplicas(t *testing.T, second ...string) (here, there *service) {
	t.Helper()
	if !dbtest.OnServer() {
		t.Skip("replicas share a server; run with " + dbtest.Env + "=postgres")
	}
	here = start(t, secretKey)
	there = &service{t: t, list: here.list, dir: t.TempDir(), logs: &logtest.Buffer{}, catalog: here.catalog, key: here.key}
	there.run(append(append([]string{secretKey}, second...), there.catalog...))
	return here, there
}

// within waits until something holds that another replica is told of.
func (s *service) within(what string, holds func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s: it does not come about", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestReplicasKnowOfEachOthersChanges(t *testing.T) {
	here, there := startReplicas(t, "WATCHMARK_SYNC_WORKERS=3")
	if here.hook == "" || here.hook != there.hook {
		t.Error("they have two webhook keys")
	}

	here.api(http.MethodPatch, "/api/settings", `{"log":{"level":"debug"}}`, http.StatusOK, nil)
	there.within("a setting", func() bool { return strings.Contains(there.get("/api/settings").body, `"level":"debug"`) })

	here.api(http.MethodPost, "/api/blocked-keywords", `{"keyword":"Trailer","kind":"contains"}`, http.StatusCreated, nil)
	id := there.custom(`{"title":"A Trailer","season":1,"episode":1,"user_name":"Mira"}`)
	if r := there.settled(id); r.Status != "ignored" {
		t.Errorf("what is blocked at one replica comes out at another as %+v", r)
	}

	page := there.get("/settings/tools/log")
	if !strings.Contains(page.body, "This is the log of the replica ") {
		t.Error("the log does not tell whose it is")
	}
	if page := here.get("/settings"); !strings.Contains(page.body, "<code>sync.workers</code>") || strings.Contains(page.body, "<code>server.listen</code></span></p>") {
		t.Error("the settings do not tell what the replicas do not set alike")
	}
}

// login signs in by password and answers the cookie, which is empty when it is refused.
func (s *service) login(password string) (status int, cookie string) {
	s.t.Helper()
	got := s.do(s.request(http.MethodPost, "/api/login", "application/json", fmt.Sprintf(`{"name":"mira","password":%q}`, password)))
	for _, line := range got.header.Values("Set-Cookie") {
		if pair, _, _ := strings.Cut(line, ";"); strings.HasPrefix(pair, "watchmark_session=") {
			cookie = pair
		}
	}
	return got.status, cookie
}

func TestASignInHoldsAtEveryReplica(t *testing.T) {
	here, there := startReplicas(t)
	if err := here.app.SetUp(t.Context(), "mira", password); err != nil {
		t.Fatal(err)
	}
	status, cookie := here.login(password)
	if cookie == "" {
		t.Fatalf("the sign-in is answered %d", status)
	}

	// A page that is open at one replica hears of a record of the other one.
	request := there.request(http.MethodGet, "/live", "", "")
	request.Header.Set("Cookie", cookie)
	live, err := http.DefaultTransport.RoundTrip(request)
	if err != nil || live.StatusCode != http.StatusOK {
		t.Fatal(live, err)
	}
	defer func() { _ = live.Body.Close() }()
	id := here.custom(`{"title":"Star","season":1,"episode":1,"user_name":"nobody"}`)
	heard := bufio.NewScanner(live.Body)
	for heard.Scan() && !strings.HasPrefix(heard.Text(), "data: [") || !strings.Contains(heard.Text(), fmt.Sprint(id)) {
		if heard.Err() != nil || heard.Text() == "event: anything" {
			break
		}
	}
	if heard.Err() != nil {
		t.Errorf("the page hears nothing: %v", heard.Err())
	}

	for n, s := range []*service{here, there, here, there, here} {
		if status, _ := s.login("a guess"); status != http.StatusUnauthorized {
			t.Errorf("guess %d is answered %d", n+1, status)
		}
	}
	for _, s := range []*service{here, there} {
		if status, _ := s.login(password); status != http.StatusTooManyRequests {
			t.Errorf("after five guesses the sign-in is answered %d", status)
		}
	}
}
