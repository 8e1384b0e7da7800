package account_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/testkit/dbtest"
)

func newStore(t *testing.T) (*account.Store, *db.DB, string) {
	t.Helper()
	dir := dbtest.Folder(t)
	d := dbtest.OpenIn(t, dir)
	box, err := secret.OpenBox(dir, "", false)
	if err != nil {
		t.Fatal(err)
	}
	return account.NewStore(d, box), d, dir
}

func create(t *testing.T, s *account.Store, username string, users ...string) account.Account {
	t.Helper()
	a, err := s.Create(t.Context(), account.Draft{
		Username: username, Method: account.ByToken, Tokens: account.Tokens{Access: secret.Text("token-of-" + username)},
		MediaUserNames: users, Enabled: true, CompleteFilms: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestForUserComparesExactly(t *testing.T) {
	s, _, _ := newStore(t)
	create(t, s, "one", "mira", "Living Room ")
	create(t, s, "two", "mira")
	for name, c := range map[string]struct {
		user string
		want []string
	}{
		"both name it":          {"mira", []string{"one", "two"}},
		"case differs":          {"Mira", nil},
		"space is kept":         {"Living Room ", []string{"one"}},
		"missing space differs": {"Living Room", nil},
	} {
		found, err := s.ForUser(t.Context(), c.user)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range found {
			got = append(got, a.Username)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestTokensAreSealedAndComeBackWhole(t *testing.T) {
	s, d, dir := newStore(t)
	a := create(t, s, "one")
	expires := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	want := account.Tokens{Access: "access-in-clear", Refresh: "refresh-in-clear", ExpiresAt: expires}
	if err := s.SetOAuth(t.Context(), a.ID, want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Tokens(t.Context(), a.ID)
	if err != nil || got.Access.Reveal() != "access-in-clear" || got.Refresh.Reveal() != "refresh-in-clear" || !got.ExpiresAt.Equal(expires) {
		t.Errorf("tokens %v expire %v (%v)", got.Access.Reveal(), got.ExpiresAt, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for place, content := range dbtest.Kept(t, dir) {
		if strings.Contains(content, "in-clear") || strings.Contains(content, "token-of-") {
			t.Errorf("%s holds a token in clear", place)
		}
	}
}

func TestAccountWithoutTokenSaysSo(t *testing.T) {
	s, _, _ := newStore(t)
	a, err := s.Create(t.Context(), account.Draft{Username: "one", Method: account.ByOAuth})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Tokens(t.Context(), a.ID); !errors.Is(err, account.ErrNoToken) {
		t.Errorf("error %v, want ErrNoToken", err)
	}
	if a.HasToken {
		t.Error("the account claims a token")
	}
}

func TestExactlyOneAccountIsPreferred(t *testing.T) {
	s, _, _ := newStore(t)
	one, two := create(t, s, "one"), create(t, s, "two")
	preferred := func() string {
		t.Helper()
		a, err := s.Preferred(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return a.Username
	}
	if got := preferred(); got != "one" {
		t.Errorf("preferred %q, want the first account", got)
	}
	if err := s.Prefer(t.Context(), two.ID); err != nil {
		t.Fatal(err)
	}
	if got := preferred(); got != "two" {
		t.Errorf("preferred %q, want two", got)
	}
	if err := s.Delete(t.Context(), two.ID); err != nil {
		t.Fatal(err)
	}
	if got := preferred(); got != "one" {
		t.Errorf("preferred %q after the preferred one was deleted, want one", got)
	}
	off := false
	if _, err := s.Update(t.Context(), one.ID, account.Change{Enabled: &off}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Preferred(t.Context()); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("error %v, want ErrNotFound when all are disabled", err)
	}
}

// The records of an account that is deleted are found by an index: all others wait for that write.
func TestAnAccountIsDeletedWithoutReadingAllRecords(t *testing.T) {
	if dbtest.OnServer() {
		t.Skip("a plan of SQLite")
	}
	_, d, _ := newStore(t)
	err := db.Each(t.Context(), d.Read(), "explain", func(row db.Row) error {
		var id, parent, unused int
		var step string
		err := row.Scan(&id, &parent, &unused, &step)
		if strings.HasPrefix(step, "SCAN records") || strings.HasPrefix(step, "SCAN record_marks") {
			t.Errorf("it is done by %q", step)
		}
		return err
	}, `EXPLAIN QUERY PLAN DELETE FROM accounts WHERE id = 1`)
	if err != nil {
		t.Fatal(err)
	}
}

func TestUpdateChangesOnlyWhatIsGiven(t *testing.T) {
	s, _, _ := newStore(t)
	a := create(t, s, "one", "mira")
	if err := s.SetProblem(t.Context(), a.ID, reason.Text("expired")); err != nil {
		t.Fatal(err)
	}
	names, yes := []string{"alex"}, true
	changed, err := s.Update(t.Context(), a.ID, account.Change{MediaUserNames: &names, Private: &yes})
	if err != nil {
		t.Fatal(err)
	}
	if !changed.Private || !changed.Enabled || !changed.CompleteFilms || !changed.HasToken || changed.Problem.Text != "expired" || changed.MediaUserNames[0] != "alex" {
		t.Errorf("account is %+v", changed)
	}
	token := secret.Text("fresh-token")
	changed, err = s.Update(t.Context(), a.ID, account.Change{AccessToken: &token})
	if err != nil || changed.Problem.Text != "" {
		t.Errorf("a new token left the problem %q (%v)", changed.Problem, err)
	}
}

func TestBadInputNamesItsField(t *testing.T) {
	s, _, _ := newStore(t)
	create(t, s, "taken")
	for name, c := range map[string]struct {
		draft account.Draft
		field string
	}{
		"no name":             {account.Draft{}, "username"},
		"space in the name":   {account.Draft{Username: " x"}, "username"},
		"empty user name":     {account.Draft{Username: "x", MediaUserNames: []string{" "}}, "media_user_names"},
		"name twice":          {account.Draft{Username: "x", MediaUserNames: []string{"a", "a"}}, "media_user_names"},
		"line break in token": {account.Draft{Username: "x", Tokens: account.Tokens{Access: "a\nb"}}, "access_token"},
	} {
		_, err := s.Create(t.Context(), c.draft)
		var wrong *reason.FieldError
		if !errors.As(err, &wrong) || wrong.Field != c.field {
			t.Errorf("%s: error %v, want one about %s", name, err, c.field)
		}
	}
	if _, err := s.Create(t.Context(), account.Draft{Username: "taken"}); !errors.Is(err, account.ErrTaken) {
		t.Errorf("error %v, want ErrTaken", err)
	}
	if _, err := s.Get(t.Context(), 99); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("error %v, want ErrNotFound", err)
	}
}

func TestAccountsAreFoundByWhatPeopleKnow(t *testing.T) {
	s, d, _ := newStore(t)
	for _, name := range []string{"delta", "alpha", "bravo", "charlie"} {
		create(t, s, name, "TV of "+name)
	}
	err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for _, statement := range []string{
			`UPDATE accounts SET nickname = 'Mira' WHERE username = 'alpha'`,
			`UPDATE accounts SET enabled = 0 WHERE username = 'bravo'`,
			`UPDATE accounts SET access_token = '' WHERE username = 'bravo'`,
			`UPDATE accounts SET expires_at = now_ms() + 86400000 WHERE username IN ('charlie', 'alpha')`,
			`UPDATE accounts SET auth_method = 'oauth' WHERE username = 'alpha'`, // which is renewed
		} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		filter         account.Filter
		without, limit int
		want           []string
	}{
		"all, the preferred one first": {account.Filter{}, 0, 9, []string{"delta", "alpha", "bravo", "charlie"}},
		"a page":                       {account.Filter{}, 1, 2, []string{"alpha", "bravo"}},
		"by name":                      {account.Filter{Text: "RAV"}, 0, 9, []string{"bravo"}},
		"by nickname":                  {account.Filter{Text: "mira"}, 0, 9, []string{"alpha"}},
		"by a user of a media server":  {account.Filter{Text: "tv of d"}, 0, 9, []string{"delta"}},
		"a sign is a sign":             {account.Filter{Text: "%"}, 0, 9, nil},
		"by users exactly":             {account.Filter{Users: []string{"TV of alpha", "tv of delta"}}, 0, 9, []string{"alpha"}},
		"enabled":                      {account.Filter{Enabled: true}, 0, 9, []string{"delta", "alpha", "charlie"}},
		"that need a person":           {account.Filter{EndsBefore: time.Now().Add(48 * time.Hour)}, 0, 9, []string{"charlie"}},
	} {
		found, err := s.Find(t.Context(), c.filter, c.without, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, a := range found {
			names = append(names, a.Username)
		}
		if diff := cmp.Diff(c.want, names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if n, err := s.Count(t.Context(), c.filter); err != nil || c.without == 0 && n != len(c.want) {
			t.Errorf("%s: counted %d, %v", name, n, err)
		}
	}
}
