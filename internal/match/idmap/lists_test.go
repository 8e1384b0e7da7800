package idmap_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
)

// listsRig are Lists beside the Dataset of a rig, whose table is switched off.
type listsRig struct {
	*rig
	*idmap.Lists
	list, shinkro *site
	// without is set while Anime-Lists have no address.
	without atomic.Bool
}

func newLists(t *testing.T) *listsRig {
	t.Helper()
	l := &listsRig{rig: newRig(t), list: &site{}, shinkro: &site{}}
	l.list.publish(text(http.StatusOK, `"1"`, listed))
	l.shinkro.publish(text(http.StatusOK, `"1"`, counted))
	l.enabled.Store(false)
	l.again(t)
	return l
}

// again makes new Lists on the folder, as a start of the service does.
func (l *listsRig) again(t *testing.T) {
	t.Helper()
	l.restart(t)
	var urls [2]string
	for i, s := range []*site{l.list, l.shinkro} {
		server := httptest.NewServer(s)
		t.Cleanup(server.Close)
		urls[i] = server.URL + "/list"
	}
	client, err := httpx.New(httpx.Config{Burst: 100}, &secret.Masker{}, l.log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	l.Lists = idmap.NewLists(idmap.ListsConfig{
		Folder: l.folder, HTTP: client, Schedule: l.jobs, Dataset: l.Dataset, Log: l.log,
		Enabled: func() bool { return true }, Plan: func() schedule.Plan { return schedule.Every(24 * time.Hour) },
		AnimeLists: func() string {
			if l.without.Load() {
				return ""
			}
			return urls[0]
		},
		Shinkro: func() string { return urls[1] },
	})
	l.jobs.Add(l.Job())
}

// updated runs an update to its end and tells where Anime-Lists stand.
func (l *listsRig) updated(t *testing.T) idmap.SourceStatus {
	t.Helper()
	running, err := l.Update(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for {
		_, more := running.After(0)
		if running.Status().State != task.Running {
			return l.Lists.Status().Sources[1]
		}
		<-more
	}
}

// serves tells what the lists in use say of an episode that both have, in their order.
func (l *listsRig) serves() string {
	var said []string
	for _, list := range l.InUse() {
		said = append(said, list.Name+" "+briefPlaces(list.Places(idmap.TVDB, 72070, 1, 9)))
	}
	return strings.Join(said, ", ")
}

const bothServe = "Anime-Lists 12e10, shinkro 59e10"

func TestListsAreFetchedAndKept(t *testing.T) {
	l := newLists(t)
	if l.serves() != "" {
		t.Fatalf("before the first update serves %q", l.serves())
	}
	s := l.updated(t)
	if l.serves() != bothServe || s.Rows != 14 || s.Version == "" || s.FetchedAt.IsZero() || !s.LastError.IsZero() {
		t.Fatalf("after an update serves %q, status %+v", l.serves(), s)
	}
	l.updated(t)
	if got := l.list.asked; len(got) != 2 || got[0] != "" || got[1] != `"1"` {
		t.Errorf("it was asked with the tags %q", got)
	}
	l.again(t)
	if l.serves() != bothServe || l.Lists.Status().Sources[1].Version != s.Version {
		t.Errorf("after a start serves %q", l.serves())
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = zip.Write([]byte(strings.Replace(listed, "Plain Show", "Other Show", 1)))
	_ = zip.Close()
	l.list.publish(text(http.StatusOK, `"2"`, packed.String()))
	if s := l.updated(t); !s.LastError.IsZero() || l.serves() != bothServe || s.Rows != 14 {
		t.Errorf("packed by gzip serves %q, status %+v", l.serves(), s)
	}
}

// TestListsServeWhileTheyAreUpdated has somebody ask all the time, for the race detector.
func TestListsServeWhileTheyAreUpdated(t *testing.T) {
	l := newLists(t)
	l.updated(t)
	var asking sync.WaitGroup
	ended := make(chan struct{})
	asking.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
			}
			l.without.Store(!l.without.Load()) // an address that is taken away and given again
			if l.InUse(); len(l.Lists.Status().Sources) != 3 {
				t.Error("a source is missing in the status")
			}
		}
	})
	for i := range 20 {
		l.list.publish(text(http.StatusOK, strconv.Quote(strconv.Itoa(i)), listed))
		l.updated(t)
	}
	close(ended)
	asking.Wait()
}

