package faults

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/testkit/dumptest"
)

// matches is how many titles BenchmarkArchive has matched.
const matches = 2000

// writeDump writes a synthetic dump: a tenth of a real one, or WATCHMARK_ARCHIVE_SCALE.
func writeDump(tb testing.TB) (path string, spec dumptest.Spec) {
	tb.Helper()
	scale := 0.1
	if text := os.Getenv("WATCHMARK_ARCHIVE_SCALE"); text != "" {
		var err error
		scale, err = strconv.ParseFloat(text, 64)
		must(tb, err)
	}
	spec = dumptest.Scaled(scale)
	path = filepath.Join(tb.TempDir(), "dump.zip")
	file, err := os.Create(path)
	must(tb, err)
	must(tb, dumptest.Write(file, spec))
	must(tb, file.Close())
	return path, spec
}

var importedIn = regexp.MustCompile(`([\d.]+) s, at most (\d+) MiB of memory, (\d+) MB on the disk`)

// BenchmarkArchive measures the offline archive as its users meet it: the import by the
// command, the memory of a service with the archive on and the catalog off, matches by
// it, and matches while it imports.
func BenchmarkArchive(b *testing.B) {
	dump, spec := writeDump(b)
	data := b.TempDir()
	environ := []string{"WATCHMARK_CATALOG_ARCHIVE_MIN_FREE_MB=100"}
	for b.Loop() {
		out, err := command(b, environ, "archive", "import", dump, "--force", "--data", data).Output()
		must(b, err)
		m := importedIn.FindStringSubmatch(string(out))
		if m == nil {
			b.Fatalf("the command prints %s", out)
		}
		for i, unit := range []string{"import-s", "import-MiB", "disk-MB"} {
			value, err := strconv.ParseFloat(m[i+1], 64)
			must(b, err)
			b.ReportMetric(value, unit)
		}
	}
	s := serve(b, data, "http://127.0.0.1:9", append(environ, "WATCHMARK_CATALOG_ARCHIVE_ENABLED=true", "WATCHMARK_CATALOG_ARCHIVE_POINTER_URL=http://127.0.0.1:9/latest.json")...)
	s.call(http.StatusCreated, http.MethodPost, "/api/accounts", `{"username":"mira","access_token":"`+tokenOf("mira")+`","media_user_names":["mira"]}`, nil)
	<-time.After(restBefore)
	b.ReportMetric(memory(b, s.process(), "VmRSS"), "idle-MiB")

	titles := slices.DeleteFunc(slices.Collect(dumptest.Titles(spec)), func(t dumptest.Title) bool { return t.Type != 2 })
	times := matchMany(s, titles, 4, matches)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "match-p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "match-p99-ms")
	b.ReportMetric(memory(b, s.process(), "VmRSS"), "busy-MiB")

	// The same while another process imports, and the service switches to what it imported.
	var importing atomic.Bool
	importing.Store(true)
	var other sync.WaitGroup
	other.Go(func() {
		defer importing.Store(false)
		if out, err := command(b, environ, "archive", "import", dump, "--force", "--data", data).CombinedOutput(); err != nil {
			b.Errorf("%v: %s", err, out)
		}
	})
	meanwhile := 0
	for importing.Load() {
		meanwhile += len(matchMany(s, titles, 4, 200))
	}
	other.Wait()
	b.ReportMetric(float64(meanwhile), "matches-during-import")
}

// matchMany has n titles matched by as many senders as given, each of which must be found
// by the archive, and answers the times in ascending order.
func matchMany(s *service, titles []dumptest.Title, senders, n int) []time.Duration {
	s.tb.Helper()
	times := make([]time.Duration, n)
	var next atomic.Int64
	var g sync.WaitGroup
	for sender := range senders {
		g.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(sender), uint64(n)))
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				title := titles[dice.IntN(len(titles))]
				var trace struct {
					Result struct{ Status string }
					Steps  []struct{ Name, Status string }
				}
				body := fmt.Sprintf(`{"title":%q,"season":1,"episode":1,"release_date":%q,"user_name":"mira"}`, strings.ToValidUTF8(title.Name, ""), title.Date)
				start := time.Now()
				s.call(http.StatusOK, http.MethodPost, "/api/test-match", body, &trace)
				times[i] = time.Since(start)
				if !slices.Contains(trace.Steps, struct{ Name, Status string }{"archive", "hit"}) {
					s.tb.Errorf("%q is not found in the offline data: %+v", title.Name, trace)
				}
			}
		})
	}
	g.Wait()
	slices.Sort(times)
	return times
}
