// Package archive is the offline archive: a copy of the catalog's weekly dump
// (upstreams/archive.md) in a folder of its own, asked before the catalog.
//
// A dump becomes two files, which nobody changes any more: an SQLite database
// catalog_archive_<version>.db, and beside it the title index with the ending
// .titles. The file current.json names the pair in use. An import writes a new pair
// under temporary names, checks it, renames it, switches current.json, and deletes the
// old pair; whenever it is killed, the archive that current.json names is whole.
// Look-ups under way finish on the pair they began with.
//
// Imports of several processes on one folder exclude each other by a lock, and a running
// service takes up what the command line has imported.
package archive

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/archive/fetch"
	"watchmark/internal/watch"
)

const (
	prefix      = "catalog_archive_"
	databaseEnd = ".db"
	indexEnd    = ".titles"
	temporary   = prefix + "new.tmp" // the pair that is being written
	pointerName = "current.json"
	lockName    = "import.lock"
)

// versionForm is what a version may look like, which is a part of file names.
var versionForm = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.-]{0,63}$`)

// pointer is what current.json holds.
type pointer struct {
	Name string `json:"name"` // of the pair, without its endings
}

// Archive is the archive in a folder. It may be used by several goroutines.
type Archive struct {
	dir string
	log *slog.Logger

	current atomic.Pointer[file]
	closing sync.WaitGroup

	mu     sync.Mutex // guards what follows, and the switching
	name   string     // of the current pair
	stamp  time.Time  // when current.json was changed, as the file system tells
	broken error      // why the pair that current.json names cannot be used; nil when it can
	tried  time.Time  // when that was found out
	closed bool
}

// againAfter is when a pair that could not be used is tried again.
const againAfter = time.Minute

// New is the archive in dir, with nothing opened; Refresh opens what is there.
func New(dir string, log *slog.Logger) *Archive { return &Archive{dir: dir, log: log} }

// Dir is the folder.
func (a *Archive) Dir() string { return a.dir }

// Refresh opens the archive that current.json names, if that is another one than the
// one in use. It costs one look at the file system when nothing has changed. That there is
// no archive is no error; one that cannot be used is, and the one in use stays.
func (a *Archive) Refresh(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return errClosed
	}
	path := filepath.Join(a.dir, pointerName)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return lookFor.With(err)
	}
	if info.ModTime().Equal(a.stamp) && (a.broken == nil || time.Since(a.tried) < againAfter) {
		return a.broken
	}
	err = a.open(ctx)
	if ctx.Err() == nil {
		a.stamp, a.broken, a.tried = info.ModTime(), err, time.Now()
	}
	return err
}

// open reads current.json and switches to its pair. The caller holds mu.
func (a *Archive) open(ctx context.Context) error {
	name, err := a.pointed()
	if err != nil {
		return readPointer.With(err)
	}
	if name == a.name {
		return nil
	}
	base := filepath.Join(a.dir, name)
	next, err := openFile(ctx, base+databaseEnd, base+indexEnd)
	if err != nil {
		return importAgain.With(err)
	}
	a.name = name
	a.replace(next)
	return nil
}

// pointed is the pair that current.json names. The error of the system says that there is
// no such file.
func (a *Archive) pointed() (name string, err error) {
	text, err := os.ReadFile(filepath.Join(a.dir, pointerName))
	if err != nil {
		return "", err
	}
	var p pointer
	if json.Unmarshal(text, &p) != nil {
		return "", errNamesNothing
	}
	if version, ok := strings.CutPrefix(p.Name, prefix); !ok || !versionForm.MatchString(version) {
		return "", errNamesNothing
	}
	return p.Name, nil
}

// replace puts next in use; the old one is closed when its last look-up has ended, and
// then leftovers are removed.
func (a *Archive) replace(next *file) {
	old := a.current.Swap(next)
	if old == nil {
		return
	}
	a.closing.Go(func() {
		if err := old.close(); err != nil {
			a.log.Warn("cannot close the old archive", "error", err)
		}
		a.tidy() // an import that runs removes the pair itself
	})
}

// Close ends the use of the archive; look-ups fail from then on.
func (a *Archive) Close() error {
	a.mu.Lock()
	a.closed = true
	old := a.current.Swap(nil)
	a.mu.Unlock()
	a.closing.Wait()
	if old == nil {
		return nil
	}
	return old.close()
}

// Clean removes what a crash left in the folder: half-written pairs, pairs that are not
// current, uploads, the download of the dump in use. It is for the start of the service, and does nothing while an import runs.
func (a *Archive) Clean() { a.tidy(uploadPrefix, fetchedPrefix) }

// tidy removes leftovers, the download of the dump in use, which an import that was killed at its end left, and the files
// whose names begin with one of the prefixes. It does nothing while an import runs, or while there is no folder.
func (a *Archive) tidy(prefixes ...string) {
	unlock, err := a.lock()
	if err != nil {
		return
	}
	a.removeLeftovers()
	if info, ok := a.Info(); ok {
		if err := fetch.Remove(fetch.Path(a.dir, info.Version)); err != nil {
			a.log.Warn("cannot remove the download of the archive in use", "error", err)
		}
	}
	for _, prefix := range prefixes {
		a.removeAll(prefix)
	}
	_ = unlock() // the lock ends with the file at the latest
}

// removeLeftovers removes every pair but the current one. The caller holds the lock.
func (a *Archive) removeLeftovers() {
	// Where nothing is named, what is there cannot be told apart from leftovers.
	current, err := a.pointed()
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNamesNothing) {
		return
	}
	entries, err := os.ReadDir(a.dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, prefix) && name != current+databaseEnd && name != current+indexEnd || name == pointerName+".tmp" {
			a.remove(filepath.Join(a.dir, name))
		}
	}
}

// removeAll removes the files whose names begin with a prefix.
func (a *Archive) removeAll(prefix string) {
	paths, _ := filepath.Glob(filepath.Join(a.dir, prefix+"*")) // the pattern is right
	for _, path := range paths {
		a.remove(path)
	}
}

func (a *Archive) remove(path string) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.log.Warn("cannot remove an old file of the archive; the next import tries again", "file", filepath.Base(path), "error", err)
	}
}

// use gives the archive in use until release is called.
func (a *Archive) use() (f *file, release func(), err error) {
	for {
		f := a.current.Load()
		if f == nil {
			return nil, nil, ErrNone
		}
		f.using.RLock()
		if !f.closed {
			return f, f.using.RUnlock, nil
		}
		f.using.RUnlock() // it was replaced in between
	}
}

// Ready reports whether there is an archive to look into.
func (a *Archive) Ready() bool { return a.current.Load() != nil }

// Info says which archive is in use; ok is false while there is none.
func (a *Archive) Info() (info Info, ok bool) {
	f := a.current.Load()
	if f == nil {
		return Info{}, false
	}
	return f.info, true
}

// Made is when the dump of the archive was published, or when it was imported where that is
// not known; zero while there is no archive.
func (a *Archive) Made() time.Time {
	info, ok := a.Info()
	if !ok {
		return time.Time{}
	}
	if published, err := time.Parse(fetch.VersionLayout, info.Version); err == nil {
		return published
	}
	return info.ImportedAt
}

// Size is how many bytes the archive in use takes on the disk, its index included.
func (a *Archive) Size() int64 {
	a.mu.Lock()
	name := a.name
	a.mu.Unlock()
	if name == "" {
		return 0
	}
	var sum int64
	for _, end := range []string{databaseEnd, indexEnd} {
		if info, err := os.Stat(filepath.Join(a.dir, name+end)); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// Find answers the subjects of a title, the likeliest first: equal titles, then those that begin
// with it and, when none is equal, those that are similar. Like all look-ups it returns ErrNone while
// there is no archive.
func (a *Archive) Find(ctx context.Context, q Query) ([]Found, error) {
	return look(ctx, a, func(ctx context.Context, f *file) ([]Found, error) { return f.find(ctx, q) })
}

// Search is Find in the words of the catalog's search; a subject that is not alike at
// all is not answered.
func (a *Archive) Search(ctx context.Context, q catalog.SearchQuery) ([]catalog.Subject, error) {
	found, err := a.Find(ctx, Query{Text: q.Keyword, Types: q.Types, From: q.From, To: q.To, Limit: q.Limit})
	if err != nil {
		return nil, err
	}
	subjects := make([]catalog.Subject, 0, len(found))
	for _, hit := range found {
		subjects = append(subjects, hit.Subject)
	}
	return subjects, nil
}

// Subject is a subject by its id, or catalog.ErrNotFound: a merged subject is not
// there under its old id, so the catalog is to be asked before an id is called wrong.
func (a *Archive) Subject(ctx context.Context, id catalog.SubjectID) (catalog.Subject, error) {
	s, err := look(ctx, a, func(ctx context.Context, f *file) (stored, error) { return f.subject(ctx, id) })
	return s.Subject, err
}

// Relations is the neighbours of a subject among anime and live action, or catalog.ErrNotFound.
func (a *Archive) Relations(ctx context.Context, id catalog.SubjectID) ([]catalog.Relation, error) {
	return look(ctx, a, func(ctx context.Context, f *file) ([]catalog.Relation, error) { return f.relations(ctx, id) })
}

// Chain is the subjects that prequels and sequels lead to from one, itself among them,
// by date; at most some sixty. It returns catalog.ErrNotFound as Subject does.
func (a *Archive) Chain(ctx context.Context, id catalog.SubjectID) ([]catalog.Subject, error) {
	return look(ctx, a, func(ctx context.Context, f *file) ([]catalog.Subject, error) { return f.chain(ctx, id) })
}

// Episodes is all chapters of a subject, in the catalog's order, or catalog.ErrNotFound.
func (a *Archive) Episodes(ctx context.Context, id catalog.SubjectID) ([]catalog.EpisodeInfo, error) {
	return look(ctx, a, func(ctx context.Context, f *file) ([]catalog.EpisodeInfo, error) { return f.episodes(ctx, id) })
}

// Episode is a chapter by its id, or catalog.ErrNotFound.
func (a *Archive) Episode(ctx context.Context, id catalog.EpisodeID) (catalog.EpisodeInfo, error) {
	return look(ctx, a, func(ctx context.Context, f *file) (catalog.EpisodeInfo, error) {
		subject, err := f.owner(ctx, id)
		if err != nil {
			return catalog.EpisodeInfo{}, err
		}
		list, err := f.episodes(ctx, subject)
		if err != nil {
			return catalog.EpisodeInfo{}, err
		}
		i := slices.IndexFunc(list, func(e catalog.EpisodeInfo) bool { return e.ID == id })
		if i < 0 {
			return catalog.EpisodeInfo{}, errPacked
		}
		return list[i], nil
	})
}

// OnAir is the subjects of which an episode airs from one day to another, both inclusive and
// both full dates, at most a year apart, each once.
func (a *Archive) OnAir(ctx context.Context, from, to watch.Date) ([]catalog.Subject, error) {
	if err := checkDays(from, to); err != nil {
		return nil, err
	}
	return look(ctx, a, func(ctx context.Context, f *file) ([]catalog.Subject, error) { return f.onAir(ctx, from, to) })
}

// Airing is the episodes that air from one day to another, both inclusive and both
// full dates, at most a year apart, the earliest first; of some subjects alone where of is not nil.
func (a *Archive) Airing(ctx context.Context, from, to watch.Date, of func(catalog.SubjectID) bool) ([]Airing, error) {
	if err := checkDays(from, to); err != nil {
		return nil, err
	}
	return look(ctx, a, func(ctx context.Context, f *file) ([]Airing, error) { return f.airing(ctx, from, to, of) })
}

func checkDays(from, to watch.Date) error {
	if days, ok := to.DaysFrom(from); !ok || days < 0 || days > 366 {
		return badDays.With(from, to)
	}
	return nil
}

// look asks the archive in use. A query is not interrupted when ctx ends: the driver would
// close its connection, and the file may be deleted by then.
func look[T any](ctx context.Context, a *Archive, ask func(context.Context, *file) (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	f, release, err := a.use()
	if err != nil {
		return none, err
	}
	defer release()
	return ask(context.WithoutCancel(ctx), f)
}
