package api_test

import (
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"watchmark/internal/testkit/nastest"
)

// library is that of a NAS on which mira and alex watched an episode each, an hour ago.
func library(t *testing.T) *nastest.Library {
	t.Helper()
	l := nastest.Create(t, t.TempDir())
	l.User("0a1b", "mira")
	l.User("0a1c", "alex")
	l.Item("show", "TV", "", "灯塔守望者", nil)
	l.Item("first", "Episode", "show", "x", nastest.Columns{"episode_number": 1, "season_number": 1})
	l.Item("second", "Episode", "show", "y", nastest.Columns{"season_number": 1})
	at := time.Now().Add(-time.Hour).UnixMilli()
	l.Play("0a1b", "first", at, nil)
	l.Play("0a1b", "second", at, nil)
	l.Play("0a1c", "first", at, nil)
	return l
}

func TestNAS(t *testing.T) {
	l := library(t)
	r := newRig(t, "WATCHMARK_NAS_DATABASE_PATH="+l.Path)
	r.mira()
	r.do("GET", "/api/nas/status", nil).want(http.StatusOK, `"enabled":false`, `"watermark":null`, `"next_run":null`, `"reasons":[]`, `"watched_values":[]`, `"missing":[]`)
	r.do("GET", "/api/nas/users", nil).want(http.StatusOK, `{"items":[{"guid":"0a1c","user_name":"alex","active":true,"admin":false},{"guid":"0a1b","user_name":"mira"`)
	r.do("POST", "/api/nas/sync/manual", nil).problem(http.StatusConflict, "switched off")
	r.do("POST", "/api/nas/sync/manual?range=ever", nil).problem(http.StatusUnprocessableEntity, "query.range")
	r.do("POST", "/api/nas/sync/manual?range=all&user=nobody", nil).problem(http.StatusUnprocessableEntity, "query.user", "no such user", "/api/nas/users")
	got := r.do("POST", "/api/nas/sync/manual?range=1day&user=0a1b", nil).want(http.StatusOK,
		`"read":2`, `"skipped":1`, `"taken":1`, `"record_ids":[1]`, `"reason":"an episode without a number"`, `"example":"灯塔守望者 / y"`, `"more":false`)
	if got.get("known") != 0.0 {
		t.Errorf("the first time is known already: %s", got.body)
	}
	r.do("GET", "/api/records/1", nil).want(http.StatusOK, `"source":"nas"`, `"user_name":"mira"`, `"title":"灯塔守望者"`)
	r.do("POST", "/api/nas/sync/manual?range=all", nil).want(http.StatusOK, `"known":1`, `"taken":1`, `"record_ids":[2]`)
	if err := r.settings.Patch(t.Context(), map[string]map[string]any{"nas": {"enabled": true}}); err != nil {
		t.Fatal(err)
	}
	r.do("POST", "/api/nas/sync/manual?user=all", nil).want(http.StatusOK, `"read":0`, `"record_ids":[]`)
	r.do("GET", "/api/nas/status", nil).want(http.StatusOK, `"enabled":true`, `"watched_values":["1"]`, `"watermark":"20`, `"next_run":"20`)
	if err := r.settings.Patch(t.Context(), map[string]map[string]any{"nas": {"user": "nobody"}}); err != nil {
		t.Fatal(err)
	}
	r.do("POST", "/api/nas/sync/manual", nil).problem(http.StatusConflict, "nas.user", "no user nobody")
	r.anonymous("POST", "/api/nas/sync/manual", nil).want(http.StatusUnauthorized)
}

func TestNASThatCannotBeRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trimmedia.db")
	r := newRig(t, "WATCHMARK_NAS_DATABASE_PATH="+path, "WATCHMARK_NAS_ENABLED=true")
	r.do("GET", "/api/nas/users", nil).problem(http.StatusConflict, "There is no file "+path)
	r.do("POST", "/api/nas/sync/manual", nil).problem(http.StatusConflict, "There is no file "+path, "container")
	r.do("GET", "/api/nas/status", nil).want(http.StatusOK, `"last_error_kind":"missing"`, `"handling":""`, path)
}
