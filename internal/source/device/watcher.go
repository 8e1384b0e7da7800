package device

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"watchmark/internal/platform/lan"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/watch"
)

const (
	// TaskKind is the kind of the tasks of SyncAll.
	TaskKind = "device_sync"

	// pollsAtOnce and scansAtOnce bound how many requests are under way.
	pollsAtOnce = 16
	scansAtOnce = 64

	// lookEvery is how often the settings and the clock are looked at.
	lookEvery = time.Minute
	// firstRetry and lastRetry bound the wait for a box that does not answer; it doubles.
	// Asleep or off is how boxes mostly are.
	firstRetry = time.Minute
	lastRetry  = 10 * time.Minute
	// asideLook is for the second address of a box that answers at another one.
	asideLook = 10 * time.Minute
	// rescanAfter is the least time between two scans for a box that has vanished.
	rescanAfter = 30 * time.Minute
	// forgetAfter is how long an address that a scan found is kept without an answer.
	forgetAfter = 24 * time.Hour
)

// Config says which boxes to ask. Its lists are as package lan gives them.
type Config struct {
	Enabled   bool
	Addresses []string
	Subnets   []netip.Prefix
	ScanEvery time.Duration // 0 scans on demand only
	// Threshold is the share from which something is watched, above 0 and below 1.
	Threshold float64
}

// WatcherConfig is what a Watcher is made of; every field but Loopback must be set.
type WatcherConfig struct {
	// Config is asked whenever it is needed, so that changed settings hold at once.
	Config func() Config
	Store  *Store
	// Take stores events in one transaction with what also writes.
	Take   func(ctx context.Context, events []watch.Event, also func(ctx context.Context, tx *sql.Tx, ids []int64) error) ([]int64, error)
	Tasks  *task.Registry
	Masker *secret.Masker
	Log    *slog.Logger
	// Loopback lets boxes be on this machine, for tests.
	Loopback bool
}

// Watcher knows the boxes, asks them what they play, and takes in what was watched.
type Watcher struct {
	WatcherConfig
	client *client // to boxes that are known
	quick  *client // to addresses at which there may be one
	wake   schedule.Signal
	rescan schedule.Signal
	polls  chan struct{} // holds a token for each poll under way

	mu        sync.Mutex
	places    []*place
	scanning  bool
	scanned   time.Time // when the last whole scan ended
	scanFound int       // players that it found
}

// place is an address at which there is a player, or may be one. Watcher.mu guards it.
type place struct {
	host    string
	port    uint16 // 0 until a player was found at one
	listed  bool   // the settings name it
	anyPort bool   // and leave the port open

	player   *player // nil before the first answer
	seen     time.Time
	offline  time.Time // since when it does not answer; zero while it does, and before the first try
	failures int
	problem  reason.Reason // why it does not answer
	next     time.Time
	polling  bool
}

// address is host, or host:port where the port is known.
func (p *place) address() string {
	if p.port == 0 {
		return p.host
	}
	return net.JoinHostPort(p.host, strconv.Itoa(int(p.port)))
}

// isMain reports whether a place is where its player is asked, and not a second address of
// it. Watcher.mu is held.
func (p *place) isMain() bool { return p.player == nil || p.player.place == p }

// NewWatcher is a Watcher that asks nobody until Run, or until it is told to.
func NewWatcher(c WatcherConfig) (*Watcher, error) {
	k := &Watcher{WatcherConfig: c, wake: schedule.NewSignal(), rescan: schedule.NewSignal(), polls: make(chan struct{}, pollsAtOnce)}
	var err error
	if k.client, err = newClient(pollTimeout, c.Loopback, c.Masker, c.Log); err != nil {
		return nil, err
	}
	k.quick, err = newClient(scanTimeout, c.Loopback, c.Masker, c.Log)
	return k, err
}

// Kick has the Watcher look at the settings anew.
func (k *Watcher) Kick() { k.wake.Raise() }

