package account_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/secret"
	"watchmark/internal/testkit/catalogtest"
)

// onList is the state of a subject on mira's list, and how many of its episodes are marked; 0 is not on it.
func (r *rig) onList(subject catalog.SubjectID) (state catalog.CollectionType, private bool, marked int) {
	for _, c := range r.list.Collections() {
		if c.Username == "mira" && c.SubjectID == subject {
			state, private = c.Type, c.Private
		}
	}
	for _, m := range r.list.Marks() {
		if m.Username == "mira" && m.SubjectID == subject {
			marked++
		}
	}
	return state, private, marked
}

func TestMarkWritesToTheListAndLearnsTheName(t *testing.T) {
	r := newRig(t)
	a := r.byHand("mira", func(d *account.Draft) { d.Username, d.Private = "typed", true })
	episodes := []catalog.EpisodeID{90000101, 90000102}
	result, err := r.accounts.Mark(t.Context(), a, 900001, episodes, nil)
	if err != nil || !result.Created || result.AlreadyWatched() {
		t.Errorf("%+v, %v", result, err)
	}
	if state, private, marked := r.onList(900001); state != catalog.Doing || !private || marked != 2 {
		t.Errorf("on the list: %v, private %v, %d marks", state, private, marked)
	}
	if got := r.account(a.ID).Username; got != "mira" {
		t.Errorf("the account is named %q, want the catalog's name", got)
	}
	writes := len(r.list.Writes())
	result, err = r.accounts.Mark(t.Context(), r.account(a.ID), 900001, episodes, nil)
	if err != nil || !result.AlreadyWatched() || len(r.list.Writes()) != writes {
		t.Errorf("the same again: %+v, %v, %d writes", result, err, len(r.list.Writes())-writes)
	}
}

func TestATokenOfSomebodyElseWritesNothing(t *testing.T) {
	r := newRig(t)
	mira := r.byHand("mira", func(*account.Draft) {})
	mark := func(a account.Account) error {
		_, err := r.accounts.Mark(t.Context(), a, 900001, []catalog.EpisodeID{90000101}, nil)
		return err
	}
	if err := mark(mira); err != nil {
		t.Fatal(err)
	}
	writes := len(r.list.Writes())
	foreign := secret.Text("by-hand-of-alex")
	changed, err := r.store.Update(t.Context(), mira.ID, account.Change{AccessToken: &foreign})
	must(t, err)
	if err := mark(changed); !errors.Is(err, account.ErrOtherUser) {
		t.Errorf("error %v, want ErrOtherUser", err)
	}
	if problem := r.account(mira.ID).Problem.Text; !strings.Contains(problem, `"alex"`) || !strings.Contains(problem, `"mira"`) {
		t.Errorf("the account says %q", problem)
	}
	if n := len(r.list.Writes()); n != writes {
		t.Errorf("%d writes to the list of somebody else", n-writes)
	}
	// Who changes the user name too means the other user.
	name := "alex"
	changed, err = r.store.Update(t.Context(), mira.ID, account.Change{Username: &name})
	must(t, err)
	if err := mark(changed); err != nil || r.account(mira.ID).CatalogUserID != alexID {
		t.Errorf("%v, %+v", err, r.account(mira.ID))
	}
}

func TestAWrongUserNameReadsNobodyElsesList(t *testing.T) {
	r := newRig(t)
	must(t, r.list.Collect("alex", 900001, catalog.Done, false)) // "done" would count as watched already
	a := r.byHand("mira", func(d *account.Draft) { d.Username = "alex" })
	if _, err := r.accounts.Mark(t.Context(), a, 900001, []catalog.EpisodeID{90000101}, nil); err != nil {
		t.Fatal(err)
	}
	if state, _, marked := r.onList(900001); state != catalog.Doing || marked != 1 {
		t.Errorf("on mira's list: %v, %d marks", state, marked)
	}
}

