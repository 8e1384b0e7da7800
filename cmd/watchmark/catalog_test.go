package main

import (
	"archive/zip"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMatchExplainsATitle(t *testing.T) {
	list, data := simulate(t), t.TempDir()
	match := func(args ...string) ran {
		t.Helper()
		return finish(t, command(t, []string{"WATCHMARK_CATALOG_API_URL=" + list.url}, append([]string{"match", "--data", data}, args...)...), "")
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"an episode":      {[]string{"灯塔守望者", "--original", "灯台守のうた", "--season", "2", "--episode", "7", "--date", "2025-02-19"}, "matched: 900002 灯塔守望者 第二季, episode 19 (id 90000207)"},
		"a film":          {[]string{"剧场版 灯塔守望者 北之光", "--movie", "--date", "2025-09-12"}, "matched: 900003"},
		"not certain":     {[]string{"Moonshade Teahouse"}, "review: "},
		"nothing like it": {[]string{"完全没有的标题"}, "not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			got := match(c.args...)
			if got.code != 0 || got.err != "" {
				t.Errorf("exit %d, %s", got.code, got.err)
			}
			mustHold(t, got.out, "\n"+c.want)
		})
	}
	t.Run("as JSON", func(t *testing.T) {
		var trace struct {
			Result struct {
				Status    string `json:"status"`
				SubjectID int    `json:"subject_id"`
				EpisodeID int    `json:"episode_id"`
			} `json:"result"`
			Steps []struct {
				Name string `json:"name"`
			} `json:"steps"`
		}
		must(t, json.Unmarshal([]byte(match("灯塔守望者", "--json").out), &trace))
		if r := trace.Result; r.Status != "matched" || r.SubjectID != 900001 || r.EpisodeID != 90000101 || len(trace.Steps) < 2 {
			t.Errorf("%+v", trace)
		}
	})
	if told := list.marks(); told.Writes != 0 {
		t.Errorf("matching wrote %d times", told.Writes)
	}
	t.Run("without a catalog", func(t *testing.T) {
		got := finish(t, command(t, []string{"WATCHMARK_CATALOG_API_URL=" + nowhere}, "match", "灯塔守望者", "--data", data), "")
		if got.code != 1 {
			t.Errorf("exit %d", got.code)
		}
		mustHold(t, got.out, "unreachable")
		mustHold(t, got.err, "catalog.api_url")
	})
}

// TestSimulateKeepsItsContract uses the paths that scripts rely on.
func TestSimulateKeepsItsContract(t *testing.T) {
	list := simulate(t, "--token", "token-of-alex:alex")
	const entry, episode = "/v0/users/-/collections/900001", "/v0/users/-/collections/-/episodes/90000102"
	fault := func(body string, status int) answer {
		t.Helper()
		return wants(t, status, http.MethodPost, list.url+"/_sim/fault", "", body, nil)
	}
	raw := wants(t, http.StatusOK, http.MethodGet, list.url+"/_sim/marks", "", "", nil)
	mustHold(t, raw.body, `"marks":[]`, `"writes":0`)
	wants(t, http.StatusUnauthorized, http.MethodPost, list.url+entry, "another", `{"type":3}`, nil)
	for name, bearer := range map[string]string{"mira": token, "alex": "token-of-alex"} {
		wants(t, http.StatusAccepted, http.MethodPost, list.url+entry, bearer, `{"type":3}`, nil)
		wants(t, http.StatusNoContent, http.MethodPut, list.url+episode, bearer, `{"type":2}`, nil)
		mustHold(t, wants(t, http.StatusOK, http.MethodGet, list.url+"/v0/me", bearer, "", nil).body, `"username":"`+name+`"`)
	}
	told := list.marks()
	if told.Writes != 4 || len(told.Marks) != 2 {
		t.Fatalf("told %+v", told)
	}
	if m := told.Marks[1]; m.Username != "mira" || m.SubjectID != 900001 || m.EpisodeID != 90000102 || m.Type != 2 || m.At.IsZero() {
		t.Errorf("told %+v", m)
	}

	fault(`{"mode":"status","status":503,"retry_after":7,"for_ms":0,"paths":"writes"}`, http.StatusNoContent)
	if got := wants(t, http.StatusServiceUnavailable, http.MethodPut, list.url+episode, token, `{"type":2}`, nil).header.Get("Retry-After"); got != "7" {
		t.Errorf("Retry-After %q", got)
	}
	wants(t, http.StatusOK, http.MethodGet, list.url+"/v0/subjects/900001", "", "", nil)
	fault(`{"mode":"none"}`, http.StatusNoContent)
	wants(t, http.StatusNoContent, http.MethodPut, list.url+episode, token, `{"type":2}`, nil)
	for _, mode := range []string{"refuse", "hang", "cut", "slow"} {
		fault(`{"mode":"`+mode+`"}`, http.StatusNoContent)
	}
	for _, wrong := range []string{`{"mode":"explode"}`, `{"mode":"status","status":200}`, `{"mode":"hang","paths":"some"}`, `{"mode":"slow","for_ms":-1}`, `{`} {
		fault(wrong, http.StatusBadRequest)
	}
	wants(t, http.StatusNoContent, http.MethodPost, list.url+"/_sim/reset", "", "", nil)
	if told := list.marks(); told.Writes != 0 || len(told.Marks) != 0 {
		t.Errorf("after the reset %+v", told)
	}
	wants(t, http.StatusOK, http.MethodGet, list.url+"/v0/me", token, "", nil) // the fault is gone, the token is not
}

