package snapshot_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/rowread"
	"watchmark/internal/platform/task"
	"watchmark/internal/upkeep/snapshot"
)

// bring brings a file in as a snapshot.
func (r *rig) bring(text string) snapshot.Snapshot {
	r.t.Helper()
	f, err := snapshot.ReadFile(strings.NewReader(text))
	must(r.t, err)
	ended := r.ends(r.BringIn(r.t.Context(), r.mira.ID, f, false))
	kept, is := task.ResultOf[snapshot.Snapshot](ended)
	if !is {
		r.t.Fatalf("%+v", ended)
	}
	return kept
}

// out is a snapshot as a file.
func (r *rig) out(s snapshot.Snapshot) string {
	r.t.Helper()
	var text bytes.Buffer
	must(r.t, r.Export(r.t.Context(), r.mira, s, snapshot.JSON, &text))
	return text.String()
}

func TestAListThatWasTakenOutIsBroughtIn(t *testing.T) {
	r := newRig(t)
	entries, marks := r.fill()
	first, _ := r.take()
	text := r.out(first)
	kept := r.bring(text)
	if kept.Source != snapshot.FromFile || kept.Entries != entries || kept.Marks != marks || !kept.TakenAt.Equal(first.TakenAt) {
		t.Errorf("it is kept as %+v, of %+v", kept, first)
	}
	if again := r.out(kept); again != text {
		t.Error("taken out once more it is another file")
	}
	for _, pair := range [][2]int64{{first.ID, kept.ID}, {kept.ID, first.ID}} {
		d, err := r.Diff(t.Context(), pair[0], pair[1])
		must(t, err)
		if len(d.Items) != 0 {
			t.Errorf("%v differ in %d entries, such as %+v", pair, len(d.Items), d.Items[0])
		}
	}

	// It stands beside the readings of the list, and changes nothing of them.
	if newest, err := r.Newest(t.Context(), r.mira.ID); err != nil || newest.ID != first.ID {
		t.Errorf("the newest is %+v %v", newest, err)
	}
	r.list.Reset()
	gone, _ := r.take()
	if gone.Entries != 0 {
		t.Errorf("%+v", gone)
	}
	d, err := r.Diff(t.Context(), gone.ID, kept.ID)
	must(t, err)
	if d.Counts[snapshot.Added] != entries {
		t.Errorf("it counts %v", d.Counts)
	}
	history, err := r.History(t.Context(), r.mira.ID, firstID)
	must(t, err)
	if len(history) != 2 {
		t.Errorf("the history of an entry is %+v", history)
	}

	// Neither what is old nor what somebody deletes takes it along.
	r.keep = 1
	r.fill()
	r.take()
	if r.out(kept) != text {
		t.Error("it lost what it had")
	}
	must(t, r.Delete(t.Context(), kept.ID))
	if _, err := r.Get(t.Context(), kept.ID); !errors.Is(err, snapshot.ErrNotFound) {
		t.Error(err)
	}
	var left int
	must(t, r.db.Read().QueryRowContext(t.Context(), `SELECT COUNT(*) FROM listed_entries WHERE since = until`).Scan(&left))
	if left != 0 {
		t.Errorf("%d of its rows are left", left)
	}
}

const (
	fileHead = `{"format":1,"account":{"id":7,"username":"mira"},"taken_at":"2026-01-02T03:04:05Z","total":1,"entries":[`
	oneEntry = `{"subject_id":5,"subject_type":2,"type":2,"rate":8,"comment":"c","tags":["TV"],"private":false,"ep_status":1,"vol_status":0,"updated_at":"2026-01-01T00:00:00Z","subject":{"name":"n","name_cn":"","date":"2020-01-01","eps":12},"marks":[{"id":9,"kind":0,"sort":1,"ep":1,"state":2,"updated_at":0}]}`
)

