// Package budget says when a request may be sent to a host of Bangumi, which bans whoever asks too often for an hour
// (upstreams/catalog.md section 4). What somebody waits for goes before work in the background, which leaves a part of the budget to it;
// both are given out in turns to those for whom something waits, and of what waits for one, marks go before look-ups.
//
// Where the database is this process's alone, requests are counted in memory. Replicas that share a database share one row a host and
// egress, from which each takes some requests at a time. A ban is a row in both cases: it outlives a restart, and closes its
// egress for every replica on it.
package budget

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"watchmark/internal/platform/db"
)

const (
	// handful is how many requests a replica takes at a time, and handTime how long it keeps what it does not send.
	handful  = 20
	handTime = time.Minute
	// banTime is how long Bangumi bans without saying so, and the most that it is believed (upstreams/catalog.md section 4).
	banTime = time.Hour
	// firstTrial and lastTrial bound how long after one request that looks whether a ban is over the next one may be sent: the longer, the
	// longer the ban has lasted. Such a request does not prolong the ban.
	firstTrial, lastTrial = time.Second, time.Minute
	// firstPause and lastPause bound the wait before the database is asked for more, when it has none or does not answer.
	firstPause, lastPause = 10 * time.Millisecond, 5 * time.Second
	// storeTime is how long storing a ban may hold up who was banned.
	storeTime = 5 * time.Second
	// bucketsMost is how many buckets are kept before those that nothing is known of go.
	bucketsMost = 1024
)

// Options say how much may be sent.
type Options struct {
	// PerMinute is the steady rate to one host, Burst how many requests may go at once; both at least 1.
	PerMinute, Burst int
	// Ceiling is what ten minutes may hold, with what replicas have in hand at their beginning; 0 is unknown. The more replicas, the less
	// may go at once.
	Ceiling int
	// Egress names the address that this process sends from, as Bangumi sees it.
	Egress string
	// PerAccount: what is sent with the token of an account counts against that account alone.
	PerAccount bool
}

// Config is what a Budget works with.
type Config struct {
	DB *db.DB
	// Options are asked for at each request to a host.
	Options func(host string) Options
	Log     *slog.Logger
}

// Draw says what is to be sent.
type Draw struct {
	Host string
	// Account is whose token goes with it; 0 is nobody's.
	Account int64
	Turn
	Class Class
	// Probe: somebody wants to know whether Bangumi answers.
	Probe bool
}

// Turn says when a request gets its turn.
type Turn struct {
	// Whose is the account that it is for; 0 is nobody's.
	Whose int64
	// Background: nobody waits for it at this moment.
	Background bool
}

// Ban is a time in which nothing may be sent.
type Ban struct {
	Since, Until time.Time
	// Trial is from when on one request may look whether it is over.
	Trial time.Time
}

func (b Ban) holds(now time.Time) bool { return now.Before(b.Until) }

// Banned is the error of a request that is not sent because of a ban.
type Banned struct {
	Ban
	// Account: it is the account that is banned, and others may go on.
	Account bool
}

func (b *Banned) Error() string {
	return "banned for too many requests until " + b.Until.Format(time.DateTime)
}

// Budget is what may be sent. It may be used by several goroutines.
type Budget struct {
	cfg    Config
	lifted func(host string)

	mu      sync.Mutex
	buckets map[name]*bucket
}

// name is of a bucket: the host, and who counts there.
type name struct{ host, by string }

// ofAccounts begins those of accounts; no egress is called so.
const ofAccounts = "account:"

// account reports whether an account counts there.
func (n name) account() bool { return strings.HasPrefix(n.by, ofAccounts) }

// egress is which one counts there; empty for an account, that any may send for.
func (n name) egress() string {
	if n.account() {
		return ""
	}
	return n.by
}

