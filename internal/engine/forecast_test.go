package engine_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/match"
	"watchmark/internal/platform/reason"
	"watchmark/internal/source/preview"
)

func TestAForecastTellsWhatWouldBecomeOfEvents(t *testing.T) {
	h := newHouse(t)
	one := h.account(t, "one", true, "mira")
	two := h.account(t, "two", true, "mira")
	dry := func(on bool, accounts ...account.Account) {
		t.Helper()
		for _, a := range accounts {
			if _, err := h.accounts.Update(t.Context(), a.ID, account.Change{DryRun: &on}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, mark := range []string{"one/8/801", "two/8/801", "two/8/802"} {
		h.list.watched[mark] = true
	}
	h.matcher.set("odd", match.Trace{Result: match.Result{Status: match.Review, Reason: reason.Text("several fit")}})
	of := func(user, title string, number float64) preview.Status {
		t.Helper()
		v, err := h.Forecast()(t.Context(), episode(title, user, number))
		if err != nil || len(v) != 1 || v[0].Accounts != nil {
			t.Fatal(v, err)
		}
		return v[0].Status
	}
	tell := func(name string, want, got preview.Status) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	tell("on both lists", preview.Marked, of("mira", "a", 1))
	tell("on one of two lists", preview.Mark, of("mira", "a", 2))
	tell("on none", preview.Mark, of("mira", "a", 3))
	tell("unsure", preview.Review, of("mira", "odd", 3))
	tell("of nobody", preview.NoAccount, of("stranger", "a", 3))
	dry(true, one)
	tell("missing on a list of an account on dry run only", preview.DryRun, of("mira", "a", 2))
	tell("missing on another one as well", preview.Mark, of("mira", "a", 3))
	dry(true, two)
	tell("all accounts on dry run", preview.DryRun, of("mira", "a", 3))
	h.list.fail(&catalog.Error{Kind: catalog.ErrUnreachable, Status: 503})
	tell("the list does not answer", preview.Unreachable, of("mira", "a", 3))
	h.list.fail(&catalog.Error{Kind: catalog.ErrUnauthorized, Status: 401})
	tell("the token is refused", preview.Refused, of("mira", "a", 3))
	if marks, _ := h.list.marks(); len(marks) != 3 {
		t.Errorf("a forecast marked %v", marks)
	}
}

func TestATableGathersWhatComesOutAlike(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.list.watched["one/8/802"] = true
	table := preview.NewTable(h.Forecast())
	for _, number := range []float64{3, 1, 2, 3, 12.5} {
		if err := table.Add(t.Context(), episode("a", "mira", number)); err != nil {
			t.Fatal(err)
		}
	}
	got := map[preview.Status][]float64{}
	for _, row := range table.Rows {
		got[row.Status] = row.Episodes
	}
	want := map[preview.Status][]float64{preview.Mark: {1, 3, 12.5}, preview.Marked: {2}}
	if diff := cmp.Diff(want, got); diff != "" || table.Items != 4 || table.Counts[preview.Mark] != 3 {
		t.Errorf("the table is %+v (-want +got):\n%s", table, diff)
	}
}

func TestAForecastForOneAccountAsksItsListAlone(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	two := h.account(t, "two", false, "mira")
	h.list.watched["one/8/801"] = true
	h.list.watched["two/8/802"] = true
	of := h.ForecastFor(two.ID)
	for number, want := range map[float64]preview.Verdict{
		1: {Status: preview.Mark, SubjectID: 8},
		2: {Status: preview.Marked, SubjectID: 8, Since: markedAt},
	} {
		got, err := of(t.Context(), episode("a", "stranger", number))
		got.SubjectName, got.Reason = "", reason.Reason{}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("episode %v: %v (-want +got):\n%s", number, err, diff)
		}
	}
	if _, err := h.ForecastFor(404)(t.Context(), episode("a", "mira", 1)); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("the list of nobody: %v", err)
	}
}
