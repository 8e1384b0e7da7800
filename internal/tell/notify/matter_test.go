package notify_test

import (
	"fmt"
	"strings"
	"testing"

	"watchmark/internal/tell/notify"
	"watchmark/internal/testkit/dbtest"
)

func TestAMatterCountsOnceAndIsClosedWhenItIsSettled(t *testing.T) {
	r := newRig(t, dbtest.Folder(t))
	nobody := notify.Notice{Kind: notify.NoAccount, User: "bench", About: "bench"}
	list := func(f notify.Filter) string {
		t.Helper()
		entries, _, err := r.List(t.Context(), f)
		must(t, err)
		var all []string
		for _, e := range entries {
			words := fmt.Sprintf("%d %s x%d", e.ID, e.Kind, e.Times)
			if e.Replaced {
				words += " replaced"
			}
			if !e.OverAt.IsZero() {
				words += " over"
			}
			all = append(all, words)
		}
		return strings.Join(all, ", ")
	}
	holds := func(when, open string, unread int) {
		t.Helper()
		got, err := r.Unread(t.Context())
		must(t, err)
		if have := list(notify.Filter{Attention: true, Open: true}); have != open || got.All != unread || got.Attention != unread {
			t.Errorf("%s: open are %q, unread %+v; want %q and %d", when, have, got, open, unread)
		}
	}
	for n := range 3 {
		nobody.AccountID = int64(n) // what an account was before it went is nothing to the matter
		r.Add(t.Context(), nobody)
	}
	holds("three plays of one person", "3 no_account x3", 1)
	other := notify.Notice{Kind: notify.NoAccount, User: "alex", About: "alex"}
	r.Add(t.Context(), other)
	holds("and one of another", "4 no_account x1, 3 no_account x3", 2)
	if got := list(notify.Filter{}); got != "4 no_account x1, 3 no_account x3, 2 no_account x2 replaced, 1 no_account x1 replaced" {
		t.Errorf("all are %q", got)
	}
	if got := list(notify.Filter{Standing: true}); got != "4 no_account x1, 3 no_account x3" {
		t.Errorf("those that stand are %q", got)
	}
	nobody.Over = true
	r.Add(t.Context(), nobody)
	holds("one is settled", "4 no_account x1", 1)
	if got := list(notify.Filter{Standing: true}); got != "4 no_account x1, 3 no_account x3 over" {
		t.Errorf("those that stand are %q", got)
	}
	nobody.Over = false
	r.Add(t.Context(), nobody)
	holds("it came up anew", "5 no_account x1, 4 no_account x1", 2)
	r.Add(t.Context(), notify.Notice{Kind: notify.SummaryReady, About: "x"}, notify.Notice{Kind: notify.SummaryReady, About: "x"})
	if got := list(notify.Filter{Standing: true, Kinds: []notify.Kind{notify.SummaryReady}}); got != "7 summary_ready x1, 6 summary_ready x1" {
		t.Errorf("what is no warning is %q", got)
	}
}
