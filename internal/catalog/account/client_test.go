package account_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/testkit/catalogtest"
)

// isRefresh reports whether a request asks for tokens.
func isRefresh(req *http.Request) bool { return req.URL.Path == "/oauth/access_token" }

func TestTokensAreRefreshedShortlyBeforeTheyEnd(t *testing.T) {
	for name, c := range map[string]struct {
		life time.Duration
		want int
	}{
		"ends in an hour":         {time.Hour, 1},
		"ends in a day, as some":  {24 * time.Hour, 0},
		"ends in a week, as most": {7 * 24 * time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			a := r.connectFor(c.life)
			before := r.count(refreshes)
			for range 2 {
				_, err := r.accounts.Check(t.Context(), a.ID)
				must(t, err)
			}
			if got := r.count(refreshes) - before; got != c.want {
				t.Errorf("refreshed %d times in two calls, want %d", got, c.want)
			}
		})
	}
}

func TestNewTokensAreStoredBeforeTheyAreUsed(t *testing.T) {
	r := newRig(t)
	a := r.connectFor(time.Hour)
	old := r.tokens(a.ID)
	used := 0
	r.intercept(func(_ http.ResponseWriter, req *http.Request) bool {
		if token, ok := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer "); ok {
			used++
			if stored, err := r.store.Tokens(req.Context(), a.ID); err != nil || stored.Access.Reveal() != token {
				t.Errorf("a token is used that is not the stored one (%v)", err)
			}
		}
		return false
	})
	if _, err := r.accounts.Check(t.Context(), a.ID); err != nil || used != 1 {
		t.Fatalf("%v, %d requests with a token", err, used)
	}
	fresh := r.tokens(a.ID)
	if fresh.Access == old.Access || fresh.Refresh == old.Refresh || time.Until(fresh.ExpiresAt) < 6*24*time.Hour || fresh.RedirectURL != callback {
		t.Errorf("stored %+v", fresh)
	}
}

func TestOldTokensServeWhileTheCatalogDoesNotRenew(t *testing.T) {
	r := newRig(t)
	a := r.connectFor(time.Hour)
	old := r.tokens(a.ID)
	r.intercept(func(w http.ResponseWriter, req *http.Request) bool {
		if isRefresh(req) {
			w.WriteHeader(http.StatusBadGateway)
		}
		return isRefresh(req)
	})
	if _, err := r.accounts.Check(t.Context(), a.ID); err != nil {
		t.Errorf("the old token is still good: %v", err)
	}
	if r.tokens(a.ID) != old {
		t.Error("the old pair is not kept")
	}
	if got := r.account(a.ID).Problem.Text; got != "" {
		t.Errorf("the account shows %q", got)
	}
	r.intercept(nil)
	_, err := r.accounts.Check(t.Context(), a.ID)
	must(t, err)
	if r.tokens(a.ID).Access == old.Access {
		t.Error("not refreshed when it was possible again")
	}
}

func TestTokensThatEndedWaitForTheCatalog(t *testing.T) {
	r := newRig(t)
	a := r.connect(0)
	ended := r.tokens(a.ID)
	ended.ExpiresAt = time.Now().Add(-time.Minute)
	must(t, r.store.SetOAuth(t.Context(), a.ID, ended))
	must(t, r.list.SetFault(catalogtest.Fault{Mode: catalogtest.Refuse}))
	if _, err := r.accounts.Check(t.Context(), a.ID); !errors.Is(err, catalog.ErrUnreachable) {
		t.Errorf("error %v, want ErrUnreachable", err)
	}
	if got := r.tokens(a.ID); got.Refresh != ended.Refresh || r.account(a.ID).Problem.Text != "" {
		t.Errorf("an outage left %+v and the problem %q", got, r.account(a.ID).Problem)
	}
	must(t, r.list.SetFault(catalogtest.Fault{Mode: catalogtest.None}))
	if _, err := r.accounts.Check(t.Context(), a.ID); err != nil {
		t.Error(err)
	}
}

