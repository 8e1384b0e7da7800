package nas

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"watchmark/internal/db"
	"watchmark/internal/watch"
)

// lookEvery is how often the clock is looked at: somebody may set it.
const lookEvery = time.Minute

// The errors a caller branches on.
var (
	ErrOff     = errors.New("the NAS is switched off: set nas.enabled, or ask for a range to take what was watched before")
	ErrRunning = errors.New("the library of the NAS is being read already")
)

// Options are the settings of the source.
type Options struct {
	Enabled    bool
	Path       string // of the library's database
	User       string // a guid, or AllUsers
	MinPercent int    // share of its length, from which a play counts as watched
	Range      Range
	Limit      int // most rows that one scan takes
}

// Config is what a Keeper is made of; every field must be set.
type Config struct {
	DB *db.DB
	// Folder is the data folder, which exists: copies of the library are made there.
	Folder string
	// Options and Next are asked whenever they are needed, so that changed settings hold
	// at once. Next is when the schedule is due after a time.
	Options func() Options
	Next    func(after time.Time) time.Time
	// Take stores events in one transaction with what also writes, and returns the ids of their records.
	Take func(ctx context.Context, events []watch.Event, also func(ctx context.Context, tx *sql.Tx, ids []int64) error) ([]int64, error)
	Log  *slog.Logger
}

// Keeper reads the library by schedule and when it is asked to. It begins with what is
// watched after the source was switched on.
type Keeper struct {
	Config
	store store
	kick  chan struct{}
	began time.Time

	// scanning is held while the library is read, or the state changed.
	scanning sync.Mutex

	mu      sync.Mutex
	running bool
	told    string // the values of watched that were logged
}

// NewKeeper is a Keeper that reads nothing by itself until Run.
func NewKeeper(c Config) *Keeper {
	return &Keeper{Config: c, store: store{c.DB}, kick: make(chan struct{}, 1), began: time.Now()}
}

func (k *Keeper) place() place {
	return place{path: k.Options().Path, own: filepath.Join(k.Folder, db.FileName), temp: k.Folder}
}

// Kick has the Keeper look at the settings anew.
func (k *Keeper) Kick() {
	select {
	case k.kick <- struct{}{}:
	default:
	}
}

// Run works until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	k.clean()
	for {
		wait, err := k.round(ctx)
		if err != nil && ctx.Err() == nil {
			k.Log.Error("the state of the NAS cannot be read or written", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-k.kick:
		case <-time.After(wait):
		}
	}
}

// clean removes what a crash left of copies.
func (k *Keeper) clean() {
	left, err := filepath.Glob(filepath.Join(k.Folder, copyPattern))
	if err != nil {
		return // a folder whose name is a broken pattern keeps them, which harms nobody
	}
	for _, folder := range left {
		if err := os.RemoveAll(folder); err != nil {
			k.Log.Warn("a copy of the library of the NAS cannot be removed", "error", err)
		}
	}
}

// round brings the state to the settings, and reads the library when that is due. wait is
// how long nothing more is to be done.
func (k *Keeper) round(ctx context.Context) (wait time.Duration, err error) {
	if !k.scanning.TryLock() { // a person reads it, which may have changed what is due
		return time.Second, nil
	}
	defer k.scanning.Unlock()
	st, err := k.settle(ctx)
	if err != nil || st.since == 0 {
		return lookEvery, err
	}
	now := time.Now()
	due := k.due(st.last, now)
	if due.After(now) {
		return min(lookEvery, due.Sub(now)), nil
	}
	k.setRunning(true)
	defer k.setRunning(false)
	after, _, err := k.scan(ctx, st, k.plan(st, now), true)
	if err != nil {
		return lookEvery, k.failed(ctx, st, err)
	}
	k.succeeded(ctx, st.last, after.last)
	return 0, nil
}

// settle loads the state and changes it when the source was switched on or off, or to another
// user, since it was written: then what was watched before is old.
func (k *Keeper) settle(ctx context.Context) (state, error) {
	st, err := k.store.load(ctx)
	if err != nil {
		return st, err
	}
	options := k.Options()
	now := time.Now().UnixMilli()
	switch {
	case !options.Enabled && st.since != 0:
		st = state{last: st.last}
	case options.Enabled && st.since == 0:
		// What an earlier scan met is not what this one will.
		st = state{since: now, watermark: position{at: now}, rescanned: now, user: options.User}
	case options.Enabled && st.user != options.User:
		st.since, st.user = min(max(st.since, st.watermark.at), now), options.User
	default:
		return st, nil
	}
	return st, k.store.save(ctx, st)
}

