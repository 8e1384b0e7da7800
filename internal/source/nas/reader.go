package nas

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/watch"
)

// ScanJob is the name of the job that reads the library.
const ScanJob = "nas_scan"

// Options are the settings of the source.
type Options struct {
	Enabled    bool
	Path       string // of the library's database
	User       string // a guid, or AllUsers
	MinPercent int    // share of its length, from which a play counts as watched
	Range      Range
	Limit      int // most rows that one scan takes
}

// Config is what a Reader is made of; every field must be set.
type Config struct {
	DB *db.DB
	// Folder is the data folder, which exists: copies of the library are made there.
	Folder string
	// Schedule has the Job, which the caller adds.
	Schedule *schedule.Registry
	// Options and Plan are asked whenever they are needed, so that changed settings hold at once.
	Options func() Options
	Plan    func() schedule.Plan
	// Take stores events in one transaction with what also writes, and returns the ids of their records.
	Take func(ctx context.Context, events []watch.Event, also func(ctx context.Context, tx *sql.Tx, ids []int64) error) ([]int64, error)
	Log  *slog.Logger
}

// Reader reads the library by schedule and when it is asked to. It begins with what is
// watched after the source was switched on.
type Reader struct {
	Config
	store store

	// scanning is held during a scan, or while the state is changed.
	scanning sync.Mutex
	// reading has room for one, who has files of the library open: when a process closes a
	// file, it loses the locks on it that its other readers hold.
	reading chan struct{}

	mu   sync.Mutex
	told string // the values of watched that were logged
}

// NewReader is a Reader; its Job reads the library by schedule.
func NewReader(c Config) *Reader {
	return &Reader{Config: c, store: store{c.DB}, reading: make(chan struct{}, 1)}
}

// Job reads the library by schedule, and at once when the source was switched on or got another library.
func (k *Reader) Job() schedule.Job {
	return schedule.Job{
		Name: ScanJob, Quiet: true, Busy: ErrRunning, Look: k.followSettings,
		Plan: func() schedule.Plan {
			if !k.Options().Enabled {
				return schedule.Plan{}
			}
			return k.Plan()
		},
		Ready: func(context.Context) error {
			if !k.Options().Enabled {
				return ErrOff
			}
			return nil
		},
		Run: func(ctx context.Context, _ *schedule.Run) error {
			_, _, err := k.scanNow(ctx, Manual{})
			return unread(err)
		},
	}
}

// read opens the library at path for with, when nobody else has it open. Opening and reading
// take longestReading at most. Errors are those of place.use, and those of ctx.
func (k *Reader) read(ctx context.Context, path string, with func(ctx context.Context, lib *library) error) (handling Handling, err error) {
	bounded, cancel := context.WithTimeout(ctx, longestReading)
	defer cancel()
	select {
	case k.reading <- struct{}{}:
		defer func() { <-k.reading }()
		handling, err = place{path: path, own: filepath.Join(k.Folder, db.FileName), temp: k.Folder}.use(bounded, with)
	case <-bounded.Done():
		err = bounded.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = problem(Busy, err, tookTooLong.With(path, longestReading))
	}
	return handling, err
}