func TestSubjectsAreCompletedAsTheAccountSays(t *testing.T) {
	const film, series = 900003, 900008
	all := map[catalog.SubjectID][]catalog.EpisodeID{film: {90000301}, series: {90000801, 90000802}}
	for name, c := range map[string]struct {
		films, series bool
		subject       catalog.SubjectID
		want          catalog.CollectionType
	}{
		"a film, on":    {true, false, film, catalog.Done},
		"a film, off":   {false, true, film, catalog.Doing},
		"a series, on":  {false, true, series, catalog.Done},
		"a series, off": {true, false, series, catalog.Doing},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			a := r.byHand("mira", func(d *account.Draft) { d.CompleteFilms, d.CompleteSeries = c.films, c.series })
			if _, err := r.accounts.Mark(t.Context(), a, c.subject, all[c.subject], nil); err != nil {
				t.Fatal(err)
			}
			if state, _, marked := r.onList(c.subject); state != c.want || marked != len(all[c.subject]) {
				t.Errorf("on the list: %v, %d marks; want %v", state, marked, c.want)
			}
		})
	}
}

func TestMarkDoingPutsAFilmOnTheList(t *testing.T) {
	r := newRig(t)
	a := r.byHand("mira", func(d *account.Draft) { d.Username = "typed" })
	if result, err := r.accounts.MarkDoing(t.Context(), a, 900003, nil); err != nil || !result.Created {
		t.Errorf("%+v, %v", result, err)
	}
	if state, _, marked := r.onList(900003); state != catalog.Doing || marked != 0 {
		t.Errorf("on the list: %v, %d marks", state, marked)
	}
	if got := r.account(a.ID).Username; got != "mira" {
		t.Errorf("the account is named %q", got)
	}
	must(t, r.list.Collect("mira", 900003, catalog.Done, false))
	if result, err := r.accounts.MarkDoing(t.Context(), a, 900003, nil); err != nil || !result.AlreadyWatched() {
		t.Errorf("%+v, %v", result, err)
	}
	if state, _, _ := r.onList(900003); state != catalog.Done {
		t.Errorf("watching again made a film that is done %v", state)
	}
}

