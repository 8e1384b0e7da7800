package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sync/errgroup"

	"watchmark/internal/catalog/archive/dump"
	"watchmark/internal/catalog/archive/fetch"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
)

// How the names of dumps begin that somebody uploads, and that a command fetches from an
// address; those of updates belong to package fetch.
const (
	uploadPrefix  = "upload-"
	fetchedPrefix = "fetched-"
)

// ErrNoSpace is wrapped by errors that say the disk has too little room.
var ErrNoSpace = fetch.ErrNoSpace

// The least shares of the archive in use that a dump may have: of its zip's bytes, and of each of its counts.
const (
	leastBytes = 0.7
	leastRows  = 0.9
)

// Dump is a dump to import.
type Dump struct {
	Data io.ReaderAt
	Size int64 // bytes
	// Version names a published dump; empty takes the beginning of the digest.
	Version string
	// Digest is the SHA-256 in hex; empty has it computed.
	Digest string
	// AllowSmaller imports it even if it holds much less than the archive in use.
	AllowSmaller bool
}

// Progress is how far an import is.
type Progress struct {
	Phase Phase `json:"phase" enum:"download,read,index,write"`
	// Done of Total bytes; both 0 in the phases that count none.
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
}

// Import makes a dump the archive in use. report, which is called by one goroutine at a time, is told of
// each phase and now and then how far it is. Whatever goes wrong, the archive in use
// stays and nothing is left behind. Errors: ErrBusy, ErrSmaller, *dump.Error, or what
// the disk says.
func (a *Archive) Import(ctx context.Context, d Dump, report func(Progress)) (info Info, err error) {
	unlock, err := a.hold()
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return a.importHeld(ctx, d, report)
}