// Clean removes what a crash left of copies.
func (k *Reader) Clean() {
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

// followSettings brings the state to the settings. The library is to be read now when it was not yet, or after now, or when it is
// another one.
func (k *Reader) followSettings(ctx context.Context) (due bool, err error) {
	if !k.scanning.TryLock() { // it is being read, which brings the state to the settings too
		return false, nil
	}
	defer k.scanning.Unlock()
	options := k.Options()
	st, err := k.settle(ctx, options)
	last := st.last
	return err == nil && st.since != 0 && (last.At.IsZero() || last.At.After(time.Now()) || last.Path != options.Path), err
}

// settle loads the state and changes it when the source was switched on or off, or to another
// user, since it was written: then what was watched before is old.
func (k *Reader) settle(ctx context.Context, options Options) (state, error) {
	st, err := k.store.load(ctx)
	if err != nil {
		return st, err
	}
	now := time.Now().UnixMilli()
	switch {
	case !options.Enabled && st.since != 0:
		st = state{last: st.last}
	case options.Enabled && (st.since == 0 || st.since > now): // or the clock was wrong when it was switched on
		// What an earlier scan met is not what this one will.
		st = state{since: now, watermark: now, rescanned: now, user: options.User}
	case options.Enabled && st.user != options.User:
		if st.user != AllUsers { // somebody is read whose plays were left out until now
			st.since = min(max(st.since, st.watermark, st.caughtUp), now)
		}
		st.user = options.User
	default:
		return st, nil
	}
	return st, k.store.save(ctx, st)
}

// failed keeps why a scan of path failed. The watermark stays.
func (k *Reader) failed(ctx context.Context, path string, st state, err error) error {
	if ctx.Err() != nil { // the service stops, or nobody waits for the answer any more
		return nil //nolint:nilerr // see above
	}
	before := st.last
	st.last = Scan{At: time.Now().UTC(), Path: path, Counts: Counts{Reasons: []Reason{}}, Error: reason.Of(err), Kind: kindOf(err), Values: before.Values, Missing: before.Missing}
	return k.store.save(ctx, st)
}

// succeeded tells what a scan brought.
func (k *Reader) succeeded(ctx context.Context, before, now Scan) {
	switch {
	case !before.Error.IsZero():
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

// Sync reads the library now and takes what is new. It answers what was met and the ids of
// the records. It returns ErrOff while the source is switched off and m asks for no range,
// ErrRunning while another scan runs, ErrNoUser when the library does not know the user of m,
// and a *Problem when it cannot be read.
func (k *Reader) Sync(ctx context.Context, m Manual) (counts Counts, ids []int64, err error) {
	var problem error
	err = k.Schedule.Do(ctx, ScanJob, func(ctx context.Context) error {
		counts, ids, problem = k.scanNow(ctx, m)
		return unread(problem)
	})
	if problem != nil {
		err = problem
	}
	return counts, ids, err
}

// unread is why a scan failed, for the log.
func unread(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the library of the NAS cannot be read: %w", err)
}

// scanNow is Sync for a caller who has the job.
func (k *Reader) scanNow(ctx context.Context, m Manual) (Counts, []int64, error) {
	k.scanning.Lock()
	defer k.scanning.Unlock()
	options := k.Options()
	st, err := k.settle(ctx, options)
	if err != nil {
		return Counts{}, nil, err
	}
	if st.since == 0 && m.Range == "" {
		return Counts{}, nil, ErrOff
	}
	now := time.Now()
	w := plan(options, st, now)
	// The watermark stands for all rows up to it, so only a scan of all of them moves it.
	w.moves = m.Range == "" && (m.User == "" || m.User == w.user)
	if m.Range != "" {
		w.from = 0
		if start := m.Range.start(now); !start.IsZero() {
			w.from = start.UnixMilli()
		}
	}
	if m.User != "" {
		w.user = m.User
	}
	after, ids, err := k.scan(ctx, options, st, w)
	switch {
	case err != nil && m.User != "" && kindOf(err) == NoUser:
		return Counts{}, nil, ErrNoUser // nothing is wrong with the library
	case err != nil:
		return Counts{}, nil, errors.Join(err, k.failed(ctx, options.Path, st, err))
	}
	k.succeeded(ctx, st.last, after.last)
	return after.last.Counts, ids, nil
}

// Users are the users of the library, by name. It returns a *Problem when the library cannot be read.
func (k *Reader) Users(ctx context.Context) ([]User, error) {
	users := []User{}
	_, err := k.read(ctx, k.Options().Path, func(ctx context.Context, lib *library) error {
		return lib.inTx(ctx, func(v view) error {
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