func TestCallsAtOnceRefreshOnce(t *testing.T) {
	for name, prepare := range map[string]func(*rig) account.Account{
		"the token ends soon": func(r *rig) account.Account { return r.connectFor(time.Hour) },
		"the token is refused": func(r *rig) account.Account {
			a := r.connect(0)
			r.list.RevokeToken(r.tokens(a.ID).Access.Reveal())
			return a
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			a := prepare(r)
			before := r.count(refreshes)
			var all sync.WaitGroup
			start := make(chan struct{})
			for range 6 {
				all.Go(func() {
					<-start
					if _, err := r.accounts.Check(t.Context(), a.ID); err != nil {
						t.Error(err)
					}
				})
			}
			close(start)
			all.Wait()
			if got := r.count(refreshes) - before; got != 1 {
				t.Errorf("refreshed %d times", got)
			}
		})
	}
}

func TestARefreshOutlivesItsCaller(t *testing.T) {
	r := newRig(t)
	a := r.connectFor(time.Hour)
	old := r.tokens(a.ID)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	r.intercept(func(w http.ResponseWriter, req *http.Request) bool {
		if !isRefresh(req) {
			return false
		}
		leave()
		r.list.ServeHTTP(w, req.WithContext(context.WithoutCancel(req.Context())))
		return true
	})
	_, _ = r.accounts.Check(ctx, a.ID) // nobody waits for it
	r.intercept(nil)
	if fresh := r.tokens(a.ID); fresh.Refresh == old.Refresh {
		t.Error("the pair that the catalog gave is lost")
	}
	if _, err := r.accounts.Check(t.Context(), a.ID); err != nil {
		t.Error(err)
	}
}

func TestARefusedTokenIsRenewedAndTheCallRepeated(t *testing.T) {
	r := newRig(t)
	a := r.connect(0)
	r.list.RevokeToken(r.tokens(a.ID).Access.Reveal())
	before := r.count(refreshes)
	result, err := r.accounts.Mark(t.Context(), a, 900001, []catalog.EpisodeID{90000101}, nil)
	if err != nil || result.AlreadyWatched() || len(r.list.Marks()) != 1 {
		t.Errorf("%+v, %v, marks %v", result, err, r.list.Marks())
	}
	if got := r.count(refreshes) - before; got != 1 {
		t.Errorf("refreshed %d times", got)
	}
	if got := r.account(a.ID).Problem.Text; got != "" {
		t.Errorf("the account shows %q", got)
	}
}

