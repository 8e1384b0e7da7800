package engine

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/entries"
	"watchmark/internal/engine/queue"
	"watchmark/internal/match"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/metrics"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/replica"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/tell/notify"
	"watchmark/internal/watch"
)

const (
	// claimMost is how many records of the background one claim takes, inHandMost how many are held at once.
	claimMost  = 64
	inHandMost = 1024
	// idle is how often the database is asked for work that nobody announced, such as what was held; idleAmong is how often it is where other
	// replicas store and release records, too.
	idle, idleAmong = 5 * time.Second, time.Second
	// While the database is away it is asked again after firstPause, which doubles up to lastPause.
	firstPause, lastPause = time.Second, 15 * time.Second
)

// comparing is how often what is in hand is compared with what the database says.
var comparing = 7500 * time.Millisecond

// Accounts tells whose list a media-server user belongs to; *account.Store is one.
type Accounts interface {
	ForUser(ctx context.Context, mediaUser string) ([]account.Account, error)
	// ForPerson is every account of a person, or of the owner for 0.
	ForPerson(ctx context.Context, person int64) ([]account.Account, error)
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
	Mark(ctx context.Context, a account.Account, subject catalog.SubjectID, episodes []catalog.EpisodeID, intents catalog.Intents) (catalog.MarkResult, error)
	// MarkDoing puts a film on the list of what is being watched.
	MarkDoing(ctx context.Context, a account.Account, subject catalog.SubjectID, intents catalog.Intents) (catalog.MarkResult, error)
	// Unmark takes back what was written of a subject.
	Unmark(ctx context.Context, a account.Account, subject catalog.SubjectID, back catalog.TakeBack) (catalog.UnmarkResult, error)
	// IsAdult tells whether a subject is an adult title.
	IsAdult(ctx context.Context, a account.Account, subject catalog.SubjectID) (bool, error)
	// MarkedAt tells since when an episode is marked, as far as it is known; that was no later than it says.
	MarkedAt(ctx context.Context, a account.Account, subject catalog.SubjectID, episode catalog.EpisodeID) (time.Time, error)
	// Rewatch has the entry of a subject follow a person who watches it once more.
	Rewatch(ctx context.Context, a account.Account, subject catalog.SubjectID, again catalog.Rewatch) (catalog.RewatchResult, error)
	// Watched tells what is marked already.
	Watched(ctx context.Context, a account.Account, subject catalog.SubjectID) (catalog.Watched, error)
}

// Options are the settings of the engine; they are asked for before every use.
type Options struct {
	// Workers is how many records are matched at once, of those that somebody waits for and of those in the background each; it holds from the
	// start of the engine on.
	Workers int
	// Coalesce is how long at most a mark waits for others of its list entry, when more are
	// expected: others of its show are on their way, or one was written just now.
	Coalesce time.Duration
	// MaxRetries is the failed replay with which a queued record is given up.
	MaxRetries int
	// AnyAccountForTests lets test runs fall back to the preferred account when none names the user.
	AnyAccountForTests bool
	// Adult is what is done with adult titles for accounts that do not say.
	Adult account.Adult
	// Unwatched is what is done about what was set back to unwatched for accounts that do not say.
	Unwatched account.Unwatched
	// Rewatch is what is done about a re-watch for accounts that do not say.
	Rewatch account.Rewatch
}

// Config is what an Engine needs; every field must be set.
type Config struct {
	DB      *db.DB
	Records *record.Store
	// Replica is this process among those that work on the database.
	Replica *replica.Self
	// Entries are the list entries that one replica at a time writes to.
	Entries *entries.Entries
	// Fresh reads anew what other replicas have changed; it is asked after each claim, so that what is claimed is matched by rules that are as
	// new as the claim.
	Fresh func(ctx context.Context) error
	// Reaches is whether the catalog can be reached, as far as is known.
	Reaches func() bool
	// Ask asks a person about a record that comes out as review, 0 being the owner, within the transaction that settles it.
	Ask func(ctx context.Context, tx *sql.Tx, w record.Work, person int64, trace match.Trace) (Asked, error)
	// Word asks the owner of an entry for a rating and a comment when a record marked its last episode, within that transaction.
	Word func(ctx context.Context, tx *sql.Tx, w record.Work, a account.Account, subject catalog.SubjectID, name string) ([]notify.Notice, error)
	// NoWord ends that, within the transaction that takes marks of the entry back.
	NoWord   func(ctx context.Context, tx *sql.Tx, accountID int64, subjects ...catalog.SubjectID) ([]notify.Notice, error)
	Accounts Accounts
	// People have a user of a media server that is made one of their account.
	People  People
	Matcher Matcher
	Lists   Lists
	// View is the catalog as an account sees it.
	View func(account.Account) match.Viewer
	// Taken reports whether the play that an event of a webhook tells of is a record already, because a login at the same server
	// saw it, too. It asks the database nothing where no login may have.
	Taken func(ctx context.Context, tx *sql.Tx, e watch.Event) (bool, error)
	// Unseen forgets that a login saw what was set back to unwatched: its next play is news. It reports whether this service itself did that.
	Unseen func(ctx context.Context, tx *sql.Tx, e watch.Event) (own bool, err error)
	// Unwatched is told that marks are to be taken back, or a person is to be asked.
	Unwatched func()
	Queue     *queue.Queue
	Tasks     *task.Registry
	Options   func() Options
	// Queued is told that something waits in the queue now.
	Queued func()
	// Notices are told what came in, and how it came out.
	Notices Notices
	Log     *slog.Logger
}

