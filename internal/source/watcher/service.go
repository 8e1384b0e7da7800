package watcher

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"watchmark/internal/match/seriesid"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/platform/turn"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/payload"
	"watchmark/internal/source/preview"
	"watchmark/internal/watch"
)

// Dialer finds media servers, signs people in and opens Clients; *mediaserver.Dialer is one.
type Dialer interface {
	Probe(ctx context.Context, address, pin string) (mediaserver.Found, error)
	SignIn(ctx context.Context, s mediaserver.Server, username string, password secret.Text) (mediaserver.Login, error)
	StartCode(ctx context.Context, s mediaserver.Server) (mediaserver.Code, error)
	FinishCode(ctx context.Context, s mediaserver.Server, c mediaserver.Code) (l mediaserver.Login, done bool, err error)
	Open(s mediaserver.Server) (mediaserver.Client, error)
	PlexChoices(ctx context.Context, account secret.Text) (servers []mediaserver.PlexServer, people []mediaserver.PlexPerson, err error)
	PlexChoose(ctx context.Context, account secret.Text, choice mediaserver.PlexChoice) (mediaserver.Login, error)
	KeepAlive(ctx context.Context, account secret.Text) error
}

// Intake stores events in one transaction with what also writes; *engine.Engine is one.
type Intake interface {
	Take(ctx context.Context, events []watch.Event, also func(ctx context.Context, tx *sql.Tx, ids []int64) error) ([]int64, error)
	// Unwatch takes in what a person set back to unwatched.
	Unwatch(ctx context.Context, events []watch.Event) error
}

// Config is what a Service is made of; every field must be set.
type Config struct {
	DB     *db.DB
	Box    *secret.Box
	Dialer Dialer
	Masker *secret.Masker
	Tasks  *task.Registry
	// Holds gives a login to one replica at a time: it follows it, and it alone asks its server.
	Holds *hold.Holds
	// Replicas is how many replicas share the logins.
	Replicas func(ctx context.Context) (int, error)
	Intake   Intake
	// Remember keeps the ids of series for events that have none.
	Remember func(ctx context.Context, series []seriesid.Series) error
	// Routed is the accounts that name a media-server user, or what to do when none does.
	Routed func(ctx context.Context, user string) (accounts []string, problem reason.Reason, err error)
	// ForecastFor tells what is on the list of an account; one function serves one task. Account fails for one that is not there.
	ForecastFor func(account int64) preview.OfList
	Account     func(ctx context.Context, id int64) error
	// Import starts a preview or an import of what a login can read.
	Import func(ctx context.Context, login int64, h importer.History, preview bool) (*task.Task, error)
	// Enabled is asked whenever it is needed, so that changed settings hold at once.
	Enabled func() bool
	Log     *slog.Logger
}

// Service follows media servers. Run must be running for anything to come in. It may be used by several goroutines.
type Service struct {
	Config
	store store
	// wake has Run look at the logins anew.
	wake schedule.Signal
	// turns are those of logins: requests of one never run in parallel; see turn.
	turns turn.Keys[int64]
	// followed is whom webhooks may be about; see SeenTx.
	followed atomic.Pointer[[]followed]

	mu      sync.Mutex
	running bool                 // Run is
	firsts  map[int64]*firstLook // those that are to come
	moods   map[int64]*mood      // of the logins that are followed
	tasks   map[int64]bool       // logins that a task here works on
}

