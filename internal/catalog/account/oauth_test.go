package account_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/reason"
	"watchmark/internal/testkit/catalogtest"
	"watchmark/internal/testkit/dbtest"
)

func TestSigningInMakesAnAccount(t *testing.T) {
	r := newRig(t)
	a := r.connect(0)
	if a.Username != "mira" || a.Nickname != "Mira" || a.CatalogUserID != miraID || a.Method != account.ByOAuth || !a.HasToken ||
		!a.Enabled || a.CheckedAt == nil || a.ExpiresAt == nil || time.Until(*a.ExpiresAt) < 6*24*time.Hour {
		t.Errorf("made %+v", a)
	}
	if tokens := r.tokens(a.ID); tokens.Refresh == "" || tokens.RedirectURL != callback {
		t.Errorf("stored %+v", tokens)
	}
	if _, err := r.accounts.Check(t.Context(), a.ID); err != nil {
		t.Error(err)
	}
}

func TestSigningInAgainKeepsTheAccount(t *testing.T) {
	for name, c := range map[string]struct {
		start func(r *rig) account.Account
		named bool
	}{
		"the account, by its own button": {func(r *rig) account.Account { return r.connect(0) }, true},
		"the same user, as a new one":    {func(r *rig) account.Account { return r.connect(0) }, false},
		"an account with a token by hand, never checked": {func(r *rig) account.Account {
			return r.byHand("mira", func(d *account.Draft) { d.Username = "typed" })
		}, true},
		"an account with the name, as a new one": {func(r *rig) account.Account { return r.byHand("mira", nil) }, false},
		"a user who has a new name": {func(r *rig) account.Account {
			a := r.connect(0)
			r.list.SetUser(catalogtest.User{ID: miraID, Username: "mira2"})
			r.signIn("mira2", time.Hour)
			return a
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			a := c.start(r)
			users := []string{"Mira TV"}
			_, err := r.store.Update(t.Context(), a.ID, account.Change{MediaUserNames: &users})
			must(t, err)
			must(t, r.store.SetProblem(t.Context(), a.ID, reason.Text("expired")))
			old := r.tokens(a.ID)
			var named int64
			if c.named {
				named = a.ID
			}
			again := r.connect(named)
			if again.ID != a.ID || again.CatalogUserID != miraID || again.Method != account.ByOAuth || again.Problem.Text != "" || !cmp.Equal(again.MediaUserNames, users) {
				t.Errorf("the account is %+v", again)
			}
			if r.tokens(a.ID).Access == old.Access {
				t.Error("the tokens are the old ones")
			}
			if all, err := r.store.List(t.Context()); err != nil || len(all) != 1 {
				t.Errorf("%d accounts (%v)", len(all), err)
			}
		})
	}
}

// refused does the sign-in, expects an error, and checks that no account has changed. It
// answers the words of the error.
func (r *rig) refused(accountID int64, want error) (told string) {
	r.t.Helper()
	type row struct {
		Account account.Account
		Tokens  account.Tokens
	}
	rows := func() (all []row) {
		accounts, err := r.store.List(r.t.Context())
		must(r.t, err)
		for _, a := range accounts {
			all = append(all, row{a, r.tokens(a.ID)})
		}
		return all
	}
	before := rows()
	state, code := r.agree(accountID)
	_, err := r.accounts.FinishOAuth(r.t.Context(), state, code)
	if !errors.Is(err, want) {
		r.t.Fatalf("error %v, want %v", err, want)
	}
	if diff := cmp.Diff(before, rows()); diff != "" {
		r.t.Errorf("something was stored: %s", diff)
	}
	return err.Error()
}

func TestSigningInAsSomebodyElseIsRefused(t *testing.T) {
	r := newRig(t)
	mira := r.connect(0)
	r.signIn("alex", time.Hour)
	if told := r.refused(mira.ID, account.ErrOtherUser); !strings.Contains(told, `"mira"`) || !strings.Contains(told, `"alex"`) {
		t.Errorf("the error does not name both: %s", told)
	}
	if alex := r.connect(0); alex.ID == mira.ID || alex.CatalogUserID != alexID {
		t.Errorf("alex as a new account: %+v", alex)
	}
}

func TestSigningInAsTheUserOfAnotherAccountIsRefused(t *testing.T) {
	r := newRig(t)
	r.connect(0)
	unchecked := r.byHand("alex", func(d *account.Draft) { d.Username = "typed" })
	r.refused(unchecked.ID, account.ErrTaken)
	r.list.SetUser(catalogtest.User{ID: miraID, Username: "mira2"}) // only the id shows that it is the same user
	r.signIn("mira2", time.Hour)
	r.refused(unchecked.ID, account.ErrTaken)
}

func TestTheStateOfASignInIsChecked(t *testing.T) {
	r := newRig(t)
	state, code := r.agree(0)
	finish := func(state string) error {
		_, err := r.accounts.FinishOAuth(t.Context(), state, code)
		return err
	}
	for _, wrong := range []string{"", "made-up", strings.ToLower(state)} {
		if err := finish(wrong); !errors.Is(err, account.ErrState) {
			t.Errorf("state %q: %v, want ErrState", wrong, err)
		}
	}
	if n := r.count(refreshes); n != 0 {
		t.Errorf("the code was traded %d times for a wrong state", n)
	}
	must(t, finish(state))
	if err := finish(state); !errors.Is(err, account.ErrState) {
		t.Errorf("used twice: %v, want ErrState", err)
	}
}

