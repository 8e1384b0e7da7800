package account

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/platform/tickets"
)

const (
	// refreshRound is how often tokens are looked at when nobody uses them; a refresh
	// token dies when it is left alone for about two weeks (upstreams/catalog.md section 10).
	refreshRound = time.Hour
	// refreshEarly is how long before its end an access token is replaced. It must stay far
	// below the shortest life seen, one day: each refresh adds a token to the person's list of tokens.
	refreshEarly = 2 * refreshRound
	// refreshMost is how long a refresh may take, and storeTries how often what it gave is stored again, a second apart.
	refreshMost = 30 * time.Second
	storeTries  = 30
)

// Subjects tells what a subject is, and remembers what searches in the name of one account find; *catalog.Cached is one.
type Subjects interface {
	Subject(ctx context.Context, id catalog.SubjectID) (catalog.Subject, error)
	AdultTitles(ctx context.Context, viewer string, q catalog.SearchQuery, ask func() ([]catalog.Subject, error)) ([]catalog.Subject, error)
}

// ClientConfig is what a Client needs; every field must be set.
type ClientConfig struct {
	Store   *Store
	Catalog *catalog.Client
	// Subjects is asked whether a subject is a film and how many episodes it will have.
	Subjects Subjects
	Marker   *catalog.Marker
	// Known reports whether an account's list had an entry for a subject before, as far as is known.
	Known func(ctx context.Context, account int64, subject catalog.SubjectID) (bool, error)
	// Left reports whether an account's entry for a subject was dropped because it was taken back.
	Left func(ctx context.Context, account int64, subject catalog.SubjectID) (bool, error)
	// Rewatching reports whether an account's entry for a subject was set back to doing because of a re-watch that is not over: only its
	// end sets it done.
	Rewatching func(ctx context.Context, a Account, subject catalog.SubjectID) (bool, error)
	// Holds gives the tokens of an account to one replica at a time.
	Holds *hold.Holds
	// Masker learns every token that is used.
	Masker *secret.Masker
	// App is this service's registration with the catalog, without a redirect address. It
	// is asked for at each use; an empty ClientID means OAuth is not set up.
	App func() catalog.App
	Log *slog.Logger
}

// Client looks after the tokens of the accounts and writes to their lists: it
// refreshes early, an account at one replica at a time, stores both new tokens before using one,
// and keeps the old pair until then.
type Client struct {
	ClientConfig
	states *tickets.Kind[oauthState]
}

// NewClient is a client; its Job keeps unused tokens alive.
func NewClient(c ClientConfig) *Client {
	return &Client{ClientConfig: c, states: tickets.New[oauthState](c.Store.db, c.Store.box, "account_oauth", stateLife, statesMost)}
}

// tokens are the account's credentials, refreshed when they end soon. With force they
// are refreshed unless another caller replaced stale meanwhile. When nothing but a person
// can give the account a token that works, its problem is stored and the error is
// ErrUnauthorized of package catalog.
func (k *Client) tokens(ctx context.Context, id int64, force bool, stale secret.Text) (Tokens, error) {
	good := func(t stored) bool { return t.Refresh == "" || !t.endsSoon() && (!force || t.Access != stale) }
	t, err := k.load(ctx, id)
	if err != nil || good(t) {
		return t.Tokens, err
	}
	var fresh Tokens
	var tried stored
	err = task.Outlive(ctx, refreshMost, func(whole context.Context) error {
		return k.Holds.Alone(ctx, "tokens of account "+strconv.FormatInt(id, 10), func() (err error) {
			// What was read before may be of the past: somebody else may have refreshed it.
			if tried, err = k.load(ctx, id); err != nil || good(tried) {
				fresh = tried.Tokens
				return err
			}
			fresh, err = k.refresh(whole, id, tried)
			return err
		})
	})
	if err == nil {
		return fresh, nil
	}
	if problem := renewalProblem(err); problem != nil {
		condemned, failed := k.Store.condemn(ctx, id, tried.version, problem.With())
		if failed == nil && !condemned { // what was refused is not what is stored any more
			now, err := k.load(ctx, id)
			return now.Tokens, err
		}
		// What is left to the caller is a dead token, whatever killed it.
		err = &catalog.Error{Op: opRenew.With(), Kind: catalog.ErrUnauthorized, Err: err}
		err = errors.Join(err, failed)
	}
	if !force && time.Until(t.ExpiresAt) > 0 {
		k.Log.WarnContext(ctx, "cannot refresh the token of an account; the old one is still good", "account_id", id, "error", err)
		return t.Tokens, nil // the next use tries again
	}
	return Tokens{}, err
}