// New is the budget in a database, with the bans that are stored there.
func New(ctx context.Context, cfg Config) (*Budget, error) {
	b := &Budget{cfg: cfg, lifted: func(string) {}, buckets: map[name]*bucket{}}
	if err := b.refresh(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// OnLift has fn called with a host when another replica found that its ban is over. Call it before the budget is used.
func (b *Budget) OnLift(fn func(host string)) { b.lifted = fn }

// Run hears of the bans that other replicas meet, until ctx ends.
func (b *Budget) Run(ctx context.Context) {
	if b.cfg.DB.Alone() {
		return
	}
	told := make(chan struct{}, 1)
	var hearing sync.WaitGroup
	defer hearing.Wait()
	hearing.Go(func() {
		b.cfg.DB.Listen(ctx, func(topic, _ string) {
			if topic != "" && topic != notice {
				return
			}
			select {
			case told <- struct{}{}:
			default:
			}
		})
	})
	for {
		select {
		case <-told:
			if err := b.refresh(ctx); err != nil && ctx.Err() == nil {
				b.cfg.Log.DebugContext(ctx, "cannot read the bans", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// Wait returns when d may be sent. trial: it looks whether a ban is over, and Answered must be told when Bangumi
// answers it. The error is a *Banned, or that of ctx, also when ctx would end before its turn.
func (b *Budget) Wait(ctx context.Context, d Draw) (trial bool, err error) {
	o := b.cfg.Options(d.Host)
	u := b.bucket(d, o)
	if end, bounded := ctx.Deadline(); bounded && !u.inTime(end, d.Background, o) {
		return false, context.DeadlineExceeded
	}
	gate := &u.first
	if d.Background {
		gate = &u.behind
	}
	if err := gate.enter(ctx, d.Whose, d.Class); err != nil {
		return false, err
	}
	defer gate.leave()
	if trial, err = u.try(ctx, d.Probe); err != nil || trial {
		return trial, err
	}
	if !d.Background {
		return false, u.token(ctx, o)
	}
	starved, err := u.spareToken(ctx, o)
	if !starved {
		return false, err
	}
	if err := u.first.enter(ctx, d.Whose, d.Class); err != nil {
		return false, err
	}
	defer u.first.leave()
	return false, u.token(ctx, o)
}

// Refused tells that Bangumi refused d because there were too many requests; after is when it may be asked again, 0
// when it did not say so. account: it is an account that is banned, and others may go on.
func (b *Budget) Refused(ctx context.Context, d Draw, after time.Duration) (account bool) {
	u := b.bucket(d, b.cfg.Options(d.Host))
	fresh := u.close(min(after, banTime))
	if b.cfg.DB.Alone() && !fresh && after == 0 {
		return u.name.account() // it is stored, and nobody else reads it
	}
	b.store(ctx, u, "that Bangumi accepts no requests for a while", func(ctx context.Context, tx *sql.Tx) error { return storeBan(ctx, tx, u.name, min(after, banTime)) })
	return u.name.account()
}

// Answered tells that Bangumi answered d, which was a trial.
func (b *Budget) Answered(ctx context.Context, d Draw) {
	u := b.bucket(d, b.cfg.Options(d.Host))
	u.set(Ban{})
	b.store(ctx, u, "that Bangumi accepts requests again", func(ctx context.Context, tx *sql.Tx) error { return storeLift(ctx, tx, u.name) })
}

// store writes what was learnt of a bucket, and tells the others.
func (b *Budget) store(ctx context.Context, u *bucket, what string, write func(context.Context, *sql.Tx) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	err := b.cfg.DB.WriteShared(ctx, write)
	if err == nil {
		err = b.cfg.DB.Notify(ctx, notice, u.name.host)
	}
	if err != nil {
		b.cfg.Log.WarnContext(ctx, "cannot store "+what, "host", u.name.host, "error", err)
	}
}

// bucket is that which d is drawn from.
func (b *Budget) bucket(d Draw, o Options) *bucket {
	by := o.Egress
	if o.PerAccount && d.Account != 0 {
		by = ofAccounts + strconv.FormatInt(d.Account, 10)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.named(name{strings.ToLower(d.Host), by})
}

// named is the bucket of a name. The caller holds mu.
func (b *Budget) named(n name) *bucket {
	u := b.buckets[n]
	if u == nil {
		if len(b.buckets) >= bucketsMost {
			for other, kept := range b.buckets {
				if kept.idle() {
					delete(b.buckets, other)
				}
			}
		}
		u = &bucket{name: n, db: b.cfg.DB}
		b.buckets[n] = u
	}
	return u
}

// refresh reads the bans that hold, for every bucket.
func (b *Budget) refresh(ctx context.Context) error {
	bans, err := readBans(ctx, b.cfg.DB)
	if err != nil {
		return fmt.Errorf("read the bans of Bangumi: %w", err)
	}
	var free []string
	b.mu.Lock()
	for n := range bans {
		b.named(n)
	}
	for n, u := range b.buckets {
		if was := u.set(bans[n]); was.holds(time.Now()) && bans[n].Until.IsZero() && !n.account() {
			free = append(free, n.host)
		}
	}
	b.mu.Unlock()
	for _, host := range free {
		b.lifted(host)
	}
	return nil
}