// due is when the next scan begins by itself, after the one that was last.
func (k *Keeper) due(last Scan, now time.Time) time.Time {
	switch {
	case last.At.IsZero(), last.At.After(now), last.Path != k.Options().Path:
		return now // the first one, the clock was set back, or another library
	}
	return k.Next(last.At)
}

// failed keeps why a scan failed. The watermark stays.
func (k *Keeper) failed(ctx context.Context, st state, err error) error {
	select {
	case <-ctx.Done(): // the service stops, or nobody waits for the answer any more
		return nil
	default:
	}
	level := slog.LevelWarn
	if st.last.Error == err.Error() { // it was told when that began
		level = slog.LevelDebug
	}
	k.Log.Log(ctx, level, "the library of the NAS cannot be read", "error", err)
	before := st.last
	st.last = Scan{At: time.Now().UTC(), Path: k.Options().Path, Counts: Counts{Reasons: []Reason{}}, Error: err.Error(), Kind: kindOf(err), Values: before.Values, Missing: before.Missing}
	return k.store.save(ctx, st)
}

// succeeded tells what a scan brought.
func (k *Keeper) succeeded(ctx context.Context, before, now Scan) {
	switch {
	case before.Error != "":
		k.Log.InfoContext(ctx, "the library of the NAS can be read again", "handling", now.Handling, "read", now.Read, "taken", now.Taken)
	case now.Taken > 0:
		k.Log.InfoContext(ctx, "the library of the NAS was read", "handling", now.Handling, "read", now.Read, "taken", now.Taken, "skipped", now.Skipped)
	default:
		k.Log.DebugContext(ctx, "the library of the NAS was read", "handling", now.Handling, "read", now.Read, "skipped", now.Skipped)
	}
	odd := slices.DeleteFunc(slices.Clone(now.Values), func(value string) bool { return value == "0" || value == "1" || value == "NULL" })
	values := strings.Join(odd, ", ")
	k.mu.Lock()
	told := k.told == values
	k.told = values
	k.mu.Unlock()
	if !told && values != "" {
		k.Log.WarnContext(ctx, "the library of the NAS has unknown values in the column watched; only 1 counts as watched", "values", values)
	}
}

func (k *Keeper) setRunning(running bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running = running
}

// Sync reads the library now and takes what is new. It answers what was met and the ids of
// the records. It returns ErrOff while the source is switched off and m asks for no range,
// ErrRunning while another scan runs, and a *Problem when the library cannot be read.
func (k *Keeper) Sync(ctx context.Context, m Manual) (Counts, []int64, error) {
	if !k.scanning.TryLock() {
		return Counts{}, nil, ErrRunning
	}
	defer k.scanning.Unlock()
	k.setRunning(true)
	defer k.setRunning(false)
	st, err := k.settle(ctx)
	if err != nil {
		return Counts{}, nil, err
	}
	if st.since == 0 && m.Range == "" {
		return Counts{}, nil, ErrOff
	}
	now := time.Now()
	w := k.plan(st, now)
	if m.Range != "" {
		w.from = 0
		if start := m.Range.start(now); !start.IsZero() {
			w.from = start.UnixMilli()
		}
	}
	if m.User != "" {
		w.user = m.User
	}
	// The watermark stands for all rows up to it, so only a scan of all of them moves it.
	moves := m.Range == "" && w.user == filter(st.user)
	after, ids, err := k.scan(ctx, st, w, moves)
	if kind := kindOf(err); err != nil && kind != NoUser {
		return Counts{}, nil, errors.Join(err, k.failed(ctx, st, err))
	}
	if err != nil {
		return Counts{}, nil, err
	}
	k.succeeded(ctx, st.last, after.last)
	return after.last.Counts, ids, nil
}

// Users are the users of the library, by name. It returns a *Problem when the library cannot be read.
func (k *Keeper) Users(ctx context.Context) ([]User, error) {
	users := []User{}
	_, err := k.place().use(ctx, func(ctx context.Context, lib *library) error {
		return lib.look(ctx, func(v view) error {
			all, _, err := v.users(ctx)
			users = users[:0]
			for _, u := range all {
				users = append(users, u)
			}
			return err
		})
	})
	slices.SortFunc(users, func(a, b User) int { return strings.Compare(a.UserName+"\x00"+a.GUID, b.UserName+"\x00"+b.GUID) })
	return users, err
}