// load reads credentials, which the masker knows from then on.
func (k *Client) load(ctx context.Context, id int64) (stored, error) {
	t, err := k.Store.stored(ctx, id)
	if errors.Is(err, secret.ErrWrongKey) {
		return stored{}, errors.Join(ErrNoToken, err, k.Store.SetProblem(ctx, id, problemKeyGone.With()))
	}
	if err != nil {
		return stored{}, err
	}
	k.Masker.Add(t.Access.Reveal())
	k.Masker.Add(t.Refresh.Reveal())
	return t, nil
}

// renewalProblem is what a person must do after a refresh that failed; nil when trying again may help.
func renewalProblem(err error) *reason.Kind {
	switch {
	case errors.Is(err, catalog.ErrGrantInvalid):
		return problemNoGrant
	case errors.Is(err, ErrOAuthNotConfigured), errors.Is(err, catalog.ErrRefused):
		return problemNoApp
	}
	return nil
}

// refresh trades the refresh token for a new pair and stores both before either is used. The caller
// is alone with them; ctx does not end with the one who asked.
func (k *Client) refresh(ctx context.Context, id int64, t stored) (Tokens, error) {
	app := k.App()
	if app.ClientID == "" {
		return Tokens{}, ErrOAuthNotConfigured
	}
	app.RedirectURL = t.RedirectURL
	got, err := k.Catalog.Refresh(ctx, app, t.Refresh)
	if err != nil {
		return Tokens{}, err
	}
	fresh := Tokens{Access: got.Access, Refresh: got.Refresh, ExpiresAt: got.ExpiresAt, RedirectURL: t.RedirectURL}
	if fresh.Refresh == "" {
		fresh.Refresh = t.Refresh
	}
	k.Masker.Add(fresh.Access.Reveal())
	k.Masker.Add(fresh.Refresh.Reveal())
	// The old refresh token may be dead already, so this must be stored even when the time is over.
	ctx = context.WithoutCancel(ctx)
	for try := 1; ; try++ {
		done, err := k.Store.renew(ctx, id, t.version, fresh)
		switch {
		case err == nil && done:
			return fresh, nil
		case err == nil: // a person gave others meanwhile, and those count
			now, err := k.load(ctx, id)
			return now.Tokens, err
		case try == storeTries, errors.Is(err, db.ErrClosed):
			return Tokens{}, fmt.Errorf("store refreshed tokens: %w", err)
		}
		time.Sleep(time.Second)
	}
}

// TokensJob is the name of the job that renews tokens.
const TokensJob = "account_tokens"

// Job renews tokens that end soon, used or not.
func (k *Client) Job() schedule.Job {
	return schedule.Job{
		Name: TokensJob, Quiet: true, AtStart: new(time.Duration), Run: k.refreshTokens,
		Plan: func() schedule.Plan { return schedule.Every(refreshRound) },
	}
}

// refreshTokens is the work of the job. What is wrong with one account does not keep it from the others.
func (k *Client) refreshTokens(ctx context.Context, _ *schedule.Run) error {
	accounts, err := k.Store.List(ctx)
	if err != nil {
		return fmt.Errorf("list the accounts: %w", err)
	}
	var problems []error
	for _, a := range accounts {
		if a.Method != ByOAuth || !a.Enabled || !a.HasToken {
			continue
		}
		if _, err := k.tokens(ctx, a.ID, false, ""); err != nil {
			problems = append(problems, problemOf.With(a.Username, err))
		}
	}
	return errors.Join(problems...)
}

// as runs fn in the name of the account. A token that the catalog refuses is refreshed
// once and fn run again; when that does not help, the account shows the problem and the
// error is ErrUnauthorized. A problem that it shows goes when fn succeeds.
func (k *Client) as(ctx context.Context, a Account, fn func(catalog.Session) error) error {
	t, err := k.tokens(ctx, a.ID, false, "")
	if err != nil {
		return err
	}
	err = fn(k.Catalog.As(t.Access).Of(a.ID))
	if errors.Is(err, catalog.ErrUnauthorized) && t.Refresh != "" {
		if t, err = k.tokens(ctx, a.ID, true, t.Access); err != nil {
			return err
		}
		err = fn(k.Catalog.As(t.Access).Of(a.ID))
	}
	if errors.Is(err, catalog.ErrUnauthorized) {
		return errors.Join(err, k.Store.SetProblem(ctx, a.ID, problemRefused.With()))
	}
	if err == nil && !a.Problem.IsZero() && (t.Refresh == "" || !t.endsSoon()) { // else what is wrong may be that it cannot be renewed
		if err := k.Store.settleProblem(ctx, a.ID, a.Problem); err != nil {
			k.Log.WarnContext(ctx, "cannot store that the problem of an account is settled", "account", a.Username, "error", err)
		}
	}
	return err
}

