package app_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/logtest"
	"watchmark/internal/testkit/postgrestest"
)

// replicas starts services on one database in PostgreSQL, and on one catalog.
func replicas(t *testing.T, n int) []*service {
	t.Helper()
	address := postgrestest.Schema(t, postgrestest.Shared(t).URL())
	list, catalog := catalogtest.Start(t, catalogtest.Config{Users: []catalogtest.User{{Username: "mira", Token: miraToken}}})
	if err := list.LoadSample(); err != nil {
		t.Fatal(err)
	}
	all := make([]*service, n)
	for i := range all {
		all[i] = &service{t: t, list: list, dir: t.TempDir(), logs: &logtest.Buffer{}}
		if i > 0 {
			all[i].key = all[0].key
		}
		all[i].run([]string{
			"WATCHMARK_DATABASE_URL=" + address, "WATCHMARK_SECRET_KEY=" + strings.Repeat("ab", 32), "WATCHMARK_SERVER_METRICS=true",
			"WATCHMARK_CATALOG_API_URL=" + catalog, "WATCHMARK_CATALOG_WEB_URL=" + catalog, "WATCHMARK_CATALOG_IMAGE_URL=" + catalog,
		})
	}
	return all
}

func TestAReplicaThatStopsIsNotReadyAndStillTakesWebhooks(t *testing.T) {
	t.Parallel()
	all := replicas(t, 2)
	stays, goes := all[0], all[1]
	for _, s := range all {
		if got := s.do(s.request(http.MethodGet, "/health", "", "")); got.status != http.StatusOK {
			t.Fatalf("at first it is not ready: %s", got.body)
		}
	}
	var seen struct {
		Database struct{ Engine string }
		Replicas []struct {
			Self, Reachable bool
			State, Egress   string
		}
	}
	stays.api(http.MethodGet, "/api/replicas", "", http.StatusOK, &seen)
	if seen.Database.Engine != "PostgreSQL" || len(seen.Replicas) != 2 || seen.Replicas[0].Self == seen.Replicas[1].Self || seen.Replicas[1].State != "live" || seen.Replicas[0].Egress != "shared" {
		t.Errorf("the replicas are %+v", seen)
	}
	began := time.Now()
	var stopping sync.WaitGroup
	stopping.Go(goes.stop)
	eventually(t, "it says that it is not ready", func() bool {
		return goes.do(goes.request(http.MethodGet, "/health", "", "")).status == http.StatusServiceUnavailable
	})
	if got := goes.do(goes.request(http.MethodGet, "/health/live", "", "")); got.status != http.StatusOK {
		t.Errorf("it is not even alive: %s", got.body)
	}
	if got := goes.do(goes.request(http.MethodPost, "/webhook/custom/"+goes.hook, "application/json", `{"event":"watched","title":"x","season":1,"episode":1,"user_name":"mira"}`)); got.status != http.StatusAccepted {
		t.Errorf("a webhook while it drains: %d %s", got.status, got.body)
	}
	if got := stays.do(stays.request(http.MethodGet, "/health", "", "")); got.status != http.StatusOK {
		t.Errorf("the other one is not ready: %s", got.body)
	}
	stopping.Wait()
	if took := time.Since(began); took < 5*time.Second {
		t.Errorf("it ended after %v: no balancer sees that", took)
	}
	// Its row is gone, so the last one waits for nobody.
	before := stays.logs.String()
	stays.stop()
	if strings.Contains(strings.TrimPrefix(stays.logs.String(), before), "balancers") {
		t.Error("the last replica waits for a balancer")
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so after 30 seconds: %s", what)
		}
	}
}