func TestASignInMustComeBackInTime(t *testing.T) {
	r := newRig(t)
	start := func() string {
		address, err := r.accounts.StartOAuth(t.Context(), callback, 0)
		must(t, err)
		at, err := url.Parse(address)
		must(t, err)
		return at.Query().Get("state")
	}
	early, late := start(), start()
	r.registeredAs(catalog.App{}) // so that a good state ends without a request
	pass := func(minutes int) {
		must(t, r.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE tickets SET until = until - CAST(? AS BIGINT)`, minutes*60_000)
			return err
		}))
	}
	pass(9)
	if _, err := r.accounts.FinishOAuth(t.Context(), early, "code"); !errors.Is(err, account.ErrOAuthNotConfigured) {
		t.Errorf("after nine minutes: %v", err)
	}
	pass(1)
	if _, err := r.accounts.FinishOAuth(t.Context(), late, "code"); !errors.Is(err, account.ErrState) {
		t.Errorf("after ten minutes: %v, want ErrState", err)
	}
}

func TestASignInThatFailsStoresNothing(t *testing.T) {
	r := newRig(t)
	state, _ := r.agree(0)
	if _, err := r.accounts.FinishOAuth(t.Context(), state, "another code"); !errors.Is(err, catalog.ErrGrantInvalid) {
		t.Errorf("a wrong code: %v", err)
	}
	state, code := r.agree(0)
	must(t, r.list.SetFault(catalogtest.Fault{Mode: catalogtest.Status, Status: 503}))
	if _, err := r.accounts.FinishOAuth(t.Context(), state, code); !errors.Is(err, catalog.ErrUnreachable) {
		t.Errorf("during an outage: %v", err)
	}
	must(t, r.list.SetFault(catalogtest.Fault{Mode: catalogtest.None}))
	doomed := r.byHand("alex", nil)
	state, code = r.agree(doomed.ID)
	must(t, r.store.Delete(t.Context(), doomed.ID))
	if _, err := r.accounts.FinishOAuth(t.Context(), state, code); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("the account was deleted meanwhile: %v", err)
	}
	if all, err := r.store.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%d accounts (%v)", len(all), err)
	}
	if _, err := r.accounts.StartOAuth(t.Context(), callback, doomed.ID); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("start for an unknown account: %v", err)
	}
	r.registeredAs(catalog.App{})
	if _, err := r.accounts.StartOAuth(t.Context(), callback, 0); !errors.Is(err, account.ErrOAuthNotConfigured) {
		t.Errorf("start without a registration: %v", err)
	}
}

func TestNoTokenIsSeenInLogErrorOrFile(t *testing.T) {
	r := newRig(t)
	secrets := map[string]string{"client secret": clientSecret, "token by hand": "by-hand-of-alex"}
	learn := func(when string, tokens account.Tokens) {
		secrets["access token "+when], secrets["refresh token "+when] = tokens.Access.Reveal(), tokens.Refresh.Reveal()
	}
	r.signIn("mira", time.Hour)
	state, code := r.agree(0)
	secrets["code"] = code
	a, err := r.accounts.FinishOAuth(t.Context(), state, code)
	must(t, err)
	learn("of the sign-in", r.tokens(a.ID))
	r.signIn("mira", 7*24*time.Hour)
	var told strings.Builder // the errors
	note := func(err error) {
		if err != nil {
			told.WriteString(err.Error() + "\n")
		}
	}
	_, err = r.accounts.Check(t.Context(), a.ID)
	must(t, err)
	learn("of the refresh", r.tokens(a.ID))
	used := r.tokens(a.ID)
	spent, err := r.client.Refresh(t.Context(), catalog.App{ClientID: "app1", ClientSecret: clientSecret, RedirectURL: callback}, used.Refresh)
	must(t, err)
	learn("got behind the client's back", account.Tokens{Access: spent.Access, Refresh: spent.Refresh})
	r.list.RevokeToken(used.Access.Reveal())
	_, err = r.accounts.Check(t.Context(), a.ID)
	note(err)
	byHand := r.byHand("alex", nil)
	must(t, r.list.SetFault(catalogtest.Fault{Mode: catalogtest.Refuse}))
	_, err = r.accounts.Check(t.Context(), byHand.ID)
	note(err)
	_, err = r.accounts.FinishOAuth(t.Context(), "state", code)
	note(err)
	if lines := strings.Count(told.String(), "\n"); lines < 3 {
		t.Fatalf("only %d errors: %s", lines, told.String())
	}

	must(t, r.db.Close())
	places := dbtest.Kept(t, r.dir)
	if !strings.Contains(r.logs.String(), "/oauth/access_token") || len(places) == 0 {
		t.Fatal("nothing was looked at")
	}
	places["log"], places["errors"] = r.logs.String(), told.String()
	for what, text := range secrets {
		for place, content := range places {
			if strings.Contains(content, text) {
				t.Errorf("the %s stands in the %s", what, place)
			}
		}
	}
}