// TestARefusedTableIsNotFetchedEachHour holds that the lists are not asked for before their next time because of it.
func TestARefusedTableIsNotFetchedEachHour(t *testing.T) {
	l := newLists(t)
	l.enabled.Store(true)
	l.site.publish(text(http.StatusOK, "", elsewhere(t, 11)))
	if l.updated(t); l.Dataset.Status().LastOutcome != idmap.Refused {
		t.Fatalf("the table is %s", l.Dataset.Status().LastOutcome)
	}
	if next := l.Lists.Status().NextRun; next == nil || time.Until(*next) < 20*time.Hour {
		t.Errorf("with a refused table the next update is at %v", next)
	}
	l.list.publish(text(http.StatusNotFound, "", ""))
	l.updated(t)
	if next := l.Lists.Status().NextRun; next == nil || time.Until(*next) > 2*time.Hour {
		t.Errorf("with a list that is gone the next update is at %v", next)
	}
}

// TestTheLastGoodListServes has what comes be anything but a list.
func TestTheLastGoodListServes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and does one thing after the other")
	}
	endless := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`<anime-list>`))
		for range 1 << 20 {
			if _, err := w.Write([]byte(`<anime anidbid="1" tvdbid="1"><name>` + strings.Repeat("x", 200) + `</name></anime>`)); err != nil {
				return
			}
		}
	}
	bomb := func(w http.ResponseWriter, _ *http.Request) {
		zip := gzip.NewWriter(w)
		_, _ = zip.Write([]byte(`<anime-list>`))
		for range 64 {
			_, _ = zip.Write(make([]byte, 1<<20))
		}
		_ = zip.Close()
	}
	for _, c := range []struct {
		name  string
		serve http.HandlerFunc
		want  string // in the error
	}{
		{"torn", text(200, "", listed[:len(listed)/2]), "no XML"},
		{"torn in gzip", text(200, "", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03ab"), "list"},
		{"broken off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(listed)))
			_, _ = w.Write([]byte(listed[:100]))
		}, ""},
		{"empty", text(200, "", ""), "its end is missing"},
		{"without entries", text(200, "", "<anime-list></anime-list>"), "no items"},
		{"much smaller", text(200, "", `<anime-list><anime anidbid="5" tvdbid="6" defaulttvdbseason="1"/></anime-list>`), "smaller"},
		{"another document", text(200, "", `<html><body>Sign in to the hotel</body></html>`), "anime-list"},
		{"no XML", text(200, "", `{"items":[]}`), ""},
		{"an entity", text(200, "", `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><anime-list><anime anidbid="1"><name>&x;</name></anime></anime-list>`), "no XML"},
		{"huge", endless, "larger than"},
		{"a bomb", bomb, ""},
		{"gone", text(404, "", "not found"), "404"},
		{"an error of the host", text(503, "", ""), "503"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLists(t)
			before := l.updated(t)
			l.list.publish(c.serve)
			s := l.updated(t)
			if s.LastError.IsZero() || !strings.Contains(s.LastError.Text, c.want) {
				t.Errorf("the error is %q", s.LastError)
			}
			if l.serves() != bothServe || s.Version != before.Version || !s.FetchedAt.Equal(before.FetchedAt) {
				t.Errorf("now serves %q, status %+v", l.serves(), s)
			}
			l.again(t)
			if s := l.Lists.Status().Sources[1]; l.serves() != bothServe || s.LastError.IsZero() {
				t.Errorf("after a start serves %q, status %+v", l.serves(), s)
			}
			l.list.publish(text(http.StatusOK, `"3"`, listed))
			if s := l.updated(t); !s.LastError.IsZero() {
				t.Errorf("when it is well again the error is %q", s.LastError)
			}
		})
	}
}

func TestADamagedListIsFetchedAnew(t *testing.T) {
	l := newLists(t)
	l.updated(t)
	path := filepath.Join(l.folder, "anime-lists.gz")
	if err := os.WriteFile(path, []byte("\x1f\x8bdamaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.again(t)
	if l.serves() != "shinkro 59e10" || l.Status().Sources[1].LastError.IsZero() {
		t.Fatalf("a damaged file serves %q", l.serves())
	}
	if s := l.updated(t); l.serves() != bothServe || !s.LastError.IsZero() {
		t.Errorf("after an update serves %q, status %+v", l.serves(), s)
	}
}
