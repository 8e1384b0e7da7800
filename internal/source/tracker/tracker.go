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
	"database/sql"
	"errors"
	"log/slog"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/platform/tickets"
	"watchmark/internal/source/preview"
	"watchmark/internal/watch"
)

var errTakenMeanwhile = errors.New("another process took a play in")

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

// Config is what a Service is made of; every field must be set.
type Config struct {
	DB     *db.DB
	Box    *secret.Box
	HTTP   *httpx.Client
	Masker *secret.Masker
	Tasks  *task.Registry
	Holds  *hold.Holds
	Intake Intake
	// Forecast tells what would become of events; one function serves one preview.
	Forecast func() preview.Of
	// Imported are those of some plays that became records by a file of Trakt's export.
	Imported func(ctx context.Context, plays []int64) (map[int64]bool, error)
	// Mapped reports whether a person mapped an event, by one of the titles: its genre does not matter then.
	Mapped func(ctx context.Context, titles []string, event watch.Event) (bool, error)
	// Options is asked whenever it is needed, so that changed settings hold at once.
	Options func() Options
	// Schedule has the Jobs, which the caller adds. Plan says when histories are read.
	Schedule *schedule.Registry
	Plan     func() schedule.Plan
	Log      *slog.Logger
}

// Service signs people in, keeps their credentials and reads their histories. It may be
// used by several goroutines.
type Service struct {
	Config
	store  store
	logins *tickets.Kind[login]
	states *tickets.Kind[appLogin]
}

// NewService is a Service; its Jobs have it work by itself.
func NewService(c Config) *Service {
	return &Service{
		Config: c, store: store{c.DB, c.Box},
		logins: tickets.New[login](c.DB, c.Box, "tracker_mail", loginKept, loginsMost),
		states: tickets.New[appLogin](c.DB, c.Box, "tracker_oauth", stateLife, statesMost),
	}
}
