package faults

import (
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"watchmark/internal/platform/schedule"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/simulated"
)

// community is a service that many people use, of one replica or of several.
type community struct {
	tb      testing.TB
	catalog *catalogtest.Server
	url     string // of the catalog
	users   []string
	members []*service
	key     string       // of the API
	browser *http.Client // signed in
	// change runs statements in the database beside the service.
	change func(statements ...string)
}

// newCommunity makes accounts, and no replica yet.
func newCommunity(tb testing.TB, accounts int) *community {
	tb.Helper()
	c := &community{tb: tb, users: usersNamed(accounts)}
	c.catalog = catalogtest.New(catalogtest.Config{Users: people(c.users), AtomicMarks: true})
	must(tb, c.catalog.LoadSample())
	c.url = simulated.Start(tb, c.catalog)
	return c
}

// join adds a replica, which runs from now on.
func (c *community) join(data string, settings ...string) {
	c.tb.Helper()
	program, err := build()
	must(c.tb, err)
	s := newService(c.tb, program, data, append(append(environment(c.url), "WATCHMARK_NETWORK_TIMEOUT_SECONDS=10", "WATCHMARK_SERVER_METRICS=true"), settings...))
	s.start()
	if c.key == "" {
		s.makeKey()
		c.key = s.key
	}
	s.key = c.key
	c.members = append(c.members, s)
}

var setupToken = regexp.MustCompile(`/setup\?token=(\S+)`)

// found makes the administrator, who stays signed in, and the accounts, and fills the database with records of the last
// year: those of a few real plays again and again, at other times and of other people.
func (c *community) found(records int) {
	c.tb.Helper()
	first := c.members[0]
	token := setupToken.FindStringSubmatch(first.log.String())
	if token == nil {
		c.tb.Fatal("no setup link is printed")
	}
	jar, err := cookiejar.New(nil)
	must(c.tb, err)
	c.browser = &http.Client{Jar: jar, Timeout: patience}
	response, err := c.browser.Post(first.process().url+"/api/setup", "application/json", strings.NewReader(fmt.Sprintf(`{"token":%q,"name":"mira","password":"a long password"}`, token[1])))
	must(c.tb, err)
	must(c.tb, response.Body.Close())

	began := time.Now()
	first.addAccounts(c.users)
	c.tb.Logf("%d accounts were added in %v", len(c.users), time.Since(began).Round(time.Second))

	for _, e := range certain(c.tb) {
		first.call(http.StatusAccepted, http.MethodPost, webhookPath, string(event{e, c.users[0]}.body()), nil)
	}
	for n := range 200 { // questions, as the simulated catalog finds neighbours
		first.call(http.StatusAccepted, http.MethodPost, webhookPath, fmt.Sprintf(`{"title":"月影茶屋 外伝%d","season":1,"episode":1,"user_name":%q}`, n, c.users[n%len(c.users)]), nil)
	}
	for n := range 200 { // people without an account
		first.call(http.StatusAccepted, http.MethodPost, webhookPath, fmt.Sprintf(`{"title":"Night Flight","season":1,"episode":1,"user_name":"guest %d"}`, n), nil)
	}
	first.settled()
	counts := first.counts()
	began = time.Now()
	c.change(
		`CREATE TABLE load_samples AS SELECT ROW_NUMBER() OVER (ORDER BY id) - 1 AS n, id FROM records WHERE status = 'success'`,
		`CREATE TABLE load_people AS SELECT ROW_NUMBER() OVER (ORDER BY id) - 1 AS n, id, username FROM accounts`,
		// 1609 has no divisor in common with the numbers of people and of samples, so that everybody gets of everything.
		fmt.Sprintf(`WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
			INSERT INTO records (status, is_test, source, action, media_type, user_name, title, original_title, season, episode, release_date,
				account_id, account_name, subject_id, subject_name, episode_id, episode_sort, method, confidence, message, error_kind, attempts, event, source_label, created_at, updated_at)
			SELECT r.status, r.is_test, r.source, r.action, r.media_type, p.username, r.title, r.original_title, r.season, r.episode, r.release_date,
				p.id, p.username, r.subject_id, r.subject_name, r.episode_id, r.episode_sort, r.method, r.confidence, r.message, r.error_kind, r.attempts, r.event, r.source_label,
				CAST(r.created_at - (%[1]d - numbers.n) * (365 * 86400000.0 / %[1]d) AS BIGINT), CAST(r.updated_at - (%[1]d - numbers.n) * (365 * 86400000.0 / %[1]d) AS BIGINT)
			FROM numbers JOIN load_samples AS s ON s.n = (numbers.n * 1609) %% %[2]d JOIN load_people AS p ON p.n = numbers.n %% %[3]d JOIN records AS r ON r.id = s.id`,
			records, counts["success"], len(c.users)),
		`INSERT INTO traces (record_id, trace) SELECT r.id, t.trace FROM records AS r
			JOIN (SELECT r2.episode_id, MIN(t2.trace) AS trace FROM records AS r2 JOIN traces AS t2 ON t2.record_id = r2.id WHERE r2.status = 'success' GROUP BY r2.episode_id) AS t ON t.episode_id = r.episode_id
			WHERE r.id > (SELECT MAX(id) FROM records) - 100000 AND NOT EXISTS (SELECT 1 FROM traces WHERE traces.record_id = r.id)`,
		`DROP TABLE load_samples`, `DROP TABLE load_people`, `ANALYZE`)
	c.tb.Logf("%d records were added in %v; by hand there are %v", records, time.Since(began).Round(time.Second), counts)
	first.call(http.StatusAccepted, http.MethodPost, "/api/jobs/housekeeping/run", "", nil) // which counts the days of the year, as it does once an hour
	for running := true; running; <-time.After(100 * time.Millisecond) {
		var jobs struct {
			Items []schedule.JobStatus `json:"items"`
		}
		first.call(http.StatusOK, http.MethodGet, "/api/jobs", "", &jobs)
		running = slices.ContainsFunc(jobs.Items, func(j schedule.JobStatus) bool { return j.Name == "housekeeping" && j.Running })
	}
}

