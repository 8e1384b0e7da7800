package api_test

import (
	"bytes"
	"net/http"
	"testing"

	"watchmark/internal/catalog/archive"
	"watchmark/internal/testkit/dumptest"
)

func TestArchiveBeforeTheFirstImport(t *testing.T) {
	r := newRig(t)
	r.do("GET", "/api/catalog_archive/status", nil).want(http.StatusOK, `"enabled":false`, `"last_error":""`, `"import_in_progress":false`, `"current_progress":null`, `"index_ready":false`, `"next_run":null`, `"subjects":0`, `"size":0`)
	r.do("GET", "/api/catalog_archive/search?q=x", nil).problem(http.StatusConflict, "no offline data yet")
	r.do("GET", "/api/catalog_archive/search", nil).problem(http.StatusUnprocessableEntity)
	r.do("GET", "/api/catalog_archive/subjects/1", nil).problem(http.StatusConflict)
	r.do("GET", "/api/catalog_archive/airing?from=2026-01-05", nil).problem(http.StatusConflict)
	r.do("GET", "/api/catalog_archive/airing?from=soon", nil).problem(http.StatusUnprocessableEntity)
	r.do("GET", "/api/catalog_archive/progress_log", nil).problem(http.StatusNotFound)
	r.do("GET", "/api/catalog_archive/progress?task_id=x", nil).problem(http.StatusNotFound)
	r.do("POST", "/api/catalog_archive/cancel", nil).problem(http.StatusNotFound)
}

func TestArchiveIsSearched(t *testing.T) {
	r := newRig(t)
	spec := dumptest.Scaled(0.001)
	var dump bytes.Buffer
	if err := dumptest.Write(&dump, spec); err != nil {
		t.Fatal(err)
	}
	if _, err := r.archive.Import(t.Context(), archive.Dump{Data: bytes.NewReader(dump.Bytes()), Size: int64(dump.Len())}, func(archive.Progress) {}); err != nil {
		t.Fatal(err)
	}
	r.do("GET", "/api/catalog_archive/search?q=the&limit=3", nil).want(http.StatusOK, `"items":[`, `"next_cursor":""`)
	r.do("GET", "/api/catalog_archive/search?q=%00%ff&type=anime", nil).want(http.StatusOK, `"items":[]`)
	r.do("GET", "/api/catalog_archive/search?q=x&type=book", nil).problem(http.StatusUnprocessableEntity)
	r.do("GET", "/api/catalog_archive/search?q=x&limit=101", nil).problem(http.StatusUnprocessableEntity)
	r.do("GET", "/api/catalog_archive/subjects/99999999", nil).problem(http.StatusNotFound, "no such entry")
	r.do("GET", "/api/catalog_archive/status", nil).want(http.StatusOK, `"subjects":130`, `"index_ready":true`)
}
