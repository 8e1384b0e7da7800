package watcher

import (
	"runtime"
	"testing"
	"time"

	"watchmark/internal/source/mediaserver"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/testkit/mediaservertest"
)

// BenchmarkFiftyThousand measures a person who has played 50,000 episodes: the first sight, a comparison of everything, a catch-up and a
// push of one play, with the requests of each and the most memory that was in use over what there was before. The simulated server runs in
// the same process; what it keeps is there before.
func BenchmarkFiftyThousand(b *testing.B) {
	server := mediaservertest.New(mediaservertest.Config{
		Kind: mediaservertest.Jellyfin, Version: "10.11.8", Users: []mediaservertest.User{{Name: "mira", Password: "pw"}},
		Libraries: []mediaservertest.Library{{ID: "f0", Name: "动画", Kind: "show"}},
	})
	server.Generate(50_000, "mira")
	url, stop, err := server.Listen(b.Context(), "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(stop)
	dialer := realDialer("http://127.0.0.1:9")
	for b.Loop() {
		r := newRig(b, dbtest.Folder(b), newFake())
		r.service.Dialer = dialer
		l, err := r.service.Add(b.Context(), NewLogin{Kind: mediaserver.Jellyfin, URL: url, Credentials: Credentials{"mira", "pw"}})
		if err != nil {
			b.Fatal(err)
		}
		for _, step := range []struct {
			name string
			how  depth
		}{{"sight", complete}, {"comparison", complete}, {"catchup", counted}} {
			k, err := r.service.store.get(b.Context(), l.ID)
			if err != nil {
				b.Fatal(err)
			}
			client, err := r.service.open(k)
			if err == nil {
				err = r.service.connect(b.Context(), client, &k)
			}
			if err != nil {
				b.Fatal(err)
			}
			over, most := watchHeap()
			began := time.Now()
			result, err := r.service.catchUp(b.Context(), k, client, shows{}, step.how, nil)
			took := time.Since(began)
			close(over)
			if err != nil || result.Taken != 0 || result.Known == 0 {
				b.Fatalf("%s: %+v, %v", step.name, result, err)
			}
			b.ReportMetric(took.Seconds(), step.name+"-s")
			b.ReportMetric(float64(result.Requests), step.name+"-requests")
			b.ReportMetric(float64(<-most)/(1<<20), step.name+"-MiB")
		}
		b.ReportMetric(float64(r.db.Size())/(1<<20), "database-MiB")
		r.end()
	}
}

// watchHeap follows the memory of objects until over is closed; most is by how much there were more than at the beginning.
func watchHeap() (over chan struct{}, most chan uint64) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	over, most = make(chan struct{}), make(chan uint64, 1)
	go func() {
		peak := before
		for {
			select {
			case <-over:
				most <- peak - before
				return
			case <-time.After(20 * time.Millisecond):
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
		}
	}()
	return over, most
}
