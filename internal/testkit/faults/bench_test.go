package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"watchmark/internal/testkit/postgrestest"
	"watchmark/internal/testkit/proxytest"
)

const (
	// connections is how many senders there are at once, each with one connection.
	connections = 16
	// restBefore is how long the service is left alone before its idle memory is read.
	restBefore = 3 * time.Second
	// drainMarks is how many different marks wait in BenchmarkDrain.
	drainMarks = 3000
)

// simulate starts `watchmark simulate`, a catalog without latency in a process of its own.
func simulate(tb testing.TB, users []string) *process {
	tb.Helper()
	args := []string{"simulate", "--listen", "127.0.0.1:0"}
	for _, user := range users {
		args = append(args, "--token", tokenOf(user)+":"+user)
	}
	return launch(tb, command(tb, nil, args...), catalogListens, &tail{})
}

// breakdown puts a fault in force at a simulated catalog.
func breakdown(tb testing.TB, catalog *process, mode string) {
	tb.Helper()
	response, err := http.Post(catalog.url+"/_sim/fault", "application/json", strings.NewReader(fmt.Sprintf(`{"mode":%q}`, mode)))
	must(tb, err)
	must(tb, response.Body.Close())
	if response.StatusCode != http.StatusNoContent {
		tb.Fatalf("the catalog answers %s", response.Status)
	}
}

// marksAt is how many marks a simulated catalog has, and when the last of them was made.
func marksAt(tb testing.TB, catalog *process) (n int, last time.Time) {
	tb.Helper()
	response, err := http.Get(catalog.url + "/_sim/marks")
	must(tb, err)
	defer func() { _ = response.Body.Close() }()
	var list struct{ Marks []struct{ At time.Time } }
	must(tb, json.NewDecoder(response.Body).Decode(&list))
	for _, mark := range list.Marks {
		if mark.At.After(last) {
			last = mark.At
		}
	}
	return len(list.Marks), last
}

// drained waits until a simulated catalog has n marks and answers when the last was made. It
// looks rarely, for a look at thousands of marks takes time from what is measured.
func drained(tb testing.TB, catalog *process, n int) time.Time {
	tb.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(500 * time.Millisecond) {
		if marks, last := marksAt(tb, catalog); marks == n {
			return last
		}
	}
	tb.Fatal("not everything is marked")
	return time.Time{}
}

// memory reads a row of the process's status, such as VmRSS, in MiB.
func memory(tb testing.TB, p *process, row string) float64 {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	must(tb, err)
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, row+":"); found {
			kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			must(tb, err)
			return float64(kib) / 1024
		}
	}
	tb.Fatalf("the status of the process has no %s", row)
	return 0
}

// load is what a run of webhooks came to.
type load struct {
	took     time.Duration
	times    []time.Duration // of every answer, ascending
	accepted int
}

// quantile is the time that the share q of the answers did not exceed, in milliseconds.
func (l load) quantile(q float64) float64 {
	return float64(l.times[int(q*float64(len(l.times)-1))].Microseconds()) / 1000
}

// fire sends n webhooks of the events, over and over, as fast as they are answered, each connection to one of the services.
func fire(tb testing.TB, to []*service, events []event, n int) load {
	tb.Helper()
	requests := make([][]byte, len(events))
	for i, e := range events {
		requests[i] = prepare("127.0.0.1", e)
	}
	parts, errs := make([]load, connections), make([]error, connections)
	var senders sync.WaitGroup
	began := time.Now()
	for c := range connections {
		senders.Go(func() {
			parts[c], errs[c] = sendShare(strings.TrimPrefix(to[c%len(to)].process().url, "http://"), requests, c, n)
		})
	}
	senders.Wait()
	all := load{took: time.Since(began)}
	for c := range connections {
		must(tb, errs[c])
		all.times = append(all.times, parts[c].times...)
		all.accepted += parts[c].accepted
	}
	slices.Sort(all.times)
	return all
}

// sendShare sends every webhook of the n that falls to the connection.
func sendShare(address string, requests [][]byte, connection, n int) (l load, err error) {
	client, err := dialRaw(address)
	if err != nil {
		return l, err
	}
	defer client.close()
	for i := connection; i < n; i += connections {
		began := time.Now()
		status, err := client.send(requests[i%len(requests)])
		if err != nil {
			return l, err
		}
		l.times = append(l.times, time.Since(began))
		if status == http.StatusAccepted {
			l.accepted++
		}
	}
	return l, nil
}

// engines are the databases that a service is measured on.
var engines = []struct {
	name string
	of   func(b *testing.B) (settings []string)
}{
	{"SQLite", func(*testing.B) []string { return nil }},
	{"PostgreSQL", func(b *testing.B) []string { return onServer(durable(b).URL()) }},
	{"PostgreSQL1msAway", func(b *testing.B) []string { return onServer(away(b, durable(b).URL(), time.Millisecond)) }},
}

