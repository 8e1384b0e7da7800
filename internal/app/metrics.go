package app

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"runtime"
	rtmetrics "runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"watchmark/internal/catalog/archive"
	"watchmark/internal/catalog/budget"
	"watchmark/internal/door/access"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/problem"
	"watchmark/internal/engine/queue"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/metrics"
	"watchmark/internal/record"
	"watchmark/internal/source/tracker"
	"watchmark/internal/source/watcher"
	"watchmark/internal/upkeep/replicas"
)

// meters is what GET /metrics answers.
type meters struct {
	*App
	started time.Time
	// requests are those of the webhooks.
	requests metrics.Counter

	counting sync.Mutex
	counted  counted
}

// counted is what is counted in the database. Counting takes the longer the more there is.
type counted struct {
	at      time.Time
	took    time.Duration
	records map[record.Status]int
	queue   map[queue.Status]int
	oldest  time.Time
	jobs    jobs
}

const (
	// countEvery is the least time between two counts in the database; one that takes long is
	// made so seldom that counting takes a hundredth of the time at most.
	countEvery = 15 * time.Second
	countShare = 100
)

// count counts in the database, or gives what was counted lately.
func (m *meters) count(ctx context.Context) (counted, error) {
	m.counting.Lock()
	defer m.counting.Unlock()
	if !m.counted.at.IsZero() && time.Since(m.counted.at) < max(countEvery, countShare*m.counted.took) {
		return m.counted, nil
	}
	start := time.Now()
	var now counted
	var err error
	if now.records, err = m.Records.CountByStatus(ctx, start); err != nil {
		return counted{}, err
	}
	if now.queue, err = m.queue.Counts(ctx); err != nil {
		return counted{}, err
	}
	if now.oldest, err = m.queue.Oldest(ctx); err != nil {
		return counted{}, err
	}
	if now.jobs, err = m.jobs(ctx); err != nil {
		return counted{}, err
	}
	now.at, now.took = time.Now(), time.Since(start)
	m.counted = now
	return now, nil
}

// metricsPath is where the figures are.
const metricsPath = "/metrics"

