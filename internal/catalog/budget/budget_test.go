package budget_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"watchmark/internal/catalog/budget"
	"watchmark/internal/platform/db"
	"watchmark/internal/testkit/dbtest"
)

const host = "api.catalog.example"

var (
	lookUp = budget.Draw{Host: host, Class: budget.LookUp}
	ofOne  = budget.Draw{Host: host, Account: 1, Class: budget.Mark}
	ofTwo  = budget.Draw{Host: host, Account: 2, Class: budget.Mark}
)

// roomy never makes anybody wait.
var roomy = budget.Options{PerMinute: 60000, Burst: 10000, Egress: "shared"}

func open(t *testing.T, d *db.DB, o budget.Options) *budget.Budget {
	t.Helper()
	b, err := budget.New(t.Context(), budget.Config{DB: d, Options: func(string) budget.Options { return o }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// may asks whether a request may be sent now.
func may(t *testing.T, b *budget.Budget, d budget.Draw) (ok, trial bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	trial, err := b.Wait(ctx, d)
	var banned *budget.Banned
	if err != nil && !errors.As(err, &banned) {
		t.Fatal(err)
	}
	return err == nil, trial
}

func wants(t *testing.T, what string, b *budget.Budget, d budget.Draw, want bool) {
	t.Helper()
	if ok, trial := may(t, b, d); ok != want || trial {
		t.Errorf("%s: it may be sent: %v (as a trial: %v), want %v", what, ok, trial, want)
	}
}

func TestARateIsKeptAndAWaitThatIsTooLongIsNotBegun(t *testing.T) {
	b := open(t, dbtest.Open(t), budget.Options{PerMinute: 1, Burst: 2, Egress: "shared"})
	for range 2 {
		wants(t, "within the burst", b, lookUp, true)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := b.Wait(ctx, lookUp); !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		t.Errorf("a wait of half a minute, with 20 seconds: %v", err)
	}
	if _, err := b.Wait(ctx, budget.Draw{Host: "other.example"}); err != nil {
		t.Errorf("another host: %v", err)
	}
}

func TestABanClosesItsEgressAndOutlivesARestart(t *testing.T) {
	d := dbtest.Open(t)
	b := open(t, d, roomy)
	wants(t, "before", b, lookUp, true)
	if account := b.Refused(t.Context(), ofOne, 0); account {
		t.Error("it is taken for the ban of an account")
	}
	wants(t, "a look-up of a banned egress", b, lookUp, false)
	wants(t, "a mark of a banned egress", b, ofTwo, false)
	wants(t, "another host", b, budget.Draw{Host: "other.example"}, true)

	again := open(t, d, roomy)
	wants(t, "after a restart", again, lookUp, false)
	other := roomy
	other.Egress = "other"
	wants(t, "another egress", open(t, d, other), lookUp, true)

	again.Answered(t.Context(), lookUp)
	wants(t, "when it is over", again, lookUp, true)
	wants(t, "when it is over, after a restart", open(t, d, roomy), lookUp, true)
}

func TestABanThatBangumiGivesATimeForEndsThen(t *testing.T) {
	d := dbtest.Open(t)
	b := open(t, d, roomy)
	const after = time.Second
	began := time.Now()
	b.Refused(t.Context(), lookUp, after)
	for {
		ok, trial := may(t, b, lookUp)
		if trial {
			t.Fatal("something is sent as a trial before the time that Bangumi gave")
		}
		if ok {
			break
		}
	}
	if took := time.Since(began); took < after {
		t.Errorf("something is sent after %v", took)
	}
}

func TestABanOfAnAccountIsItsOwn(t *testing.T) {
	o := roomy
	o.PerAccount = true
	d := dbtest.Open(t)
	b := open(t, d, o)
	if account := b.Refused(t.Context(), ofOne, 0); !account {
		t.Error("it is not taken for the ban of an account")
	}
	for _, b := range map[string]*budget.Budget{"now": b, "after a restart": open(t, d, o)} {
		wants(t, "the banned account", b, ofOne, false)
		wants(t, "another account", b, ofTwo, true)
		wants(t, "a look-up", b, lookUp, true)
	}
}

func TestAccountsHaveTheirOwnRate(t *testing.T) {
	b := open(t, dbtest.Open(t), budget.Options{PerMinute: 1, Burst: 1, Egress: "shared", PerAccount: true})
	for what, d := range map[string]budget.Draw{"one account": ofOne, "another account": ofTwo, "nobody's": lookUp} {
		wants(t, what, b, d, true)
	}
}
