//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/postgrestest"
)

// oldProgram names a program of an earlier version, and oldRevision a commit to build one from.
const oldProgram, oldRevision = "WATCHMARK_OLD_PROGRAM", "WATCHMARK_OLD_REVISION"

// nextMigration is what the program of a version after this one would bring.
const nextMigration = `-- +goose Up
ALTER TABLE records ADD COLUMN test_only BIGINT NOT NULL DEFAULT 0;
CREATE TABLE test_only (id INTEGER PRIMARY KEY);

-- +goose Down
DROP TABLE test_only;
ALTER TABLE records DROP COLUMN test_only;
`

// build builds the program of a source tree.
func build(t *testing.T, tree, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	cmd := exec.CommandContext(t.Context(), "go", append(append([]string{"build", "-o", path}, args...), "./cmd/watchmark")...)
	cmd.Dir, cmd.Env = tree, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v: %s", name, err, out)
	}
	return path
}

// programs are that of an earlier version and a later one: the named one and this, or else this and one with a migration more.
func programs(t *testing.T) (older, newer string) {
	t.Helper()
	top, err := filepath.Abs(filepath.Join("..", ".."))
	must(t, err)
	if path := os.Getenv(oldProgram); path != "" {
		return path, build(t, top, "newer")
	}
	if revision := os.Getenv(oldRevision); revision != "" {
		tree := t.TempDir()
		unpack := exec.CommandContext(t.Context(), "sh", "-c", `git archive "$1" | tar -x -C "$2"`, "sh", revision, tree)
		unpack.Dir = top
		if out, err := unpack.CombinedOutput(); err != nil {
			t.Fatalf("take %s: %v: %s", revision, err, out)
		}
		return build(t, tree, "older"), build(t, top, "newer")
	}
	dir := t.TempDir()
	sql, overlay := filepath.Join(dir, "next.sql"), filepath.Join(dir, "overlay.json")
	must(t, os.WriteFile(sql, []byte(nextMigration), 0o600))
	text, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(top, "internal/platform/db/migrations/99998_next.sql"): sql}})
	must(t, err)
	must(t, os.WriteFile(overlay, text, 0o600))
	return build(t, top, "older"), build(t, top, "newer", "-overlay="+overlay)
}

// fleet are the replicas that events are sent to.
type fleet struct {
	mu   sync.Mutex
	urls []string
}

func (f *fleet) change(add, remove string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	urls := []string{}
	for _, url := range f.urls {
		if url != remove {
			urls = append(urls, url)
		}
	}
	if add != "" {
		urls = append(urls, add)
	}
	f.urls = urls
}

// post sends an event to one that takes it, as a balancer does, and one after the other from the n-th on.
func (f *fleet) post(n int, body string) {
	for ; ; n++ {
		f.mu.Lock()
		url := f.urls[n%len(f.urls)]
		f.mu.Unlock()
		answer, err := http.Post(url+"/webhook/custom/"+webhooks, "application/json", strings.NewReader(body))
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusAccepted {
				return
			}
		}
		time.Sleep(20 * time.Millisecond) // as who sends webhooks waits before it tries again
	}
}