// endsSoon reports whether the access token is to be replaced.
func (t Tokens) endsSoon() bool {
	return !t.ExpiresAt.IsZero() && time.Until(t.ExpiresAt) < refreshEarly
}

// Check asks the catalog who owns the account's token, and stores the answer or, in
// plain words, the problem. It asks a catalog that is known to be unreachable too. The
// error is one of package catalog, ErrNoToken, ErrNotFound, ErrOtherUser, or ErrTaken
// when another account is that catalog user already.
func (k *Client) Check(ctx context.Context, id int64) (Account, error) {
	return k.check(catalog.Probing(ctx), id)
}

func (k *Client) check(ctx context.Context, id int64) (Account, error) {
	a, err := k.Store.Get(ctx, id)
	if err != nil {
		return Account{}, err
	}
	err = k.as(ctx, a, func(s catalog.Session) error {
		me, err := s.Me(ctx)
		if err != nil {
			return err
		}
		return k.Store.SetOwner(ctx, id, me)
	})
	if errors.Is(err, ErrOtherUser) || errors.Is(err, ErrTaken) {
		err = errors.Join(err, k.Store.SetProblem(ctx, id, reason.Of(err)))
	}
	if err != nil {
		return Account{}, err
	}
	return k.Store.Get(ctx, id)
}

// Whose asks the catalog whose token it is, before anything is stored. Errors are those of package catalog.
func (k *Client) Whose(ctx context.Context, token secret.Text) (catalog.User, error) {
	k.Masker.Add(token.Reveal())
	return k.Catalog.As(token).Me(catalog.Probing(ctx))
}

// Probe checks the token of the preferred account, or of the first enabled one that has a token, to see whether the
// catalog answers. It returns ErrNotFound when no account is enabled, and otherwise what Check does.
func (k *Client) Probe(ctx context.Context) (Account, error) {
	accounts, err := k.Store.List(ctx)
	if err != nil {
		return Account{}, err
	}
	accounts = slices.DeleteFunc(accounts, func(a Account) bool { return !a.Enabled })
	if len(accounts) == 0 {
		return Account{}, ErrNotFound
	}
	with := slices.IndexFunc(accounts, func(a Account) bool { return a.HasToken })
	if with < 0 {
		return accounts[0], ErrNoToken
	}
	_, err = k.Check(ctx, accounts[with].ID)
	return accounts[with], err
}

// checked is the account after its token was checked once. A token that is not the
// account's must not write, and with a wrong user name somebody else's list would be read.
func (k *Client) checked(ctx context.Context, a Account) (Account, error) {
	if a.CheckedAt != nil {
		return a, nil
	}
	now, err := k.check(ctx, a.ID)
	now.Private = now.Private || a.Private // the caller may want it of this entry alone
	return now, err
}

// Mark marks episodes of a subject on the account's list with the catalog's mark
// sequence; without episodes, the subject itself, which must have none. Errors are those of Check and of the intents.
func (k *Client) Mark(ctx context.Context, a Account, subject catalog.SubjectID, episodes []catalog.EpisodeID, intents catalog.Intents) (result catalog.MarkResult, err error) {
	if a, err = k.checked(ctx, a); err != nil {
		return catalog.MarkResult{}, err
	}
	complete := func(ctx context.Context) (bool, int, error) { return k.completes(ctx, a, subject) }
	if !a.CompleteSeries && !a.CompleteFilms {
		complete = nil
	}
	err = k.as(ctx, a, func(s catalog.Session) (err error) {
		entry := k.entry(a, s, subject)
		entry.Intents = intents
		wrote := result.Wrote // with the token of before
		result, err = k.Marker.Mark(ctx, catalog.MarkRequest{ListEntry: entry, Episodes: episodes, Complete: complete})
		result.Wrote = result.Wrote || wrote
		return err
	})
	k.rename(ctx, a, result.Username)
	return result, err
}

// completes reports whether the account wants a subject done with its last episode, and how many episodes that will have.
func (k *Client) completes(ctx context.Context, a Account, subject catalog.SubjectID) (complete bool, eps int, err error) {
	again, err := k.Rewatching(ctx, a, subject)
	if err != nil || again {
		return false, 0, err
	}
	about, err := k.about(ctx, a, subject)
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return false, 0, err
	}
	if about.IsFilm() {
		return a.CompleteFilms, about.Eps, nil
	}
	return a.CompleteSeries, about.Eps, nil
}

// IsAdult reports whether a subject is an adult title. Look-ups without an account do not find one, the account may. Errors are
// those of Check; ErrNotFound of package catalog is also that of an adult title that the account may not see.
func (k *Client) IsAdult(ctx context.Context, a Account, subject catalog.SubjectID) (bool, error) {
	about, err := k.about(ctx, a, subject)
	return about.NSFW, err
}