func TestACallIsRepeatedOnlyOnce(t *testing.T) {
	r := newRig(t)
	a := r.connect(0)
	asked := 0
	r.intercept(func(w http.ResponseWriter, req *http.Request) bool {
		if isRefresh(req) {
			return false
		}
		asked++
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	before := r.count(refreshes)
	if _, err := r.accounts.Check(t.Context(), a.ID); !errors.Is(err, catalog.ErrUnauthorized) {
		t.Errorf("error %v, want ErrUnauthorized", err)
	}
	if got := r.count(refreshes) - before; got != 1 || asked != 2 {
		t.Errorf("refreshed %d times, asked %d times", got, asked)
	}
	if got := r.account(a.ID).Problem.Text; !strings.Contains(got, "refuses the token") {
		t.Errorf("the account shows %q", got)
	}
}

func TestARefusedTokenByHandIsToldAtTheAccount(t *testing.T) {
	r := newRig(t)
	a := r.byHand("mira", nil)
	r.list.RevokeToken("by-hand-of-mira")
	if _, err := r.accounts.Mark(t.Context(), a, 900001, []catalog.EpisodeID{90000101}, nil); !errors.Is(err, catalog.ErrUnauthorized) {
		t.Errorf("error %v, want ErrUnauthorized", err)
	}
	if got := r.account(a.ID).Problem.Text; !strings.Contains(got, "expired or was revoked") || !strings.Contains(got, "enter a new token") {
		t.Errorf("the account shows %q", got)
	}
	if r.count(refreshes) != 0 {
		t.Error("something was refreshed")
	}
	r.list.SetUser(catalogtest.User{ID: miraID, Username: "mira", Token: "by-hand-of-mira"})
	if checked, err := r.accounts.Check(t.Context(), a.ID); err != nil || checked.Problem.Text != "" {
		t.Errorf("a token that works leaves %q (%v)", checked.Problem, err)
	}
}

func TestARenewalRefusedForGoodIsToldAtTheAccount(t *testing.T) {
	for name, c := range map[string]struct {
		refuse func(t *testing.T, r *rig, used account.Tokens)
		want   string
	}{
		"the refresh token is used up": {func(t *testing.T, r *rig, used account.Tokens) {
			_, err := r.client.Refresh(t.Context(), catalog.App{ClientID: "app1", ClientSecret: clientSecret, RedirectURL: callback}, used.Refresh)
			must(t, err)
		}, "connect it again"},
		"the secret is wrong": {func(_ *testing.T, r *rig, _ account.Tokens) {
			r.registeredAs(catalog.App{ClientID: "app1", ClientSecret: "another-secret"})
		}, "catalog.oauth_client_secret"},
		"the registration is gone": {func(_ *testing.T, r *rig, _ account.Tokens) { r.registeredAs(catalog.App{}) }, "catalog.oauth_client_id"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			a := r.connectFor(time.Hour)
			c.refuse(t, r, r.tokens(a.ID))
			if _, err := r.accounts.Mark(t.Context(), a, 900001, []catalog.EpisodeID{90000101}, nil); err != nil {
				t.Errorf("the old token is still good: %v", err)
			}
			if got := r.account(a.ID).Problem.Text; !strings.Contains(got, c.want) {
				t.Errorf("the account shows %q while the old token serves", got)
			}
			must(t, r.store.SetProblem(t.Context(), a.ID, reason.Reason{}))
			r.list.RevokeToken(r.tokens(a.ID).Access.Reveal())
			_, err := r.accounts.Mark(t.Context(), a, 900001, []catalog.EpisodeID{90000102}, nil)
			if !errors.Is(err, catalog.ErrUnauthorized) {
				t.Errorf("error %v, want ErrUnauthorized", err)
			}
			if got := r.account(a.ID).Problem.Text; !strings.Contains(got, c.want) {
				t.Errorf("the account shows %q", got)
			}
		})
	}
}

func TestTheJobRefreshesWhatNobodyUses(t *testing.T) {
	r := newRig(t)
	r.signIn("alex", time.Hour)
	disabled := r.connect(0)
	off := false
	_, err := r.store.Update(t.Context(), disabled.ID, account.Change{Enabled: &off})
	must(t, err)
	kept := r.tokens(disabled.ID)
	unused := r.connectFor(time.Hour) // looked at after alex, who is preferred
	old := r.tokens(unused.ID)
	must(t, r.accounts.Job().Run(t.Context(), new(schedule.Run)))
	if r.tokens(unused.ID).Access == old.Access {
		t.Error("the unused token was not refreshed")
	}
	if r.tokens(disabled.ID) != kept {
		t.Error("the token of a disabled account was refreshed")
	}
}

func TestCheckStoresWhoseTheTokenIs(t *testing.T) {
	r := newRig(t)
	a := r.byHand("mira", func(d *account.Draft) { d.Username = "typed" })
	checked, err := r.accounts.Check(t.Context(), a.ID)
	if err != nil || checked.Username != "mira" || checked.Nickname != "Mira" || checked.CatalogUserID != miraID || checked.CheckedAt == nil {
		t.Errorf("%+v, %v", checked, err)
	}
	double := r.byHand("mira", func(d *account.Draft) { d.Username = "once more" })
	if _, err := r.accounts.Check(t.Context(), double.ID); !errors.Is(err, account.ErrTaken) {
		t.Errorf("error %v, want ErrTaken", err)
	}
	none, err := r.store.Create(t.Context(), account.Draft{Username: "none"})
	must(t, err)
	if _, err := r.accounts.Check(t.Context(), none.ID); !errors.Is(err, account.ErrNoToken) {
		t.Errorf("error %v, want ErrNoToken", err)
	}
	if _, err := r.accounts.Check(t.Context(), 99); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("error %v, want ErrNotFound", err)
	}
	must(t, r.list.SetFault(catalogtest.Fault{Mode: catalogtest.Status, Status: http.StatusTooManyRequests}))
	if _, err := r.accounts.Check(t.Context(), a.ID); !errors.Is(err, catalog.ErrUnreachable) || r.account(a.ID).Problem.Text != "" {
		t.Errorf("error %v, problem %q", err, r.account(a.ID).Problem)
	}
}
