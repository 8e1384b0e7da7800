package engine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/account"
	"watchmark/internal/catalog"
	"watchmark/internal/forecast"
	"watchmark/internal/match"
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
	h.matcher.set("odd", match.Trace{Result: match.Result{Status: match.Review, Reason: "several fit"}})
	of := func(user, title string, number float64) forecast.Status {
		t.Helper()
		v, err := h.Forecast()(t.Context(), episode(title, user, number))
		if err != nil {
			t.Fatal(err)
		}
		return v.Status
	}
	tell := func(name string, want, got forecast.Status) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	tell("on both lists", forecast.Marked, of("mira", "a", 1))
	tell("on one of two lists", forecast.Mark, of("mira", "a", 2))
	tell("on none", forecast.Mark, of("mira", "a", 3))
	tell("unsure", forecast.Review, of("mira", "odd", 3))
	tell("of nobody", forecast.NoAccount, of("stranger", "a", 3))
	dry(true, one)
	tell("missing on a list of an account on dry run only", forecast.DryRun, of("mira", "a", 2))
	tell("missing on another one as well", forecast.Mark, of("mira", "a", 3))
	dry(true, two)
	tell("all accounts on dry run", forecast.DryRun, of("mira", "a", 3))
	h.list.fail(&catalog.Error{Op: "x", Kind: catalog.ErrUnreachable, Status: 503})
	tell("the list does not answer", forecast.Unreachable, of("mira", "a", 3))
	h.list.fail(&catalog.Error{Op: "x", Kind: catalog.ErrUnauthorized, Status: 401})
	tell("the token is refused", forecast.Refused, of("mira", "a", 3))
	if marks, _ := h.list.marks(); len(marks) != 3 {
		t.Errorf("a forecast marked %v", marks)
	}
}

func TestATableGathersWhatComesOutAlike(t *testing.T) {
	h := newHouse(t)
	h.account(t, "one", true, "mira")
	h.list.watched["one/8/802"] = true
	table := forecast.NewTable(h.Forecast())
	for _, number := range []float64{3, 1, 2, 3, 12.5} {
		if err := table.Add(t.Context(), episode("a", "mira", number)); err != nil {
			t.Fatal(err)
		}
	}
	got := map[forecast.Status][]float64{}
	for _, row := range table.Rows {
		got[row.Status] = row.Episodes
	}
	want := map[forecast.Status][]float64{forecast.Mark: {1, 3, 12.5}, forecast.Marked: {2}}
	if diff := cmp.Diff(want, got); diff != "" || table.Items != 4 || table.Counts[forecast.Mark] != 3 {
		t.Errorf("the table is %+v (-want +got):\n%s", table, diff)
	}
}
