package notify_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/notify/channel"
	"watchmark/internal/testkit/dbtest"
)

func TestTheInbox(t *testing.T) {
	r := newRig(t, dbtest.Folder(t))
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	notices := []notify.Notice{
		{Kind: notify.Marked, At: at, User: "mira", Account: "alex", AccountID: 7, RecordID: 12, Facts: map[string]string{"title": `100% "葬送"`, "empty": "", "bad": "a\xffb\x00c"}},
		{Kind: notify.MarkFailed, User: "mira", RecordID: 13, Facts: map[string]string{"title": "Frieren"}},
		{Kind: notify.TokenExpiring, Account: "bench"},
		{Kind: notify.ArchiveImported},
	}
	for range 5 {
		notices = append(notices, notify.Notice{Kind: notify.Queued, User: "mira"})
	}
	r.add(notices...)
	first, err := r.Get(t.Context(), 1)
	must(t, err)
	want := map[string]string{"title": `100% "葬送"`, "bad": "abc"}
	if first.Kind != notify.Marked || !first.At.Equal(at) || first.User != "mira" || first.Account != "alex" || first.AccountID != 7 || first.RecordID != 12 ||
		first.Severity != notify.Success || first.Unread || !maps.Equal(first.Facts, want) {
		t.Errorf("%+v", first)
	}
	for name, c := range map[string]struct {
		filter notify.Filter
		want   string
	}{
		"all":                  {notify.Filter{}, "9 8 7 6 5 4 3 2 1"},
		"kinds":                {notify.Filter{Kinds: []notify.Kind{notify.Marked, notify.MarkFailed}}, "2 1"},
		"what wants attention": {notify.Filter{Attention: true}, "3 2"},
		"without routine":      {notify.Filter{Notable: true}, "4 3 2"},
		"unread":               {notify.Filter{Unread: true}, "4 3 2"},
		"by a word of a fact":  {notify.Filter{Text: "frier"}, "2"},
		"by a sign":            {notify.Filter{Text: "0%"}, "1"},
		"by a name":            {notify.Filter{Text: "bench"}, "3"},
		"not by a fact's name": {notify.Filter{Text: "title"}, ""},
		"before":               {notify.Filter{Before: 3}, "2 1"},
		"all at once":          {notify.Filter{Kinds: []notify.Kind{notify.MarkFailed}, Attention: true, Unread: true, Text: "mira", Before: 9}, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for c.filter.Limit = 2; ; {
				entries, next, err := r.List(t.Context(), c.filter)
				must(t, err)
				for _, e := range entries {
					got = append(got, fmt.Sprint(e.ID))
				}
				if c.filter.Before = next; next == 0 {
					break
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%v, want %s", got, c.want)
			}
		})
	}
	unread := func(all, attention, uncounted int) {
		t.Helper()
		got, err := r.Unread(t.Context())
		must(t, err)
		if got != (notify.Unread{All: all, Attention: attention, Uncounted: uncounted}) {
			t.Errorf("%+v unread, want %d, %d and %d", got, all, attention, uncounted)
		}
	}
	unread(3, 2, 1)
	must(t, r.MarkRead(t.Context(), 2, 99))
	unread(2, 1, 1)
	must(t, r.MarkAllRead(t.Context(), 3))
	unread(1, 0, 0)
	must(t, r.Delete(t.Context(), 4, 5, 99))
	unread(0, 0, 0)
	if len(r.newest()) != 7 {
		t.Errorf("%d are left", len(r.newest()))
	}
	if _, err := r.Get(t.Context(), 4); !errors.Is(err, notify.ErrNotFound) {
		t.Error(err)
	}
}

func TestANoticeIsBounded(t *testing.T) {
	r := newRig(t, dbtest.Folder(t))
	long := strings.Repeat("界", 10_000)
	facts := map[string]string{}
	for n := range 20 {
		facts[fmt.Sprint("fact", n)] = long
	}
	r.add(notify.Notice{Kind: notify.SummaryReady, User: long, Account: long, Facts: facts})
	size := 0
	e := r.newest()[0]
	for _, value := range e.Facts {
		size += len(value)
	}
	if size > 25_000 || len(e.User) > 200 || len(e.Account) > 200 {
		t.Errorf("%d bytes of facts are kept", size)
	}
	err := r.DB.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		return r.AddTx(ctx, tx, notify.Notice{Kind: "no kind"})
	})
	if err == nil || len(r.newest()) != 1 {
		t.Error("a kind that does not exist is stored")
	}
}

func TestPrune(t *testing.T) {
	r := newRig(t, dbtest.Folder(t))
	r.channel("phone", channel.TypeWebhook)
	r.onlyRule(notify.Rule{Kinds: []notify.Kind{notify.MarkFailed}, Cooldown: 1})
	old := failed(0)
	old.At = time.Now().Add(-91 * 24 * time.Hour)
	fresh := failed(1)
	fresh.At = time.Now().Add(-89 * 24 * time.Hour)
	r.add(old, fresh)
	for kind, count := range map[notify.Kind]int{notify.Marked: 5_010, notify.ArchiveImported: 20_004} {
		r.exec(`INSERT INTO notices (at, kind, severity, routine, unread, user_name, account_id, account_name, record_id, facts, words)
			WITH RECURSIVE numbers AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < CAST(? AS BIGINT))
			SELECT ?, ?, 1, ?, 0, '', 0, '', 0, '{}', '' FROM numbers`, count, time.Now().UnixMilli(), kind, kind == notify.Marked)
	}
	r.exec(`UPDATE notification_cooldowns SET until = 0`)
	prune := func() (total int64) {
		for {
			n, err := r.Prune(t.Context(), 8)
			must(t, err)
			if n > 16 {
				t.Fatalf("%d rows went at once", n)
			}
			if total += n; n == 0 {
				return total
			}
		}
	}
	// The old one, ten of the routine, then five of the others with the fresh one among them; two cooldowns.
	if got := prune(); got != 1+10+5+2 {
		t.Errorf("%d rows went", got)
	}
	counts := map[notify.Kind]int{}
	rows, err := r.DB.Read().QueryContext(t.Context(), `SELECT kind, COUNT(*) FROM notices GROUP BY kind`)
	must(t, err)
	defer func() { must(t, rows.Close()) }()
	for rows.Next() {
		var kind notify.Kind
		var count int
		must(t, rows.Scan(&kind, &count))
		counts[kind] = count
	}
	must(t, rows.Err())
	if counts[notify.Marked] != 5_000 || counts[notify.ArchiveImported] != 20_000 || len(counts) != 2 || len(r.states()) != 0 {
		t.Errorf("left are %v and %v", counts, r.states())
	}
}
