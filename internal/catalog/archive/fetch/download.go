package fetch

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
	"watchmark/internal/platform/reason"
)

const (
	// maxCuts is how often one source is asked for the rest after it broke off.
	maxCuts = 8
	// The pause before that doubles from firstPause to lastPause.
	firstPause = 250 * time.Millisecond
	lastPause  = 10 * time.Second
)

// Download brings the dump r into cfg.Dir and answers its path: a file of r.Size bytes
// and, where r has a digest, with that digest. It is the caller's until Remove; without
// that, another Download of r answers it again. What an earlier Download of r left behind
// is gone on with; files of other versions are deleted. The sources are tried in turn.
//
// progress is called from the same goroutine with bytes; done may fall when the file has to
// be begun anew. ctx bounds the whole transfer: its end is the error at
// once, and what has come stays. Other errors say for each source why it failed, or what
// the disk refused, which wraps ErrNoSpace when it is full. Only one Download may use a
// folder at a time.
func Download(ctx context.Context, cfg Config, r Release, progress func(done, total int64)) (path string, err error) {
	if err := r.check(cfg.MaxSize); err != nil {
		return "", downloadADump.With(err)
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return "", makeFolder.With(err)
	}
	path = Path(cfg.Dir, r.Version)
	removeOthers(cfg, filepath.Base(path))
	p, err := openPart(ctx, path, r, progress)
	if err != nil {
		return "", downloadVersion.With(r.Version, err)
	}
	d := &download{cfg: cfg, release: r, part: p}
	if err := errors.Join(d.run(ctx), p.close()); err != nil {
		return "", downloadVersion.With(r.Version, err)
	}
	return path, nil
}

// Path is where Download brings the dump of a version below dir.
func Path(dir, version string) string { return filepath.Join(dir, filePrefix+version+fileSuffix) }

// Remove deletes a file that Download answered, and what is kept beside it. That it is
// gone already is no error.
func Remove(path string) error {
	if err := errors.Join(removeFile(path), removeFile(path+noteSuffix)); err != nil {
		return removeDump.With(err)
	}
	return nil
}

// removeOthers deletes what downloads of other versions left; file is the name that stays.
func removeOthers(cfg Config, file string) {
	entries, err := os.ReadDir(cfg.Dir)
	if err != nil {
		cfg.Log.Warn("old downloads of dumps cannot be listed", "error", err)
		return
	}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || !strings.HasPrefix(name, filePrefix) || name == file || name == file+noteSuffix {
			continue
		}
		if err := os.Remove(filepath.Join(cfg.Dir, name)); err != nil {
			cfg.Log.Warn("an old download of a dump cannot be deleted", "error", err)
		}
	}
}

// download is one call of Download.
type download struct {
	cfg     Config
	release Release
	part    *part
	// inherited: some of the part came before the present source was asked.
	inherited bool
}

// run asks the sources in turn until the part is whole.
func (d *download) run(ctx context.Context) error {
	if d.part.size == d.release.Size {
		if d.part.verify(d.release.Digest) == nil {
			return nil
		}
		if err := d.part.restart(note{}); err != nil {
			return err
		}
	}
	var reasons []error
	for _, s := range d.cfg.sources(d.release.URL) {
		err := d.from(ctx, s.address)
		if err == nil {
			d.cfg.passed("the dump "+d.release.Version, reasons)
			return nil
		}
		if ended := ctx.Err(); ended != nil {
			return ended
		}
		var disk *diskError
		if errors.As(err, &disk) {
			return err
		}
		reasons = append(reasons, reason.Because.With(s.name, err))
	}
	return allOf(reasons)
}

// from makes the part whole from one address. It asks for the rest again after a cut as
// long as that brings more. A part that is proved wrong is emptied.
func (d *download) from(ctx context.Context, address string) error {
	d.inherited = d.part.size > 0
	whole, reached := false, d.part.size
	for cuts := 0; ; {
		err := d.transfer(ctx, address, whole)
		if err == nil {
			err = d.part.verify(d.release.Digest)
		}
		var disk *diskError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil, errors.As(err, &disk):
			return err
		case errors.Is(err, errRange) && !whole:
			whole = true
		case errors.Is(err, errWrong):
			inherited := d.inherited
			if err := d.part.restart(note{}); err != nil {
				return err
			}
			if !inherited {
				return err
			}
			// What came before may be what is wrong: this source deserves a try of its own.
			d.inherited, reached = false, 0
		case errors.Is(err, errCut) && d.part.size > reached && cuts < maxCuts:
			reached = d.part.size
			d.cfg.Log.Info("the download of a dump broke off and goes on", "version", d.release.Version,
				"bytes", d.part.size, "of", d.release.Size, "error", err)
			if err := pause(ctx, cuts); err != nil {
				return err
			}
			cuts++
		default:
			return err
		}
	}
}

// pause waits before the source is asked again after so many cuts.
func pause(ctx context.Context, cuts int) error {
	wait := min(firstPause<<cuts, lastPause)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait/2 + rand.N(wait/2)):
		return nil
	}
}