func TestReplicasAreUpgradedOneByOne(t *testing.T) {
	if underRace || testing.Short() {
		t.Skip("builds the program twice")
	}
	address := postgrestest.Schema(t, postgrestest.Shared(t).URL())
	older, newer := programs(t)
	const shows, episodes = 3, 40
	list, site := catalogtest.Start(t, catalogtest.Config{Users: []catalogtest.User{{Username: "mira", Token: token}}})
	for show := 1; show <= shows; show++ {
		id := catalog.SubjectID(show)
		list.AddSubject(catalogtest.Subject{ID: id, Type: catalog.Anime, Name: fmt.Sprintf("灯台守のうた%d", show), NameCN: strings.Repeat("灯塔", show) + "守望者", Date: "2024-01-10", Platform: "TV", Eps: 2 * episodes})
		for n := 1; n <= 2*episodes; n++ {
			list.AddEpisodes(id, catalogtest.Episode{ID: catalog.EpisodeID(1000*show + n), Type: catalog.Main, Sort: float64(n), AirDate: "2024-01-10"})
		}
	}
	folders := []string{t.TempDir(), t.TempDir()}
	all := &fleet{}
	start := func(program, folder string) *process {
		t.Helper()
		cmd := command(t, []string{
			"WATCHMARK_DATABASE_URL=" + address, "WATCHMARK_SECRET_KEY=" + strings.Repeat("ab", 32), "WATCHMARK_AUTH_WEBHOOK_KEY=" + webhooks, "WATCHMARK_AUTH_ENABLED=false",
			"WATCHMARK_CATALOG_API_URL=" + site, "WATCHMARK_CATALOG_WEB_URL=" + site, "WATCHMARK_CATALOG_REQUESTS_PER_MINUTE=60000", "WATCHMARK_CATALOG_BURST=10000",
		}, "serve", "--listen", "127.0.0.1:0", "--data", folder)
		cmd.Path, cmd.Args[0] = program, program
		p := launch(t, cmd, serviceListens)
		all.change(p.url, "")
		return p
	}
	end := func(p *process) {
		t.Helper()
		must(t, p.cmd.Process.Signal(syscall.SIGTERM))
		until(t, "it is not ready", func() bool {
			answer, err := http.Get(p.url + "/health")
			if err != nil {
				return true
			}
			_ = answer.Body.Close()
			return answer.StatusCode != http.StatusOK
		})
		all.change("", p.url) // as a balancer does
		<-p.ended
		if p.result != nil {
			text, _ := p.out.read()
			t.Errorf("a replica ended with %v: %s", p.result, text)
		}
	}
	one, two := start(older, folders[0]), start(older, folders[1])
	wants(t, http.StatusCreated, http.MethodPost, one.url+"/api/accounts", "", `{"username":"mira","media_user_names":["Mira"],"access_token":"`+token+`"}`, nil)

	upgraded := make(chan struct{})
	var sending sync.WaitGroup
	sent := [shows]int{}
	for show := range shows {
		sending.Go(func() {
			for n := 1; n <= 2*episodes; n++ {
				if n > episodes {
					select {
					case <-upgraded: // enough has come meanwhile
						return
					default:
					}
				}
				all.post(n+show, fmt.Sprintf(`{"title":"%s守望者","season":1,"episode":%d,"release_date":"2024-01-10","user_name":"Mira"}`, strings.Repeat("灯塔", show+1), n))
				sent[show] = n
				time.Sleep(200 * time.Millisecond) // events of an evening, and not a flood
			}
		})
	}
	// The new program migrates while the old one works, and takes its place; and one goes back.
	end(one)
	one = start(newer, folders[0])
	end(two)
	two = start(newer, folders[1])
	end(one)
	one = start(older, folders[0])
	if os.Getenv(oldProgram)+os.Getenv(oldRevision) == "" {
		for p, want := range map[*process]bool{one: false, two: true} {
			var seen struct {
				Database struct {
					Schema int64 `json:"schema_version"`
				}
			}
			wants(t, http.StatusOK, http.MethodGet, p.url+"/api/replicas", "", "", &seen)
			if knows := seen.Database.Schema == 99998; knows != want {
				t.Errorf("a program knows version %d of the database: it is the wrong one", seen.Database.Schema)
			}
		}
	}
	close(upgraded)
	sending.Wait()

	marked := func() (n int) {
		for _, mark := range list.Marks() {
			if mark.Type == catalog.EpisodeWatched {
				n++
			}
		}
		return n
	}
	want := sent[0] + sent[1] + sent[2]
	until(t, fmt.Sprintf("all %d are marked", want), func() bool { return marked() >= want })
	if got := marked(); got != want {
		t.Errorf("%d episodes are marked, %d were sent", got, want)
	}
	written := map[catalog.EpisodeID]int{}
	for _, write := range list.Writes() {
		for _, episode := range write.Episodes {
			if written[episode]++; written[episode] > 1 {
				t.Errorf("episode %d is written %d times", episode, written[episode])
			}
		}
	}
	for _, p := range []*process{one, two} {
		p.stop(syscall.SIGTERM)
	}
}

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so in time: %s", what)
		}
	}
}
