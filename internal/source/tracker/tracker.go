// Package tracker is the service's side of the watch tracker: signing a person in, keeping
// their credential alive, and turning their history into events (upstreams/tracker.md).
//
// What it promises: a credential is sealed at rest and renewed by one caller at a time, also
// across processes; a renewed pair is stored before it is used; what of the history was
// taken in is stored in one transaction with the records it became, so that a play becomes
// one record however often it is read; and nothing is marked that was watched before the
// connection, unless a full sync is asked for.
package tracker

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"log/slog"
	"sync"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/platform/turn"
	"watchmark/internal/source/preview"
	"watchmark/internal/watch"
)

// The errors a caller branches on, beside the kinds of *Error.
var (
	ErrOff            = errors.New("the tracker is switched off: set tracker.enabled")
	ErrNoClient       = errors.New("signing in by e-mail is not set up: set tracker.client_id to the client id of the tracker's web client (docs/sources.md says what that means)")
	ErrNoApp          = errors.New("no application of the tracker is set up: set tracker.app_client_id and tracker.app_client_secret, or sign in by e-mail")
	ErrNoLogin        = errors.New("no sign-in waits for this code: request a new code")
	ErrCodeExpired    = errors.New("the code is older than five minutes and has expired: request a new code")
	ErrTooManyCodes   = errors.New("too many wrong codes (MAX_OTP_ATTEMPTS is 5): this sign-in is over, request a new code")
	ErrState          = errors.New("the answer of the tracker does not belong to this sign-in: start it again")
	ErrLoginsFull     = errors.New("too many sign-ins wait at once: finish one of them, or try again in ten minutes")
	ErrNotFound       = errors.New("no such tracker user is connected: GET /api/tracker/status lists them")
	ErrWhich          = errors.New("several tracker users are connected: say which by user_id")
	ErrDisconnected   = errors.New("this tracker user is not connected: sign in")
	ErrDead           = errors.New("the tracker does not renew this sign-in any more: sign in again")
	ErrRefusedAgain   = errors.New("the tracker refuses the sign-in although it was just renewed: sign in again if this stays so")
	ErrRunning        = errors.New("the history of the tracker is being read already")
	ErrNobody         = errors.New("no tracker user is connected: sign in first")
	errTakenMeanwhile = errors.New("another process took a play in")
)

// FieldError says which field of the input is at fault.
type FieldError struct {
	Field   string
	Problem string
}

// Error is the field and what is wrong with it.
func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }

// Options are the settings of the tracker. Addresses have no slash at the end.
type Options struct {
	Enabled bool
	// AuthURL is the host of every sign-in. APIURL is the data host for those who signed in
	// by mail, AppAPIURL for those who did with an application (upstreams/tracker.md section 2).
	AuthURL, APIURL, AppAPIURL string
	// ClientID and RedirectURI are those of the sign-in by mail; an empty id switches it off.
	ClientID, RedirectURI string
	// AppClientID and AppClientSecret are those of an application; an empty id means there is none.
	AppClientID     string
	AppClientSecret secret.Text
	// Genres are those that are taken in; none takes everything.
	Genres []string
	// Overlap is how much of what was read before is read again.
	Overlap time.Duration
}

// Intake stores events in one transaction with what also writes; *engine.Engine is one.
type Intake interface {
	Take(ctx context.Context, events []watch.Event, also func(ctx context.Context, tx *sql.Tx, ids []int64) error) ([]int64, error)
}

// Config is what a Keeper is made of; every field must be set.
type Config struct {
	DB     *db.DB
	Box    *secret.Box
	HTTP   *httpx.Client
	Masker *secret.Masker
	Tasks  *task.Registry
	Intake Intake
	// Forecast tells what would become of events; one function serves one preview.
	Forecast func() preview.Of
	// Mapped reports whether a person mapped an event, by one of the titles: its genre does not matter then.
	Mapped func(ctx context.Context, titles []string, event watch.Event) (bool, error)
	// Options is asked whenever it is needed, so that changed settings hold at once.
	Options func() Options
	// Next is when the schedule is due after a time; zero is never.
	Next func(after time.Time) time.Time
	Log  *slog.Logger
}

// Keeper signs people in, keeps their credentials and reads their histories. It may be
// used by several goroutines.
type Keeper struct {
	Config
	store store
	// owner is this process in the leases of the database.
	owner  string
	logins logins
	states *secret.Tickets[appLogin]
	wake   schedule.Signal
	turns  turn.Keys[int64] // of the credential of a user

	mu      sync.Mutex
	running *task.Task // the run that reads a history; nil when none does
	last    time.Time  // when the last run by schedule began, or the Keeper
	again   time.Time  // when a run that failed is tried again; zero when it is not
}

// NewKeeper is a Keeper; Run has it work by itself.
func NewKeeper(c Config) *Keeper {
	return &Keeper{
		Config: c, store: store{c.DB, c.Box}, owner: rand.Text(), logins: logins{waiting: map[loginKey]*login{}},
		states: secret.NewTickets[appLogin](stateLife, statesMost), wake: schedule.NewSignal(), last: time.Now(),
	}
}
