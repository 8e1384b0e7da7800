package engine

import (
	"context"
	"database/sql"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/engine/queue"
	"watchmark/internal/match"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/metrics"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

const (
	// Lease is how long a claimed record is held without a sign of life.
	Lease = 30 * time.Second
	// claimMost is how many records one claim takes, inHandMost how many are held at once.
	claimMost  = 64
	inHandMost = 1024
	// idle is how often the database is asked for work that nobody announced, such as
	// records whose lease ran out.
	idle = 5 * time.Second
)

// Accounts tells whose list a media-server user belongs to; *account.Store is one.
type Accounts interface {
	ForUser(ctx context.Context, mediaUser string) ([]account.Account, error)
	Preferred(ctx context.Context) (account.Account, error)
	Get(ctx context.Context, id int64) (account.Account, error)
	IsIgnored(ctx context.Context, mediaUser string) (bool, error)
}

// Matcher finds the subject and episode of an event; *match.Matcher is one.
type Matcher interface {
	Match(ctx context.Context, event watch.Event) match.Trace
	// MatchOnline asks the catalog alone, not the archive.
	MatchOnline(ctx context.Context, event watch.Event) match.Trace
	// Blocked tells whether a blocked keyword stops the event, and how Match comes out then.
	Blocked(ctx context.Context, event watch.Event) (match.Trace, bool)
}

// Lists writes to people's lists; *account.Client is one. Errors are those of
// packages account and catalog.
type Lists interface {
	// Mark marks episodes of one subject, or the subject itself when there are none.
	Mark(ctx context.Context, a account.Account, subject catalog.SubjectID, episodes []catalog.EpisodeID) (catalog.MarkResult, error)
	// MarkDoing puts a film on the list of what is being watched.
	MarkDoing(ctx context.Context, a account.Account, subject catalog.SubjectID) (catalog.MarkResult, error)
	// Unmark takes back what was written of a subject.
	Unmark(ctx context.Context, a account.Account, subject catalog.SubjectID, back catalog.TakeBack) (catalog.UnmarkResult, error)
	// Watched tells what is marked already.
	Watched(ctx context.Context, a account.Account, subject catalog.SubjectID) (catalog.Watched, error)
}

// Options are the settings of the engine; they are asked for before every use.
type Options struct {
	// Workers is how many records are matched at once; it holds from the start of the engine on.
	Workers int
	// Coalesce is how long at most a mark waits for others of its list entry, when more are
	// expected: others of its show are on their way, or one was written just now.
	Coalesce time.Duration
	// MaxRetries is the failed replay with which a queued record is given up.
	MaxRetries int
	// AnyAccountForTests lets test runs fall back to the preferred account when none names the user.
	AnyAccountForTests bool
}

// Config is what an Engine needs; every field must be set.
type Config struct {
	DB      *db.DB
	Records *record.Store
	// Ask asks a person about a record that comes out as review, within the transaction that settles it.
	Ask      func(ctx context.Context, tx *sql.Tx, w record.Work, trace match.Trace) (Asked, error)
	Accounts Accounts
	Matcher  Matcher
	Lists    Lists
	// View is the catalog as an account sees it.
	View func(account.Account) match.Viewer
	// Taken reports whether the play that an event of a webhook tells of is a record already, because a login at the same server
	// saw it, too. It asks the database nothing where no login may have.
	Taken   func(ctx context.Context, tx *sql.Tx, e watch.Event) (bool, error)
	Queue   *queue.Queue
	Tasks   *task.Registry
	Options func() Options
	// Queued is told that something waits in the queue now.
	Queued func()
	// Notices are told what came in, and how it came out.
	Notices Notices
	Log     *slog.Logger
}

// Asked is what became of a question that a record asks.
type Asked struct {
	// Again: the answer came after the record was claimed, so the record is to be run again.
	Again bool
	// Before: another record waits for the same answer already.
	Before bool
	// Message is what the record says instead of the reason it came out as review; empty when it waits for an answer.
	Message reason.Reason
}

// Engine is the way of an event. Run must be running for anything but Preview to end.
type Engine struct {
	Config

	// Runs counts runs of records that are no tests, by source and status: one that waits
	// counts at each try.
	Runs metrics.Counter
	// Matching is how long matching takes.
	Matching metrics.Histogram

	intake    chan *arrival
	lastBurst atomic.Pointer[time.Time] // nil before the first
	wake      schedule.Signal
	jobs      chan *record.Work

	mu      sync.Mutex
	inHand  map[int64]chan struct{} // closed when the record is settled or let go
	again   map[int64]record.Work   // records that were claimed anew while they were in hand
	shows   map[showKey]*show       // what is on its way
	coming  map[int64]expected      // records that are stored and not claimed yet
	claims  int                     // claims that have begun
	marking map[markKey][]settled   // what waits for the running batch of its key
	retries map[int64]*task.Task    // tasks that follow a record

	// marks holds a token for each batch that may be written at once: two a worker, for most
	// of a batch is waiting for answers.
	marks   chan struct{}
	working sync.WaitGroup
	// background is what Run has started.
	background sync.WaitGroup
}

// New is an engine over c.
func New(c Config) *Engine {
	return &Engine{
		Config:  c,
		intake:  make(chan *arrival, intakeMost),
		wake:    schedule.NewSignal(),
		jobs:    make(chan *record.Work, inHandMost),
		inHand:  map[int64]chan struct{}{},
		again:   map[int64]record.Work{},
		shows:   map[showKey]*show{},
		coming:  map[int64]expected{},
		marking: map[markKey][]settled{},
		retries: map[int64]*task.Task{},
		marks:   make(chan struct{}, 2*c.Options().Workers),
	}
}

// Wake makes the engine look for received records now.
func (e *Engine) Wake() { e.wake.Raise() }

// Run works until ctx ends, then finishes what is in hand for up to grace; what is
// not finished by then is given back to be taken up at the next start.
func (e *Engine) Run(ctx context.Context, grace time.Duration) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	e.background.Go(func() { e.commitArrivals(ctx) })
	e.background.Go(func() { e.keepLeases(work) })
	for range e.Options().Workers {
		e.background.Go(func() { e.workOn(work) })
	}
	e.claimUntil(ctx)

	finished := make(chan struct{})
	go func() { e.working.Wait(); close(finished) }()
	select {
	case <-finished:
	case <-time.After(grace):
		e.Log.Warn("work in hand did not finish in time and is taken up at the next start", "records", len(e.held()))
	}
	cancel()
	e.background.Wait()
	e.releaseJobs(finished)
}

// claimUntil claims work as it comes and hands it to the workers, until ctx ends.
func (e *Engine) claimUntil(ctx context.Context) {
	for ctx.Err() == nil {
		e.giveWay(ctx)
		claimed := 0
		if e.hasRoom() {
			tookAll := e.beginClaim()
			works, err := e.Records.Claim(ctx, claimMost, Lease)
			if err != nil && ctx.Err() == nil {
				e.Log.Error("cannot claim records", "error", err)
			}
			for _, w := range works {
				e.take(w)
			}
			if claimed = len(works); err == nil && claimed < claimMost {
				tookAll()
			}
		}
		if claimed == claimMost {
			continue
		}
		e.wake.Wait(ctx, idle)
	}
}

// keepLeases prolongs the leases of what is in hand, until ctx ends.
func (e *Engine) keepLeases(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(Lease / 4):
		}
		if err := e.Records.Extend(ctx, e.held(), Lease); err != nil && ctx.Err() == nil {
			e.Log.Error("cannot extend leases", "error", err)
		}
	}
}

// workOn runs the pipeline over the jobs until ctx ends.
func (e *Engine) workOn(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case w := <-e.jobs:
			e.giveWay(ctx)
			e.process(ctx, *w)
			e.next(*w)
		}
	}
}