// durable is a PostgreSQL whose commits reach the disk, as they do for people.
func durable(tb testing.TB) *postgrestest.Server {
	tb.Helper()
	server := postgrestest.Start(tb)
	execute(tb, server.URL(), "ALTER SYSTEM SET fsync = on", "ALTER SYSTEM SET full_page_writes = on", "SELECT pg_reload_conf()")
	return server
}

// execute runs statements, each by itself.
func execute(tb testing.TB, address string, statements ...string) {
	tb.Helper()
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, address)
	must(tb, err)
	for _, statement := range statements {
		must(tb, conn.Exec(ctx, statement).Close())
	}
	must(tb, conn.Close(ctx))
}

// away is the address of a database with so much longer a way to it.
func away(tb testing.TB, address string, roundTrip time.Duration) string {
	tb.Helper()
	at, err := url.Parse(address)
	must(tb, err)
	line := proxytest.Start(tb, at.Host)
	line.Delay(roundTrip)
	at.Host = line.Address()
	return at.String()
}

// onServer are the settings of a service on a database.
func onServer(address string) []string {
	return []string{"WATCHMARK_DATABASE_URL=" + address, "WATCHMARK_SECRET_KEY=" + secretKey}
}

// BenchmarkIntake measures webhooks that are stored durably before they are answered, while
// the service works on them beside: against a catalog that answers, and against one that refuses.
func BenchmarkIntake(b *testing.B) {
	n, episodes := number(b, "WATCHMARK_LOAD_EVENTS", 20000), certain(b)
	events, users := shuffled(rand.New(rand.NewPCG(1, 1)), episodes, 10*len(episodes))
	for _, engine := range engines {
		for _, mode := range []struct{ name, fault string }{{"CatalogAnswers", "none"}, {"CatalogRefuses", "refuse"}} {
			b.Run(engine.name+"/"+mode.name, func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					catalog := simulate(b, users)
					breakdown(b, catalog, mode.fault)
					s := serve(b, b.TempDir(), catalog.url, engine.of(b)...)
					s.addAccounts(users)
					<-time.After(restBefore)
					idle := memory(b, s.process(), "VmRSS")
					b.StartTimer()
					l := fire(b, []*service{s}, events, n)
					b.StopTimer()
					b.ReportMetric(float64(l.accepted)/l.took.Seconds(), "accepted/s")
					b.ReportMetric(l.quantile(0.5), "p50-ms")
					b.ReportMetric(l.quantile(0.99), "p99-ms")
					b.ReportMetric(float64(n-l.accepted), "not-accepted")
					b.ReportMetric(idle, "idle-MiB")
					b.ReportMetric(memory(b, s.process(), "VmHWM"), "peak-MiB")
					s.process().kill()
					catalog.kill()
					b.StartTimer()
				}
			})
		}
	}
}

// BenchmarkDrain measures how fast events that waited for the catalog become marks: from the
// moment it answers again until the last of them is on its list.
func BenchmarkDrain(b *testing.B) {
	events, users := shuffled(rand.New(rand.NewPCG(1, 1)), certain(b), drainMarks)
	for _, engine := range engines {
		b.Run(engine.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				catalog := simulate(b, users)
				breakdown(b, catalog, "refuse")
				s := serve(b, b.TempDir(), catalog.url, engine.of(b)...)
				s.addAccounts(users)
				fire(b, []*service{s}, events, drainMarks)
				eventually(b, "everything is queued", func() bool { return s.counts()["queued"] == drainMarks })
				b.StartTimer()
				began := time.Now()
				breakdown(b, catalog, "none")
				s.probe() // what is measured is the marking, not how soon the return is noticed
				took := drained(b, catalog, drainMarks).Sub(began)
				b.StopTimer()
				b.ReportMetric(drainMarks/took.Seconds(), "marks/s")
				b.ReportMetric(memory(b, s.process(), "VmHWM"), "peak-MiB")
				s.process().kill()
				catalog.kill()
				b.StartTimer()
			}
		})
	}
}

// BenchmarkStart measures the time from the start of the process to its first answer, on a
// folder that is not new, and from SIGTERM to its end with nothing in hand.
func BenchmarkStart(b *testing.B) {
	s := serve(b, b.TempDir(), "http://127.0.0.1:9")
	var starting, stopping time.Duration
	for b.Loop() {
		b.StopTimer()
		began := time.Now()
		s.process().stop(b, syscall.SIGTERM, patience)
		stopping += time.Since(began)
		b.StartTimer()
		began = time.Now()
		s.start()
		s.call(http.StatusOK, http.MethodGet, "/health", "", nil)
		starting += time.Since(began)
	}
	b.ReportMetric(float64(starting.Microseconds())/1000/float64(b.N), "start-ms")
	b.ReportMetric(float64(stopping.Microseconds())/1000/float64(b.N), "stop-ms")
}