func TestSimulateLoadsADump(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dump.zip")
	file, err := os.Create(path)
	must(t, err)
	dump := zip.NewWriter(file)
	for name, line := range map[string]string{
		"subject.jsonlines":           `{"id":5,"type":2,"name":"夜警","name_cn":"守夜人","infobox":"","platform":1,"summary":"","nsfw":false,"date":"2020-01-05"}`,
		"episode.jsonlines":           `{"id":51,"name":"","name_cn":"","airdate":"2020-01-05","subject_id":5,"sort":1,"type":0}`,
		"subject-relations.jsonlines": "",
	} {
		member, err := dump.Create(name)
		must(t, err)
		_, err = member.Write([]byte(line + "\n"))
		must(t, err)
	}
	must(t, dump.Close())
	must(t, file.Close())
	list := simulate(t, "--dump", path)
	mustHold(t, wants(t, http.StatusOK, http.MethodGet, list.url+"/v0/subjects/5", "", "", nil).body, "守夜人")
	wants(t, http.StatusNotFound, http.MethodGet, list.url+"/v0/subjects/900001", "", "", nil)
}

func TestDemoOncePlaysEverySource(t *testing.T) {
	t.Parallel()
	temporary := t.TempDir()
	got := finish(t, command(t, []string{"TMPDIR=" + temporary, "TMP=" + temporary, "WATCHMARK_CATALOG_API_URL=" + nowhere}, "demo", "--once"), "")
	if got.code != 0 || got.err != "" {
		t.Errorf("exit %d, %s", got.code, got.err)
	}
	if !strings.HasPrefix(got.out, "Starting the demo") { // Go was silent before
		t.Errorf("it begins with %.80q", got.out)
	}
	marked := map[string]bool{}
	source := ""
	for line := range strings.Lines(got.out) {
		if fields := strings.Fields(line); len(fields) > 0 && line[0] != ' ' {
			source = fields[0]
		} else if strings.Contains(line, "success: marked as watched") {
			marked[source] = true
		}
	}
	for _, source := range []string{"plex", "tautulli", "emby", "jellyfin", "custom"} {
		if !marked[source] {
			t.Errorf("%s marked nothing: %s", source, got.out)
		}
	}
	mustHold(t, got.out, "ok    ignored: ", "ok    review: ", "ok    success: already watched")
	if strings.Contains(got.out, "WRONG") {
		t.Error(got.out)
	}
	if left := leftIn(t, temporary); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