// People are who has accounts; *auth.Store is one.
type People interface {
	// GiveUserTx makes a media-server user one of a person, or returns an error where the user is somebody else.
	GiveUserTx(ctx context.Context, tx *sql.Tx, person int64, name string) error
	// TakeUserTx is the way back.
	TakeUserTx(ctx context.Context, tx *sql.Tx, person int64, name string) error
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

	// resting ends at Rest.
	resting context.Context
	rest    context.CancelFunc

	intake    chan *arrival
	lastBurst atomic.Pointer[time.Time]  // nil before the first
	underWay  atomic.Pointer[committing] // the commit that began last, nil once it is done
	wake      schedule.Signal
	lines     [lanes]*line

	mu      sync.Mutex
	inHand  map[int64]held
	firsts  map[string]int        // how many of a user are in hand that go first
	behind  int                   // how many are in hand in the background
	again   map[int64]record.Work // records that were claimed anew while they were in hand
	shows   map[showKey]*show     // what is on its way
	coming  map[int64]expected    // records that are stored and not claimed yet
	claims  int                   // claims that have begun
	marking map[markKey][]settled // what waits for the running batch of its key
	retries map[int64]*task.Task  // tasks that follow a record

	// taking is held, for reading, by what claims records beside the loop, until they are in hand.
	taking sync.RWMutex
	// unsure is set when a record may be this replica's that it does not know of.
	unsure atomic.Bool
	// away is when the database could not be used last.
	away atomic.Pointer[time.Time]

	// marks holds a token for each batch of a lane that may be written at once: two a worker, for most
	// of a batch is waiting for answers.
	marks   [lanes]chan struct{}
	working sync.WaitGroup
	// background is what serve has started.
	background sync.WaitGroup
}

// New is an engine over c.
func New(c Config) *Engine {
	resting, rest := context.WithCancel(context.Background())
	batches := 2 * c.Options().Workers
	return &Engine{
		Config:  c,
		resting: resting, rest: rest,
		intake:  make(chan *arrival, intakeMost),
		wake:    schedule.NewSignal(),
		lines:   [lanes]*line{newLine(), newLine()},
		inHand:  map[int64]held{},
		firsts:  map[string]int{},
		again:   map[int64]record.Work{},
		shows:   map[showKey]*show{},
		coming:  map[int64]expected{},
		marking: map[markKey][]settled{},
		retries: map[int64]*task.Task{},
		marks:   [lanes]chan struct{}{make(chan struct{}, batches), make(chan struct{}, batches)},
	}
}

// Wake makes the engine look for received records now.
func (e *Engine) Wake() { e.wake.Raise() }

// Rest has the engine claim no more, and finish what is in hand. Run goes on storing what comes.
func (e *Engine) Rest() { e.rest() }

// Run works until ctx ends, then finishes what is in hand for up to grace; what is
// not finished by then is given back to be taken up at the next start. When the replica is evicted, what is in hand is
// dropped, and it goes on as the next incarnation.
func (e *Engine) Run(ctx context.Context, grace time.Duration) {
	var storing sync.WaitGroup
	most := committers
	if e.DB.Alone() {
		most = 1
	}
	for range most {
		storing.Go(func() { e.commitArrivals(ctx) })
	}
	working, end := context.WithCancel(ctx)
	defer end()
	defer context.AfterFunc(e.resting, end)()
	for working.Err() == nil {
		if m := e.Replica.Await(working); m != nil {
			e.serve(working, m, grace)
		}
	}
	storing.Wait()
}