// about reads a subject, in the name of the account where it is hidden from look-ups.
func (k *Client) about(ctx context.Context, a Account, subject catalog.SubjectID) (catalog.Subject, error) {
	about, err := k.Subjects.Subject(ctx, subject)
	if errors.Is(err, catalog.ErrNotFound) {
		about, err = k.View(a).Subject(ctx, subject)
	}
	return about, err
}

// MarkDoing puts a subject on the list of what is being watched, and changes no entry
// that is beyond wish. Errors as Mark's.
func (k *Client) MarkDoing(ctx context.Context, a Account, subject catalog.SubjectID, intents catalog.Intents) (result catalog.MarkResult, err error) {
	if a, err = k.checked(ctx, a); err != nil {
		return catalog.MarkResult{}, err
	}
	err = k.as(ctx, a, func(s catalog.Session) (err error) {
		entry := k.entry(a, s, subject)
		entry.Intents = intents
		result, err = k.Marker.MarkDoing(ctx, entry)
		return err
	})
	k.rename(ctx, a, result.Username)
	return result, err
}

// MarkedAt reads since when an episode is marked on the account's list; see catalog.ListEntry. Errors as Mark's.
func (k *Client) MarkedAt(ctx context.Context, a Account, subject catalog.SubjectID, episode catalog.EpisodeID) (at time.Time, err error) {
	if a, err = k.checked(ctx, a); err != nil {
		return at, err
	}
	e := k.entry(a, catalog.Session{}, subject)
	err = k.as(ctx, a, func(s catalog.Session) (err error) {
		e.Session = s
		at, err = e.MarkedAt(ctx, episode)
		return err
	})
	k.rename(ctx, a, e.Username)
	return at, err
}

// Rewatch has the entry of a subject follow a person who watches it once more; see catalog.Marker. Errors as Mark's.
func (k *Client) Rewatch(ctx context.Context, a Account, subject catalog.SubjectID, again catalog.Rewatch) (result catalog.RewatchResult, err error) {
	if a, err = k.checked(ctx, a); err != nil {
		return catalog.RewatchResult{}, err
	}
	err = k.as(ctx, a, func(s catalog.Session) (err error) {
		result, err = k.Marker.Rewatch(ctx, catalog.RewatchRequest{ListEntry: k.entry(a, s, subject), Rewatch: again})
		return err
	})
	k.rename(ctx, a, result.Username)
	return result, err
}

// Unmark takes back what was written of a subject on the account's list, and nothing else; see
// catalog.Marker. Errors as Mark's.
func (k *Client) Unmark(ctx context.Context, a Account, subject catalog.SubjectID, back catalog.TakeBack) (result catalog.UnmarkResult, err error) {
	if a, err = k.checked(ctx, a); err != nil {
		return catalog.UnmarkResult{}, err
	}
	err = k.as(ctx, a, func(s catalog.Session) (err error) {
		result, err = k.Marker.Unmark(ctx, catalog.UnmarkRequest{ListEntry: k.entry(a, s, subject), TakeBack: back})
		return err
	})
	k.rename(ctx, a, result.Username)
	return result, err
}

// Watched reads what is marked on a subject of the account's list. Errors as Mark's.
func (k *Client) Watched(ctx context.Context, a Account, subject catalog.SubjectID) (watched catalog.Watched, err error) {
	if a, err = k.checked(ctx, a); err != nil {
		return catalog.Watched{}, err
	}
	e := k.entry(a, catalog.Session{}, subject)
	err = k.as(ctx, a, func(s catalog.Session) (err error) {
		e.Session = s
		watched, err = e.Watched(ctx)
		return err
	})
	k.rename(ctx, a, e.Username)
	return watched, err
}

func (k *Client) entry(a Account, s catalog.Session, subject catalog.SubjectID) catalog.ListEntry {
	return catalog.ListEntry{
		AccountKey: strconv.FormatInt(a.ID, 10), Session: s, Username: a.Username, Private: a.Private, Subject: subject,
		Known: func(ctx context.Context) bool {
			known, err := k.Known(ctx, a.ID, subject)
			return known || err != nil // not to know is no reason to believe
		},
		Left: func(ctx context.Context) (bool, error) { return k.Left(ctx, a.ID, subject) },
	}
}

// rename keeps the name the marker learnt of the catalog. A failure costs another
// request the next time, nothing else.
func (k *Client) rename(ctx context.Context, a Account, username string) {
	if username == "" || username == a.Username {
		return
	}
	if err := k.Store.SetOwner(ctx, a.ID, catalog.User{ID: a.CatalogUserID, Username: username, Nickname: a.Nickname}); err != nil {
		k.Log.WarnContext(ctx, "cannot store Bangumi's name of an account", "account", a.Username, "username", username, "error", err)
	}
}