// pages are what people look at, and what programs ask for.
var pages = []struct{ name, path string }{
	{"dashboard", "/"}, {"records", "/records"}, {"records of a person", "/records?user=bench-77"}, {"records in a state", "/records?status=review"},
	{"search", "/records?q=flight"}, {"search without a hit", "/records?q=nothing+like+this"}, {"queue", "/records/queue"}, {"record", "/records/150"}, {"review", "/review"},
	{"inbox", "/inbox"}, {"titles", "/titles"}, {"sources", "/sources"}, {"people", "/people"}, {"messages", "/messages"}, {"summaries", "/messages/summaries"}, {"tasks", "/settings/tasks"},
	{"settings", "/settings"}, {"about", "/settings/about"}, {"counts", "/api/stats"}, {"accounts", "/api/accounts"}, {"metrics", "/metrics"}, {"health", "/health"},
}

// look asks each page so many times, of any replica, and logs how long that takes, and how long the first answers of the replicas took,
// which have no statement of the page prepared yet.
func (c *community) look(b *testing.B, times int) {
	b.Helper()
	worst := load{times: []time.Duration{0}}
	var lines strings.Builder
	for _, page := range pages {
		var l load
		var first time.Duration
		size := int64(0)
		for n := range len(c.members) + times {
			began := time.Now()
			response, err := c.browser.Get(c.members[n%len(c.members)].process().url + page.path)
			must(b, err)
			size, err = io.Copy(io.Discard, response.Body)
			must(b, err)
			must(b, response.Body.Close())
			if took := time.Since(began); n < len(c.members) {
				first = max(first, took)
			} else {
				l.times = append(l.times, took)
			}
			if response.StatusCode != http.StatusOK {
				b.Fatalf("%s is answered %d", page.path, response.StatusCode)
			}
		}
		slices.Sort(l.times)
		if l.quantile(0.99) > worst.quantile(0.99) {
			worst = l
		}
		fmt.Fprintf(&lines, "\n%-22s median %7.1f ms, 99 %% %7.1f ms, first %7.1f ms, %7d bytes", page.name, l.quantile(0.5), l.quantile(0.99), float64(first.Microseconds())/1000, size)
	}
	b.Log(lines.String())
	b.ReportMetric(worst.quantile(0.99), "page-p99-ms")
}