// serve works as one incarnation, until ctx ends or it does.
func (e *Engine) serve(ctx context.Context, m *replica.Member, grace time.Duration) {
	claiming, stop := context.WithCancel(ctx)
	defer stop()
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	for range e.Options().Workers {
		for _, l := range e.lines {
			e.background.Go(func() { e.workOn(work, l) })
		}
	}
	e.background.Go(func() {
		select {
		case <-m.Ended():
			stop()
			cancel()
		case <-work.Done():
		}
	})
	e.claimUntil(claiming, m)

	finished := make(chan struct{})
	go func() { e.working.Wait(); close(finished) }()
	select {
	case <-finished:
	case <-m.Ended():
	case <-time.After(grace):
		e.Log.Warn("work in hand did not finish in time and is taken up at the next start", "records", len(e.held()))
	}
	cancel()
	e.background.Wait()
	e.releaseJobs(finished)
}

// claimUntil claims work as it comes and hands it to the workers, until ctx ends.
func (e *Engine) claimUntil(ctx context.Context, m *replica.Member) {
	rest := idle
	if !e.DB.Alone() {
		rest = idleAmong
	}
	compared, pause := time.Now(), firstPause
	for ctx.Err() == nil {
		e.giveWay(ctx)
		var err error
		// What a claim took whose answer was lost is older than what the next one takes.
		if e.unsure.Load() || time.Since(compared) >= comparing {
			compared = time.Now()
			err = e.compare(ctx, m)
			e.unsure.Store(err != nil)
		}
		more := false
		if err == nil {
			if more, err = e.claim(ctx, m); err != nil {
				e.unsure.Store(true)
			}
		}
		switch {
		case ctx.Err() != nil:
		case err != nil:
			if pause == firstPause {
				e.Log.Error("cannot claim records, trying again", "error", err)
			}
			e.noteEviction(err)
			select { // whatever comes meanwhile
			case <-ctx.Done():
			case <-time.After(pause):
			}
			pause = min(2*pause, lastPause)
			continue
		case !more:
			e.wake.Wait(ctx, rest)
		}
		if pause != firstPause {
			e.Log.Info("records are claimed again")
			pause = firstPause
		}
	}
}

// claim claims records once, and reports whether there may be more to claim at once. A replica that cannot reach the catalog leaves them to
// one that can.
func (e *Engine) claim(ctx context.Context, m *replica.Member) (more bool, err error) {
	room := e.room()
	if room.Of == nil && room.Background == 0 || e.Replica.OthersReach() && !e.Reaches() {
		return false, nil
	}
	tookAll := e.beginClaim()
	works, all, err := e.Records.Claim(ctx, m.Incarnation, room)
	if err != nil {
		return false, err
	}
	if len(works) > 0 {
		if err := e.Fresh(ctx); err != nil { // rules of before the claim may lead it elsewhere
			return false, errors.Join(err, e.Records.Release(ctx, m.Incarnation, idsOf(works)...))
		}
	}
	for _, w := range works {
		e.take(w)
	}
	if all {
		tookAll()
	}
	return !all && len(works) > 0, nil
}

// noteEviction has the replica look for itself when a write was refused.
func (e *Engine) noteEviction(err error) {
	if errors.Is(err, db.ErrEvicted) || errors.Is(err, replica.ErrNotLive) {
		e.Replica.Doubt()
	}
}

// compare gives back records that are this incarnation's by the database and not in hand: storing how they came out had failed, or the
// answer to a claim was lost.
func (e *Engine) compare(ctx context.Context, m *replica.Member) error {
	e.taking.Lock()
	defer e.taking.Unlock()
	forgotten, err := e.Records.Held(ctx, m.Incarnation)
	if err != nil {
		return err
	}
	e.mu.Lock()
	forgotten = slices.DeleteFunc(forgotten, func(id int64) bool {
		_, held := e.inHand[id]
		return held
	})
	e.mu.Unlock()
	if len(forgotten) > 0 { // what was settled meanwhile stays
		if err := e.Records.Release(ctx, m.Incarnation, forgotten...); err != nil {
			return err
		}
		e.Log.WarnContext(ctx, "records that nobody worked on any more are done again", "record_ids", forgotten)
	}
	return e.Entries.GiveForgotten(ctx)
}