// turn waits until nobody else asks the server of a login, here or at another replica, and gives the function that ends that. The replica
// that follows the login gives it up for it.
func (s *Service) turn(ctx context.Context, id int64) (end func(), err error) {
	end, err = s.turns.Take(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := s.Holds.Wait(ctx, loginName(id)); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// mood is how following a login goes.
type mood struct {
	way  Way
	next time.Time // of the next catch-up; zero when it is not known
	kick schedule.Signal
}

// NewService is a Service.
func NewService(c Config) *Service {
	return &Service{Config: c, store: store{c.DB, c.Box}, wake: schedule.NewSignal(), moods: map[int64]*mood{}, firsts: map[int64]*firstLook{}, tasks: map[int64]bool{}}
}

// Kick has the Service look at its settings and logins anew.
func (s *Service) Kick() { s.wake.Raise() }

// Logins are all logins, the first one first.
func (s *Service) Logins(ctx context.Context) ([]Login, error) {
	stored, err := s.store.all(ctx)
	if err != nil {
		return nil, err
	}
	all := []Login{}
	for _, k := range stored {
		if k.removed {
			continue
		}
		l, err := s.complete(ctx, k.Login)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// Login is one of them, or ErrNotFound.
func (s *Service) Login(ctx context.Context, id int64) (Login, error) {
	k, err := s.store.get(ctx, id)
	if err != nil {
		return Login{}, err
	}
	return s.complete(ctx, k.Login)
}

// complete adds what is not stored with a login.
func (s *Service) complete(ctx context.Context, l Login) (Login, error) {
	accounts, _, err := s.Routed(ctx, l.MediaUserName)
	if err != nil {
		return l, err
	}
	l.Accounts = append(l.Accounts, accounts...)
	l.Webhook = time.Since(l.webhookAt) < webhookLately
	s.mu.Lock()
	if l.State == Connected && s.looks(l.ID) {
		l.State, l.Problem = SignedOut, looking.With()
	}
	s.mu.Unlock()
	l.Held, err = s.heldOf(ctx, l.ID)
	return l, err
}

// Probe finds out what is at an address.
func (s *Service) Probe(ctx context.Context, address, pin string) (mediaserver.Found, error) {
	return s.Dialer.Probe(ctx, address, pin)
}

// server is where a login leads and what opens it.
func (k known) server() mediaserver.Server {
	return mediaserver.Server{Kind: k.Kind, URL: k.URL, Pin: k.pin, ID: k.ServerID, Token: k.token, Account: k.account, UserID: k.userID, Device: k.device, Quirks: k.quirks}
}

// open is a Client of a login, whose secrets are masked from now on.
func (s *Service) open(k known) (mediaserver.Client, error) {
	s.Masker.Hold("media login "+strconv.FormatInt(k.ID, 10), k.token.Reveal(), k.account.Reveal())
	return s.Dialer.Open(k.server())
}

// Change changes what a person may set. Errors are ErrNotFound and *reason.FieldError.
func (s *Service) Change(ctx context.Context, id int64, c Change) (Login, error) {
	k, err := s.store.get(ctx, id)
	if err != nil {
		return Login{}, err
	}
	if c.MediaUserName != nil {
		if k.MediaUserName, err = checkName(*c.MediaUserName); err != nil {
			return Login{}, err
		}
		if k.MediaUserName == "" {
			return Login{}, reason.At("media_user_name", nameEmpty)
		}
	}
	if c.Libraries != nil {
		if k.libraries, err = pick(k.libraries, *c.Libraries); err != nil {
			return Login{}, err
		}
	}
	if c.Enabled != nil {
		k.Enabled = *c.Enabled
	}
	if c.URL != nil || c.Pin != nil {
		if c.URL != nil {
			k.URL = strings.TrimSpace(*c.URL)
		}
		if c.Pin != nil {
			k.pin = strings.TrimSpace(*c.Pin)
		}
		if k.Login, err = s.moved(ctx, k.Login); err != nil {
			return Login{}, err
		}
	}
	if err := s.store.change(ctx, k.Login); err != nil {
		return Login{}, err
	}
	s.wake.Raise()
	return s.Login(ctx, id)
}

// moved makes sure that the server of a login is at its address of now.
func (s *Service) moved(ctx context.Context, l Login) (Login, error) {
	found, err := s.Dialer.Probe(ctx, l.URL, l.pin)
	if err != nil {
		return l, err
	}
	if l.URL, err = settle(found, l.Kind, l.pin); err != nil {
		return l, err
	}
	if l.ServerID != "" && found.ID != "" && found.ID != l.ServerID {
		return l, reason.At("url", otherServer)
	}
	return l, nil
}

// settle is the address to use of what was found, once its certificate is confirmed.
func settle(found mediaserver.Found, kind mediaserver.Kind, pin string) (string, error) {
	switch {
	case found.Pin != "" && found.Pin != pin:
		return "", reason.At("certificate_sha256", mediaserver.ErrUntrusted.With(found.Pin))
	case found.Kind != kind && !kind.Experimental() && !found.Kind.Experimental():
		return "", reason.At("kind", otherKind.With(found.Kind.Product()))
	}
	return found.URL, nil
}

// checkName is a media-server user without space around it, or a *reason.FieldError.
func checkName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if len(name) > watch.MaxText || strings.ContainsRune(name, 0) {
		return "", reason.At("media_user_name", nameTooLong.With(watch.MaxText))
	}
	return name, nil
}

// pick is the libraries with those picked that have the ids. What is played in one while it is not picked is old when it is picked
// again, as at its first sight.
func pick(all []library, ids []string) ([]library, error) {
	picked := slices.Clone(all)
	for i := range picked {
		picked[i].Picked = slices.Contains(ids, picked[i].ID)
		picked[i].Seen = picked[i].Seen && picked[i].Picked
	}
	for _, id := range ids {
		if !slices.ContainsFunc(all, func(l library) bool { return l.ID == id && !l.Gone }) {
			return nil, reason.At("libraries", noLibrary.With(payload.Clean(id, 60)))
		}
	}
	return picked, nil
}

// Remove forgets a login, and signs out at the server in the background.
func (s *Service) Remove(ctx context.Context, id int64) error {
	if _, err := s.store.get(ctx, id); err != nil {
		return err
	}
	if err := s.store.remove(ctx, id); err != nil {
		return err
	}
	s.wake.Raise()
	return nil
}

// forget signs out a login that was removed, and removes its rows a few at a time.
func (s *Service) forget(ctx context.Context, k known) error {
	end, err := s.turn(ctx, k.ID)
	if err != nil {
		return err
	}
	defer end()
	shared, err := s.sharesSignIn(ctx, k)
	if err != nil {
		return err
	}
	if k.token != "" && !shared {
		if client, err := s.open(k); err == nil {
			bounded, cancel := context.WithTimeout(ctx, signOutMost)
			if err := client.SignOut(bounded); err != nil && ctx.Err() == nil {
				s.Log.InfoContext(ctx, "a media server could not be told of a sign-out", "server", k.ServerName, "error", err)
			}
			cancel()
		}
	}
	s.Masker.Hold("media login " + strconv.FormatInt(k.ID, 10))
	for ctx.Err() == nil {
		over, err := s.store.forget(ctx, k.ID, forgetAtOnce)
		if err != nil || over {
			return err
		}
	}
	return ctx.Err()
}

// sharesSignIn reports whether the end of a login's sign-in may be that of others: those at Plex are all of one device there.
func (s *Service) sharesSignIn(ctx context.Context, k known) (bool, error) {
	if k.Kind != mediaserver.Plex {
		return false, nil
	}
	all, err := s.store.all(ctx)
	return slices.ContainsFunc(all, func(o known) bool {
		return o.ID != k.ID && !o.removed && o.Kind == mediaserver.Plex && o.account != ""
	}), err
}

const (
	// webhookLately is for how long a webhook of the same server and user counts.
	webhookLately = 7 * 24 * time.Hour
	// signOutMost bounds a sign-out; forgetAtOnce how many rows go at a time.
	signOutMost  = 20 * time.Second
	forgetAtOnce = 500
)

// webhookSource is under what webhooks of a kind of server are filed; the NAS kinds send none.
func webhookSource(k mediaserver.Kind) watch.Source {
	switch k {
	case mediaserver.Jellyfin:
		return watch.Jellyfin
	case mediaserver.Emby:
		return watch.Emby
	case mediaserver.Plex:
		return watch.Plex
	}
	return watch.Watcher
}

// is reports whether an error of a Client is of a kind that it tells apart.
func is(err error, kinds ...error) bool {
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

// Name is what the server of a login is called: by itself, or else by its address.
func (l Login) Name() string { return cmp.Or(l.ServerName, l.URL, string(l.Kind)) }

// fault wraps an error for the log.
func (l Login) fault(err error) error { return fmt.Errorf("media login %d: %w", l.ID, err) }