// Run asks the boxes until ctx ends, and returns when nothing is under way any more.
func (k *Watcher) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { k.scanByItself(ctx) })
	for ctx.Err() == nil {
		wait := lookEvery
		k.reconcile()
		if k.Config().Enabled {
			for _, p := range k.due(time.Now()) {
				running.Go(func() {
					k.poll(ctx, p)
					k.Kick()
				})
			}
			wait = min(wait, k.untilDue(time.Now()))
		}
		k.wake.Wait(ctx, wait)
	}
}

// due are the places whose look is due; they are taken.
func (k *Watcher) due(now time.Time) []*place {
	k.mu.Lock()
	defer k.mu.Unlock()
	var due []*place
	for _, p := range k.places {
		if !p.polling && !p.next.After(now) {
			p.polling = true
			due = append(due, p)
		}
	}
	return due
}

// untilDue is the time until the next look is due.
func (k *Watcher) untilDue(now time.Time) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	wait := lookEvery
	for _, p := range k.places {
		if !p.polling {
			wait = min(wait, p.next.Sub(now))
		}
	}
	return max(wait, 0)
}

// reconcile brings the places in line with the settings: those that are named are there,
// and of those that a scan found the ones that lie in a network that is still named and
// have answered not too long ago.
func (k *Watcher) reconcile() {
	c := k.Config()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.places {
		p.listed = false
	}
	for _, address := range c.Addresses {
		host, port, err := lan.ParseHost(address)
		if err != nil { // the settings hold what can be read
			continue
		}
		p := k.find(host, port)
		if p == nil {
			p = &place{host: host, port: port, anyPort: port == 0}
			k.places = append(k.places, p)
		}
		p.listed = true
	}
	k.places = slices.DeleteFunc(k.places, func(p *place) bool {
		return !p.listed && !p.polling && (!k.mayHold(c, p) || !p.offline.IsZero() && time.Since(p.offline) > forgetAfter)
	})
}

// find is the place at host and port; port 0 is the one that the settings name without.
func (k *Watcher) find(host string, port uint16) *place {
	for _, p := range k.places {
		if p.host == host && (p.port == port && port != 0 || port == 0 && p.anyPort) {
			return p
		}
	}
	return nil
}

// mayHold reports whether a scan may have found a place, or a look at a host that the
// settings name without a port.
func (k *Watcher) mayHold(c Config, p *place) bool {
	if slices.Contains(c.Addresses, p.host) {
		return true
	}
	addr, err := netip.ParseAddr(p.host)
	return err == nil && slices.ContainsFunc(c.Subnets, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// add is the place at host and port, made when there is none.
func (k *Watcher) add(host string, port uint16) *place {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.find(host, port)
	if p == nil {
		p = &place{host: host, port: port}
		k.places = append(k.places, p)
	}
	return p
}

// SyncAll starts a task that looks for boxes and asks each of them now. It returns ErrOff
// while the boxes are switched off, and ErrScanning while such a task runs.
func (k *Watcher) SyncAll(ctx context.Context) (*task.Task, error) {
	if !k.Config().Enabled {
		return nil, ErrOff
	}
	t, err := k.Tasks.Start(ctx, task.Spec{Kind: TaskKind, Alone: TaskKind}, k.syncAll)
	if errors.Is(err, task.ErrRunning) {
		return nil, ErrScanning
	}
	return t, err
}

// syncAll is the work of the task.
func (k *Watcher) syncAll(ctx context.Context, t *task.Task) error {
	defer k.Kick()
	k.reconcile()
	t.Progress(0, 0, scanningNow.With())
	if _, err := k.scan(ctx); err != nil && !errors.Is(err, ErrScanning) {
		return err
	}
	k.mu.Lock()
	places := slices.Clone(k.places)
	k.mu.Unlock()
	var asking sync.WaitGroup
	for _, p := range places {
		asking.Go(func() { k.poll(ctx, p) })
	}
	asking.Wait()
	status := k.Status()
	online := 0
	for _, d := range status.Devices {
		if d.Online {
			online++
		}
	}
	t.Progress(len(status.Devices), len(status.Devices), reason.Reason{})
	t.SetResult(struct {
		Devices int `json:"devices"`
		Online  int `json:"online"`
	}{len(status.Devices), online})
	return ctx.Err()
}