func TestMarkReachesWhatOnlyTheAccountSees(t *testing.T) {
	r := newRig(t)
	r.list.AddSubject(catalogtest.Subject{ID: 910001, Type: catalog.Anime, Name: "hidden", NSFW: true, Platform: "OVA"})
	r.list.AddEpisodes(910001, catalogtest.Episode{ID: 91000101, Sort: 1})
	a := r.byHand("mira", nil)
	if _, err := r.accounts.Mark(t.Context(), a, 910001, []catalog.EpisodeID{91000101}, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, marked := r.onList(910001); marked != 1 {
		t.Errorf("%d marks", marked)
	}
}

func TestMarkWithoutATokenOrACatalog(t *testing.T) {
	r := newRig(t)
	none, err := r.store.Create(t.Context(), account.Draft{Username: "none"})
	must(t, err)
	if _, err := r.accounts.Mark(t.Context(), none, 900001, []catalog.EpisodeID{90000101}, nil); !errors.Is(err, account.ErrNoToken) {
		t.Errorf("error %v, want ErrNoToken", err)
	}
	a := r.byHand("mira", nil)
	must(t, r.list.SetFault(catalogtest.Fault{Mode: catalogtest.Refuse}))
	if _, err := r.accounts.Mark(t.Context(), a, 900001, []catalog.EpisodeID{90000101}, nil); !errors.Is(err, catalog.ErrUnreachable) {
		t.Errorf("error %v, want ErrUnreachable", err)
	}
	if got := r.account(a.ID).Problem.Text; got != "" {
		t.Errorf("an outage is shown as %q", got)
	}
}

// following is what a list has as being watched or wished, in order; of what is private, the negative id.
func (r *rig) following(t testing.TB, a account.Account) (ids []catalog.SubjectID, err error) {
	t.Helper()
	err = r.accounts.Following(t.Context(), a, func(list []catalog.Collection, _ func(context.Context, catalog.SubjectID) ([]catalog.Mark, error)) error {
		ids = nil
		for _, e := range list {
			if e.Private {
				e.Subject = -e.Subject
			}
			ids = append(ids, e.Subject)
		}
		return nil
	})
	slices.Sort(ids)
	return ids, err
}

func TestFollowingIsWhatThePersonWatchesAndWishes(t *testing.T) {
	r := newRig(t)
	a := r.byHand("mira", func(d *account.Draft) { d.Username = "typed" })
	r.list.AddSubject(catalogtest.Subject{ID: 7, Type: catalog.Real, Name: "live"}, catalogtest.Subject{ID: 8, Type: catalog.Book, Name: "a book"})
	r.list.AddSubject(catalogtest.Subject{ID: 9, Type: catalog.Anime, Name: "done"})
	for id, state := range map[catalog.SubjectID]catalog.CollectionType{900001: catalog.Doing, 900002: catalog.Doing, 900003: catalog.Wish, 7: catalog.Doing, 8: catalog.Doing, 9: catalog.Done} {
		must(t, r.list.Collect("mira", id, state, id == 900002))
	}
	must(t, r.list.Collect("alex", 900003, catalog.Doing, false))
	following := func() []catalog.SubjectID {
		t.Helper()
		got, err := r.following(t, r.account(a.ID))
		must(t, err)
		return got
	}
	if got := following(); !slices.Equal(got, []catalog.SubjectID{-900002, 7, 900001, 900003}) {
		t.Errorf("following are %v", got)
	}
	if got := r.account(a.ID).Username; got != "mira" {
		t.Errorf("the account is named %q", got)
	}
	// The person has got another name since.
	must(t, r.db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE accounts SET username = 'before' WHERE id = ?`, a.ID)
		return err
	}))
	if got := following(); !slices.Equal(got, []catalog.SubjectID{-900002, 7, 900001, 900003}) || r.account(a.ID).Username != "mira" {
		t.Errorf("by another name following are %v, of %s", got, r.account(a.ID).Username)
	}
	r.list.RevokeToken("by-hand-of-mira")
	if _, err := r.following(t, r.account(a.ID)); !errors.Is(err, catalog.ErrUnauthorized) || r.account(a.ID).Problem.Text == "" {
		t.Errorf("with a dead token: %v", err)
	}
}

func TestAProblemGoesWithItsCause(t *testing.T) {
	r := newRig(t)
	a := r.byHand("mira", nil)
	uses := map[string]func(a account.Account) error{
		"a mark": func(a account.Account) error {
			_, err := r.accounts.Mark(t.Context(), a, 900001, []catalog.EpisodeID{90000101}, nil)
			return err
		},
		"a look": func(a account.Account) error {
			_, err := r.following(t, a)
			return err
		},
		"a test": func(a account.Account) error {
			_, err := r.accounts.Check(t.Context(), a.ID)
			return err
		},
	}
	for name, use := range uses {
		r.list.RevokeToken("by-hand-of-mira")
		if err := use(r.account(a.ID)); !errors.Is(err, catalog.ErrUnauthorized) || r.account(a.ID).Problem.Text == "" {
			t.Errorf("%s with a dead token: %v, the account says %q", name, err, r.account(a.ID).Problem)
		}
		r.list.SetUser(catalogtest.User{ID: miraID, Username: "mira", Token: "by-hand-of-mira"})
		if err := use(r.account(a.ID)); err != nil || r.account(a.ID).Problem.Text != "" {
			t.Errorf("%s with a token that works again: %v, the account says %q", name, err, r.account(a.ID).Problem)
		}
	}
}

// The token works still and cannot be renewed: marks that succeed do not hide that.
func TestAProblemStaysWithItsCause(t *testing.T) {
	r := newRig(t)
	a := r.connectFor(time.Hour)
	r.registeredAs(catalog.App{})
	for range 3 {
		_, err := r.accounts.Mark(t.Context(), r.account(a.ID), 900001, []catalog.EpisodeID{90000101}, nil)
		must(t, err)
		if r.account(a.ID).Problem.Text == "" {
			t.Error("the account shows no problem")
		}
	}
	r.registeredAs(catalog.App{ClientID: "app1", ClientSecret: clientSecret})
	_, err := r.accounts.Mark(t.Context(), r.account(a.ID), 900001, []catalog.EpisodeID{90000101}, nil)
	must(t, err)
	if problem := r.account(a.ID).Problem.Text; problem != "" {
		t.Errorf("after the token was renewed the account says %q", problem)
	}
}