func TestFilesThatAreNoLists(t *testing.T) {
	r := newRig(t)
	for name, c := range map[string]struct{ text, code string }{
		"nothing":                {``, "snapshot_file_other"},
		"a list of watches":      {`{"format":1,"kind":"watches","records":[]}`, "snapshot_file_other"},
		"a list in a list":       {`[` + fileHead + oneEntry + `]}]`, "snapshot_file_other"},
		"cut off":                {fileHead + oneEntry, "snapshot_file_broken"},
		"cut off in an entry":    {fileHead + oneEntry[:200], "snapshot_file_broken"},
		"more behind it":         {fileHead + oneEntry + `]}{}`, "snapshot_file_other"},
		"without entries":        {`{"format":1,"account":{"id":7},"taken_at":"2026-01-02T03:04:05Z"}`, "snapshot_file_other"},
		"twice the entries":      {fileHead + `],"entries":[]}`, "snapshot_file_other"},
		"of a later version":     {strings.Replace(fileHead, `"format":1`, `"format":2`, 1) + `]}`, "snapshot_file_newer"},
		"of the future":          {strings.Replace(fileHead, "2026-01", "2926-01", 1) + `]}`, "snapshot_file_time"},
		"an entry twice":         {fileHead + oneEntry + `,` + oneEntry + `]}`, "snapshot_file_entry"},
		"a rating of 11":         {fileHead + strings.Replace(oneEntry, `"rate":8`, `"rate":11`, 1) + `]}`, "snapshot_file_entry"},
		"no state":               {fileHead + strings.Replace(oneEntry, `"type":2`, `"type":0`, 1) + `]}`, "snapshot_file_entry"},
		"a mark without a state": {fileHead + strings.Replace(oneEntry, `"state":2`, `"state":0`, 1) + `]}`, "snapshot_file_entry"},
		"a mark twice":           {fileHead + strings.Replace(oneEntry, `"marks":[`, `"marks":[{"id":9,"kind":0,"sort":1,"ep":1,"state":2,"updated_at":0},`, 1) + `]}`, "snapshot_file_entry"},
		"a number too large":     {fileHead + strings.Replace(oneEntry, `"subject_id":5`, `"subject_id":99999999999999999999`, 1) + `]}`, "snapshot_file_broken"},
		"a field nobody knows":   {fileHead + strings.Replace(oneEntry, `"rate":8`, `"rate":8,"token":"x"`, 1) + `]}`, "snapshot_file_broken"},
		"a very long text":       {fileHead + strings.Replace(oneEntry, `"comment":"c"`, `"comment":"`+strings.Repeat("c", 10_001)+`"`, 1) + `]}`, "snapshot_file_entry"},
		"an entry without end":   {fileHead + strings.Replace(oneEntry, `"TV"`, `"`+strings.Repeat(`a","`, rowread.RowMost/2)+`"`, 1) + `]}`, "file_row_large"},
		"a head without end":     {strings.Replace(fileHead, `"mira"`, `"`+strings.Repeat("a", rowread.RowMost*2)+`"`, 1) + `]}`, "file_row_large"},
		"UTF-16":                 {"\xff\xfe{\x00", "file_encoding"},
		"a number out of sense":  {fileHead + strings.Replace(oneEntry, `"sort":1`, `"sort":1e309`, 1) + `]}`, "snapshot_file_broken"},
		"a number below zero":    {fileHead + strings.Replace(oneEntry, `"sort":1`, `"sort":-1`, 1) + `]}`, "snapshot_file_entry"},
		"depth without an end":   {fileHead + strings.Repeat("[", 20_000), "snapshot_file_broken"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := snapshot.ReadFile(strings.NewReader(c.text)); !strings.HasPrefix(codeOf(err), c.code) {
				t.Errorf("%v", err)
			}
		})
	}
	if _, err := snapshot.ReadFile(strings.NewReader("\ufeff" + fileHead + oneEntry + `]}`)); err != nil {
		t.Errorf("with a byte order mark: %v", err)
	}
	var large *http.MaxBytesError
	if _, err := snapshot.ReadFile(http.MaxBytesReader(nil, io.NopCloser(strings.NewReader(fileHead+oneEntry+`]}`)), 300)); !errors.As(err, &large) {
		t.Error(err)
	}
	all, err := r.List(t.Context(), r.mira.ID)
	if err != nil || len(all) != 0 {
		t.Errorf("%v %v", all, err)
	}
}

func TestAListOfAnotherAccountIsAskedFor(t *testing.T) {
	r := newRig(t)
	r.fill()
	r.take() // by that it is known whose the account is
	text := strings.Replace(fileHead, `"id":7,"username":"mira"`, `"id":8,"username":"alex"`, 1) + oneEntry + `]}`
	f, err := snapshot.ReadFile(strings.NewReader(text))
	must(t, err)
	if _, err := r.BringIn(t.Context(), r.mira.ID, f, false); codeOf(err) != "snapshot_file_account" {
		t.Error(err)
	}
	if ended := r.ends(r.BringIn(t.Context(), r.mira.ID, f, true)); ended.State != task.Done {
		t.Errorf("%+v", ended)
	}
	if _, err := r.BringIn(t.Context(), 99, f, true); !errors.Is(err, account.ErrNotFound) {
		t.Error(err)
	}
	all, err := r.List(t.Context(), r.mira.ID)
	must(t, err)
	if len(all) != 2 || all[1].Source != snapshot.FromFile || all[1].TakenAt.Year() != 2026 || time.Since(all[0].TakenAt) < 0 {
		t.Errorf("they are %+v", all)
	}
}

func FuzzReadFile(f *testing.F) {
	for _, text := range []string{"", "{}", fileHead + oneEntry + "]}", fileHead, `{"format":9}`, fileHead + strings.Replace(oneEntry, "9", "-9", 1) + "]}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := snapshot.ReadFile(strings.NewReader(text)); err != nil && codeOf(err) == "" {
			t.Errorf("%q is refused by %v", text, err)
		}
	})
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return reason.Of(err).Code
}