// work sends n different webhooks as fast as they are answered, and waits until all are marked.
func (c *community) work(b *testing.B, events []event) {
	b.Helper()
	before := len(c.catalog.Writes())
	marks := func() (n int) {
		for _, w := range c.catalog.Writes()[before:] {
			n += len(w.Episodes)
		}
		return n
	}
	began := time.Now()
	l := fire(b, c.members, events, len(events))
	b.ReportMetric(float64(l.accepted)/l.took.Seconds(), "accepted/s")
	b.ReportMetric(l.quantile(0.5), "p50-ms")
	b.ReportMetric(l.quantile(0.99), "p99-ms")
	b.ReportMetric(float64(len(events)-l.accepted), "not-accepted")
	for deadline := time.Now().Add(5 * patience); marks() < l.accepted && time.Now().Before(deadline); <-time.After(500 * time.Millisecond) {
	}
	if got := marks(); got != l.accepted {
		b.Errorf("%d are marked of %d that were accepted", got, l.accepted)
	}
	writes := c.catalog.Writes()
	b.ReportMetric(float64(l.accepted)/writes[len(writes)-1].At.Sub(began).Seconds(), "marks/s")
}

// BenchmarkCommunity measures a service with many accounts and records: webhooks, marks and pages, on SQLite and on PostgreSQL
// beside it with one, two and three replicas, and with one replica a millisecond away from it.
func BenchmarkCommunity(b *testing.B) {
	accounts, records, n := number(b, "WATCHMARK_LOAD_ACCOUNTS", 1000), number(b, "WATCHMARK_LOAD_RECORDS", 100_000), number(b, "WATCHMARK_LOAD_EVENTS", 20_000)
	const looks = 100
	episodes := certain(b)
	// batch are n plays that no run before has sent, as long as there are people for them: everybody watches an episode after the other.
	next := 0
	batch := func(c *community) (events []event) {
		for range n {
			people := len(c.users) - 1 // the first has watched all of it
			events = append(events, event{episodes[next/people%len(episodes)], c.users[1+next%people]})
			next++
		}
		rand.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		return events
	}
	measure := func(b *testing.B, name string, c *community) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c.work(b, batch(c))
				c.look(b, looks)
			}
		})
	}
	b.Run("SQLite", func(b *testing.B) {
		c, data := newCommunity(b, accounts), b.TempDir()
		c.change = func(statements ...string) {
			database, err := sql.Open("sqlite", "file:"+filepath.Join(data, "watchmark.db")+"?_pragma=busy_timeout(60000)&_txlock=immediate")
			must(b, err)
			for _, statement := range statements {
				_, err := database.Exec(statement)
				must(b, err)
			}
			must(b, database.Close())
		}
		c.join(data)
		c.found(records)
		measure(b, "1", c)
	})
	b.Run("PostgreSQL", func(b *testing.B) {
		server := durable(b)
		c := newCommunity(b, accounts)
		c.change = func(statements ...string) { execute(b, server.URL(), statements...) }
		c.join(b.TempDir(), onServer(server.URL())...)
		c.found(records)
		for n := 1; ; n++ {
			measure(b, strconv.Itoa(n), c)
			if n == replicas {
				break
			}
			c.join(b.TempDir(), onServer(server.URL())...)
		}
		for _, s := range c.members {
			s.process().stop(b, syscall.SIGTERM, patience)
		}
		c.members = nil
		c.join(b.TempDir(), onServer(away(b, server.URL(), time.Millisecond))...)
		measure(b, "1 ms away", c)
	})
}