// ServeHTTP answers the figures to the owner, or an API key of the owner, while the setting is on.
func (m *meters) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rule, _ := access.Path(metricsPath)
	switch who, known := auth.IdentityOf(r.Context()); {
	case !m.Settings.Current().Server.Metrics:
		http.Error(w, "The metrics are switched off: set server.metrics.", http.StatusNotFound)
		return
	case !known:
		auth.RefuseAPI(w, r)
		return
	case rule.For(who, known) == access.Nothing:
		problem.Of(auth.OwnerOnly).Write(w, r)
		return
	}
	families, err := m.families(r.Context())
	if err != nil {
		m.log.ErrorContext(r.Context(), "cannot answer the metrics", "error", err)
		http.Error(w, "The database could not be read. Look into the log of the service.", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_ = metrics.Write(w, families) // a reader that went away needs no answer
}

// families are all figures.
func (m *meters) families(ctx context.Context) ([]metrics.Family, error) {
	now, err := m.count(ctx)
	if err != nil {
		return nil, err
	}
	records := []metrics.Sample{}
	for _, status := range record.Statuses {
		records = append(records, metrics.Sample{Labels: []string{string(status)}, Value: float64(now.records[status])})
	}
	waiting := []metrics.Sample{}
	for _, state := range []queue.Status{queue.Pending, queue.Synced, queue.Abandoned} {
		waiting = append(waiting, metrics.Sample{Labels: []string{string(state)}, Value: float64(now.queue[state])})
	}
	oldest := 0.0
	if !now.oldest.IsZero() {
		oldest = max(0, time.Since(now.oldest).Seconds())
	}
	reach := m.catalog.Reachability()
	down := 0.0
	if !reach.Reachable {
		down = time.Since(reach.Since).Seconds()
	}
	running := map[string]float64{}
	for _, kind := range taskKinds {
		running[kind] = 0
	}
	runs, err := m.tasks.Running(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range runs {
		running[t.Kind]++
	}
	logins, err := m.watcher.Logins(ctx)
	if err != nil {
		return nil, err
	}
	servers := map[string]float64{}
	for _, state := range watcher.States {
		servers[string(state)] = 0
	}
	for _, l := range logins {
		if l.Enabled {
			servers[string(l.State)]++
		}
	}
	overview, err := m.overview().Overview(ctx)
	if err != nil {
		return nil, err
	}
	families := []metrics.Family{
		gauge("watchmark_build_info", "The program; the value is always 1.", []string{"version", "go"}, metrics.Sample{Labels: []string{Version(), runtime.Version()}, Value: 1}),
		counter("watchmark_webhook_requests_total", "Requests to the webhooks, by source, outcome (accepted, ignored, refused) and HTTP status.", &m.requests, "source", "outcome", "code"),
		counter("watchmark_record_runs_total", "Runs of records, by source and by the status they ended in. One that waits for Bangumi counts at each try.", &m.engine.Runs, "source", "status"),
		{Name: "watchmark_match_seconds", Help: "How long finding the entry of an event takes.", Histogram: &m.engine.Matching},
		gauge("watchmark_records", "Records by status.", []string{"status"}, records...),
		gauge("watchmark_queue_marks", "Marks that wait for Bangumi (pending), were sent within a week (synced), or were given up (abandoned).", []string{"state"}, waiting...),
		gauge("watchmark_queue_oldest_seconds", "How long the oldest pending mark waits; 0 when none does.", nil, metrics.Sample{Value: oldest}),
		gauge("watchmark_media_logins", "Logins at media servers that are followed, by state.", []string{"state"}, samplesOf(servers)...),
		gauge("watchmark_catalog_reachable", "1 while Bangumi answers, or was not asked yet; 0 while requests to it are held back.", nil, metrics.Sample{Value: truth(reach.Reachable)}),
		gauge("watchmark_catalog_unreachable_seconds", "How long Bangumi has not answered; 0 while it does.", nil, metrics.Sample{Value: down}),
		counter("watchmark_upstream_requests_total", "Requests to other services, by service and class of the answer; failed is none.", &m.calls, "service", "class"),
		counter("watchmark_upstream_seconds_total", "How long these requests took, by service.", &m.callTime, "service"),
		counter("watchmark_notifications_total", "Tries to send a notification, by type of channel and what became of it; waiting is tried again.", &m.Notices.Sent, "channel", "state"),
		gauge("watchmark_tasks_running", "Tasks that run, by kind.", []string{"kind"}, samplesOf(running)...),
		counter("watchmark_tasks_ended_total", "Tasks that ended, by kind and state.", &m.tasks.Ended, "kind", "state"),
		gauge("watchmark_job_last_success_timestamp_seconds", "When scheduled work last came to its end; 0 before its first run, and while its last one failed, was skipped or cancelled.", []string{"work"}, now.jobs.succeeded...),
		gauge("watchmark_job_failing", "1 while the last run of scheduled work failed.", []string{"work"}, now.jobs.failing...),
		gauge("watchmark_database_bytes", "Size of the database, its journal included.", nil, metrics.Sample{Value: float64(m.db.Size())}),
	}
	families = append(families, m.shared(overview)...)
	return append(families, m.process()...), nil
}

// shared is what replicas have in common, told alike by each, and what this one did for the others.
func (m *meters) shared(o replicas.Overview) []metrics.Family {
	states := map[string]float64{string(replicas.Live): 0, string(replicas.Silent): 0, string(replicas.Gone): 0}
	name := ""
	for _, r := range o.Replicas {
		states[string(r.State)]++
		if r.Self {
			name = r.Name
		}
	}
	var left, banned []metrics.Sample
	catalog := m.Settings.Current().Catalog
	// What nothing was sent to yet is full.
	for _, address := range []string{catalog.APIURL, catalog.WebURL} {
		u, err := url.Parse(address)
		full := budget.Standing{Egress: catalog.Egress, Left: catalog.Burst}
		if err == nil {
			full.Host = strings.ToLower(u.Host)
		}
		if !slices.ContainsFunc(o.Budgets, func(b budget.Standing) bool { return b.Host == full.Host && b.Egress == full.Egress }) {
			o.Budgets = append(o.Budgets, full)
		}
	}
	for _, b := range o.Budgets {
		if b.Account == 0 {
			labels := []string{b.Host, b.Egress}
			left = append(left, metrics.Sample{Labels: labels, Value: float64(b.Left)})
			banned = append(banned, metrics.Sample{Labels: labels, Value: truth(b.BannedUntil != nil)})
		}
	}
	return []metrics.Family{
		gauge("watchmark_replica_info", "This replica; the value is always 1.", []string{"replica", "egress"}, metrics.Sample{Labels: []string{name, catalog.Egress}, Value: 1}),
		gauge("watchmark_replicas", "Replicas on the database by state, the same at each of them.", []string{"state"}, samplesOf(states)...),
		counter("watchmark_replica_evictions_total", "Replicas that this one took for dead, because the database did not hear them.", &m.self.Evictions),
		gauge("watchmark_catalog_budget_requests", "Requests to Bangumi that may be sent at once, by host and way out, the same at each replica.", []string{"host", "egress"}, left...),
		gauge("watchmark_catalog_banned", "1 while Bangumi accepts no requests of a way out, the same at each replica.", []string{"host", "egress"}, banned...),
	}
}

func gauge(name, help string, labels []string, samples ...metrics.Sample) metrics.Family {
	return metrics.Family{Name: name, Help: help, Kind: metrics.IsGauge, Labels: labels, Samples: samples}
}

func counter(name, help string, c *metrics.Counter, labels ...string) metrics.Family {
	return metrics.Family{Name: name, Help: help, Kind: metrics.IsCounter, Labels: labels, Samples: c.Samples()}
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// samplesOf are values by their one label.
func samplesOf(values map[string]float64) []metrics.Sample {
	samples := []metrics.Sample{}
	for label, value := range values {
		samples = append(samples, metrics.Sample{Labels: []string{label}, Value: value})
	}
	slices.SortFunc(samples, func(a, b metrics.Sample) int { return strings.Compare(a.Labels[0], b.Labels[0]) })
	return samples
}

// jobs are how scheduled work ended last.
type jobs struct{ succeeded, failing []metrics.Sample }

// add notes how the last run of some work ended; one that was cancelled or skipped is neither failed nor done.
func (j *jobs) add(name string, at time.Time, failed, done bool) {
	ran := !at.IsZero()
	j.failing = append(j.failing, metrics.Sample{Labels: []string{name}, Value: truth(ran && failed)})
	succeeded := metrics.Sample{Labels: []string{name}}
	if ran && done {
		succeeded.Value = float64(at.UnixMilli()) / 1000
	}
	j.succeeded = append(j.succeeded, succeeded)
}

func (m *meters) jobs(ctx context.Context) (jobs, error) {
	var j jobs
	a := m.Archiver.Status()
	j.add("archive", a.LastRun, a.LastOutcome == archive.Failed, a.LastOutcome == archive.Imported || a.LastOutcome == archive.UpToDate)
	b := m.backups.Status()
	j.add("backup", b.LastRun, !b.LastError.IsZero(), b.LastError.IsZero())
	d := m.Dataset.Status()
	j.add("id_table", d.LastRun, d.LastOutcome == idmap.Failed || d.LastOutcome == idmap.Refused, d.LastOutcome == idmap.Refreshed || d.LastOutcome == idmap.UpToDate)
	n, err := m.nas.Status(ctx)
	if err != nil {
		return jobs{}, err
	}
	j.add("nas", n.LastScan, !n.LastError.IsZero(), n.LastError.IsZero())
	q := m.replay.Standing().Last
	j.add("queue", q.At, q.Outcome == queue.Failed, q.Outcome != queue.Failed)
	t, err := m.tracker.SyncStatus(ctx)
	if err != nil {
		return jobs{}, err
	}
	var read time.Time
	failed, done := false, true
	for _, u := range t.Users { // one that fails is the one to look at
		if u.LastRun == nil {
			continue
		}
		if u.LastRun.After(read) {
			read = *u.LastRun
		}
		failed = failed || u.Outcome == tracker.Failed
		done = done && (u.Outcome == tracker.Taken || u.Outcome == tracker.UpToDate)
	}
	j.add("tracker", read, failed, done)
	return j, nil
}

// process is what is known of the process, by the names that Prometheus has for it.
func (m *meters) process() []metrics.Family {
	read := []rtmetrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	rtmetrics.Read(read)
	value := func(v float64) metrics.Sample { return metrics.Sample{Value: v} }
	families := []metrics.Family{
		gauge("go_goroutines", "Goroutines that there are.", nil, value(float64(runtime.NumGoroutine()))),
		gauge("go_memstats_heap_alloc_bytes", "Memory of what is allocated and not yet collected.", nil, value(float64(read[0].Value.Uint64()))),
		gauge("go_memstats_sys_bytes", "Memory that Go has from the system.", nil, value(float64(read[1].Value.Uint64()))),
		{Name: "go_gc_cycles_total", Help: "Collections of garbage.", Kind: metrics.IsCounter, Samples: []metrics.Sample{value(float64(read[2].Value.Uint64()))}},
		gauge("process_start_time_seconds", "When the service began.", nil, value(float64(m.started.UnixMilli())/1000)),
	}
	if cpu, resident, ok := processUse(); ok {
		families = append(families,
			metrics.Family{Name: "process_cpu_seconds_total", Help: "Time of processors that was used.", Kind: metrics.IsCounter, Samples: []metrics.Sample{value(cpu)}},
			gauge("process_resident_memory_bytes", "Memory that stands in the machine.", nil, value(resident)))
	}
	return families
}

// processUse is what Linux says of this process (proc(5)): seconds of processors and
// resident bytes; false elsewhere.
func processUse() (cpuSeconds, residentBytes float64, ok bool) {
	const ticks = 100 // a second, on every system that Go runs on
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0, false
	}
	// The name of the program, in brackets, may hold anything.
	_, after, found := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	if !found || len(fields) < 22 {
		return 0, 0, false
	}
	var numbers [3]float64
	for i, field := range []int{11, 12, 21} { // utime, stime, rss: those after the name count from 0
		if numbers[i], err = strconv.ParseFloat(fields[field], 64); err != nil {
			return 0, 0, false
		}
	}
	return (numbers[0] + numbers[1]) / ticks, numbers[2] * float64(os.Getpagesize()), true
}