// importHeld is Import for a caller that holds the folder.
func (a *Archive) importHeld(ctx context.Context, d Dump, report func(Progress)) (info Info, err error) {
	if err := a.Refresh(ctx); err != nil {
		a.log.WarnContext(ctx, "the archive in use cannot be compared with", "error", err)
	}
	a.removeLeftovers()
	defer func() {
		a.closing.Wait() // the old pair can go when nobody looks into it any more
		a.removeLeftovers()
	}()
	last, compare := a.Info()
	compare = compare && !d.AllowSmaller
	opened, err := dump.Open(d.Data, d.Size)
	if err != nil {
		return info, err
	}
	if compare && float64(d.Size) < leastBytes*float64(last.DumpSize) {
		return info, smallerBytes.With(ErrSmaller, d.Size, last.DumpSize)
	}
	if info, err = a.write(ctx, opened, d, report); err != nil {
		return info, err
	}
	switch {
	case info.Subjects == 0 || info.Episodes == 0:
		return info, &dump.Error{What: holdsNothing.With()}
	case compare:
		for _, c := range []struct {
			fewer       *reason.Kind
			now, before int64
		}{{fewerSubjects, info.Subjects, last.Subjects}, {fewerEpisodes, info.Episodes, last.Episodes}, {fewerRelations, info.Relations, last.Relations}} {
			if float64(c.now) < leastRows*float64(c.before) {
				return info, c.fewer.With(ErrSmaller, c.now, c.before)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return info, err
	}
	return info, a.adopt(context.WithoutCancel(ctx), info.Version)
}

// hold makes the folder and keeps other imports out of it. It returns ErrBusy while there is one.
func (a *Archive) hold() (release func() error, err error) {
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return nil, makeFolderElse.With(err)
	}
	return a.lock()
}

func (a *Archive) lock() (unlock func() error, err error) {
	lock := flock.New(filepath.Join(a.dir, lockName), flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err != nil {
		return nil, locking.With(err)
	}
	if !held {
		return nil, ErrBusy
	}
	return lock.Unlock, nil
}

// write builds the temporary pair, and computes the digest meanwhile.
func (a *Archive) write(ctx context.Context, opened *dump.Dump, d Dump, report func(Progress)) (Info, error) {
	info := Info{Version: d.Version, Digest: d.Digest, DumpSize: d.Size, ImportedAt: time.Now().UTC().Truncate(time.Second)}
	var hashing errgroup.Group
	if d.Digest == "" {
		hashing.Go(func() (err error) {
			info.Digest, err = digestOf(ctx, io.NewSectionReader(d.Data, 0, d.Size))
			return err
		})
	}
	reports := newReporter(report, opened.Size())
	base := filepath.Join(a.dir, temporary)
	err := build(ctx, opened, base+databaseEnd, base+indexEnd, func(counts Counts) (map[string]string, error) {
		if err := hashing.Wait(); err != nil {
			return nil, readDump.With(err)
		}
		info.Counts = counts
		if info.Version == "" {
			info.Version = "sha256-" + info.Digest[:12]
		}
		text, err := json.Marshal(info)
		return map[string]string{metaFormat: fmt.Sprint(format), metaInfo: string(text)}, err
	}, &reports.read, reports.phase)
	reports.stop()
	return info, errors.Join(err, hashing.Wait())
}

func digestOf(ctx context.Context, r io.Reader) (string, error) {
	sum := sha256.New()
	buf := make([]byte, 1<<20)
	for {
		n, err := r.Read(buf)
		sum.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			return hex.EncodeToString(sum.Sum(nil)), nil
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return "", err
		}
	}
}

// adopt gives the temporary pair its name, makes it current, and switches to it.
func (a *Archive) adopt(ctx context.Context, version string) error {
	name := prefix + version
	for n := 2; a.taken(name); n++ { // the same version once more
		name = fmt.Sprintf("%s%s-%d", prefix, version, n)
	}
	for _, end := range []string{indexEnd, databaseEnd} {
		if err := db.Settle(filepath.Join(a.dir, temporary+end), filepath.Join(a.dir, name+end)); err != nil {
			return naming.With(err)
		}
	}
	// Nothing is switched to that cannot be opened.
	base := filepath.Join(a.dir, name)
	next, err := openFile(ctx, base+databaseEnd, base+indexEnd)
	if err != nil {
		return lookingInto.With(err)
	}
	if err := a.point(name); err != nil {
		return errors.Join(switching.With(err), next.close())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return next.close()
	}
	a.name, a.broken = name, nil
	if info, err := os.Stat(filepath.Join(a.dir, pointerName)); err == nil {
		a.stamp = info.ModTime()
	}
	a.replace(next)
	return nil
}

func (a *Archive) taken(name string) bool {
	_, err := os.Stat(filepath.Join(a.dir, name+databaseEnd))
	return err == nil
}

// point writes current.json so that it is whole at any moment.
func (a *Archive) point(name string) error {
	text, err := json.Marshal(pointer{Name: name})
	if err != nil {
		return err
	}
	path := filepath.Join(a.dir, pointerName)
	if err := os.WriteFile(path+".tmp", text, 0o600); err != nil {
		return err
	}
	return db.Settle(path+".tmp", path)
}

// reporter tells the progress of an import a few times a second.
type reporter struct {
	read  dump.Progress
	total int64
	tell  func(Progress)
	to    chan Phase
	done  chan struct{}
}

const reportEvery = 200 * time.Millisecond

func newReporter(tell func(Progress), total int64) *reporter {
	r := &reporter{total: total, tell: tell, to: make(chan Phase), done: make(chan struct{})}
	go r.run()
	return r
}

func (r *reporter) run() {
	defer close(r.done)
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	phase := Reading
	for {
		select {
		case next, more := <-r.to:
			if !more {
				return
			}
			phase = next
		case <-tick.C:
		}
		r.tell(Progress{Phase: phase, Done: r.read.Bytes(), Total: r.total})
	}
}

func (r *reporter) phase(p Phase) { r.to <- p }

func (r *reporter) stop() {
	close(r.to)
	<-r.done
}
