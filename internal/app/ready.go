package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/disk"
)

const (
	// healthFor is how long an answer to "are you ready" stands, so that nobody keeps the database
	// busy by asking.
	healthFor = time.Second
	// healthTime is how long the database may take to answer.
	healthTime = 3 * time.Second
	// clockMost is how far the clock may be from the database's, by which replicas agree.
	clockMost = 30 * time.Second
	// leastFree is below how many bytes nothing can be promised to be stored.
	leastFree = 16 << 20
)

// readiness tells whether the service takes webhooks: whether what comes can be stored.
type readiness struct {
	dataDir string
	alive   func(context.Context) error
	// fits says as an unfit what keeps this process from working on the database beside others.
	fits     func(context.Context) error
	sound    func() error // what the check of the database found
	draining <-chan struct{}

	mu      sync.Mutex
	at      time.Time
	problem string
	asked   chan error // answers of alive that came too late; nil when none is under way
}

// problems are what keeps the service from taking webhooks, in words that may be shown to
// everybody; none when it is ready.
func (r *readiness) problems(ctx context.Context) []string {
	select {
	case <-r.draining:
		return []string{"the service is stopping"}
	default:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.IsZero() || time.Since(r.at) >= healthFor {
		r.problem = r.look(context.WithoutCancel(ctx))
		r.at = time.Now()
	}
	if r.problem == "" {
		return nil
	}
	return []string{r.problem}
}

// look asks database and disk. The caller holds mu.
func (r *readiness) look(ctx context.Context) string {
	if r.sound() != nil {
		return db.ErrDamaged.Error()
	}
	if r.asked == nil {
		asked := make(chan error, 1)
		r.asked = asked
		go func() { asked <- errors.Join(r.fits(ctx), r.alive(ctx)) }() // it ends with the database at the latest
	}
	select {
	case err := <-r.asked:
		r.asked = nil
		if problem := db.Problem(err); problem != "" { // others follow from it
			return problem
		}
		var why unfit
		if errors.As(err, &why) {
			return why.Error()
		}
		if err != nil {
			return "the database cannot be read and written: look into the log of the service, and run watchmark doctor"
		}
	case <-time.After(healthTime):
		return fmt.Sprintf("the database has not answered for %d seconds", int(healthTime.Seconds()))
	}
	free, err := disk.Free(r.dataDir)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
	case err != nil:
		return "the data folder cannot be used"
	case free < leastFree:
		return "the disk of the data folder is full: free some space on it"
	}
	return ""
}

// unfit is why this process must not work on a database beside others, in words that may be shown to everybody.
type unfit string

func (u unfit) Error() string { return string(u) }

// fits looks whether this process may work on the database beside others; alone it always may.
func (a *App) fits(ctx context.Context) error {
	if a.db.Alone() {
		return nil
	}
	if !a.self.Live() {
		return unfit("the database has not heard of this replica for too long, so others may take it for dead")
	}
	floor, err := a.db.SchemaFloor(ctx)
	if err != nil {
		return err
	}
	if floor > a.db.SchemaVersion() {
		return unfit(fmt.Sprintf("a newer program has changed the database: this one knows version %d, and %d is needed. Install the newer program", a.db.SchemaVersion(), floor))
	}
	before := time.Now()
	now, err := a.db.Now(ctx)
	if err != nil {
		return err
	}
	// Wall clocks are compared, whatever the monotonic one says.
	if off := before.Add(time.Since(before) / 2).Round(0).Sub(now); off.Abs() > clockMost {
		return unfit(fmt.Sprintf("the clock of this machine is %d seconds away from that of the database: set it, and let it be kept by NTP", int(off.Abs().Seconds())))
	}
	return nil
}
