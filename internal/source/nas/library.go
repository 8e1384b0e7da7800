package nas

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"watchmark/internal/platform/db"
)

const (
	// tries is how often a library that changes under the reader is read anew.
	tries = 3
	// largestCopy bounds what is copied aside, in bytes; libraries have hundreds of megabytes at most.
	largestCopy = 8 << 30
	// copyPattern is that of the folders of copies, for os.MkdirTemp.
	copyPattern = "nas-copy-*"
)

// library is an open library, or a copy of it.
type library struct {
	*sql.DB
	schema   schema
	handling Handling
	path     string
	before   fileState
	copied   string // the folder of the copy; empty without one
}

// use opens the library, as the table in upstreams/nas.md, section 7, says, and calls read with
// it. When the files turn out to have changed in a way that the reading cannot be believed, read
// is called again, on the library as it is then. Errors are *Problem, or those of ctx.
func (p place) use(ctx context.Context, read func(ctx context.Context, lib *library) error) (Handling, error) {
	var handling Handling
	var err error
	aside := false
	for try := 1; try <= tries; try++ {
		handling, err = p.once(ctx, aside, read)
		var known *Problem
		switch {
		case err == nil, errors.As(err, &known):
			return handling, err
		case ctx.Err() != nil:
			return handling, ctx.Err()
		case !errors.Is(err, errMoved) && !errors.Is(err, db.ErrForeignUnopened) && !errors.Is(err, db.ErrForeignDamaged):
			return handling, p.explain(err)
		}
		// In place it cannot be opened, or its pages do not fit together; a library that was
		// only changed meanwhile is read in place again, but not the last time.
		aside = !errors.Is(err, errMoved) || try == tries-1
	}
	return handling, p.explain(err)
}

// errMoved says that the files changed while they were read without a lock.
var errMoved = errors.New("the library was changed while it was read")

// once opens and reads the library one time.
func (p place) once(ctx context.Context, aside bool, read func(ctx context.Context, lib *library) error) (Handling, error) {
	lib, err := p.open(ctx, aside)
	if err != nil {
		return "", err
	}
	err = lib.probe(ctx)
	if err == nil {
		err = read(ctx, lib)
	}
	err = errors.Join(err, lib.close())
	// What was read from changing files means nothing, and neither does how it failed.
	if moved := lib.moved(); moved != nil {
		return lib.handling, moved
	}
	return lib.handling, err
}

// open opens the library in place or, when it must be or aside is set, a copy.
func (p place) open(ctx context.Context, aside bool) (*library, error) {
	path, err := p.find()
	if err != nil {
		return nil, err
	}
	before, err := stateOf(path)
	if err != nil {
		return nil, err
	}
	lib := &library{path: path, before: before, handling: before.handling()}
	if aside {
		lib.handling = Copied
	}
	if lib.handling != Copied {
		lib.DB = db.OpenForeign(path, lib.handling == Quiet)
		return lib, nil
	}
	if lib.copied, err = copyAside(ctx, path, p.temp); err != nil {
		return nil, err
	}
	lib.DB = db.OpenCopied(filepath.Join(lib.copied, filepath.Base(path)))
	var verdict string
	err = lib.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict)
	if err == nil && verdict != "ok" {
		err = fmt.Errorf("%w (%s)", db.ErrForeignDamaged, verdict)
	}
	if err != nil {
		return nil, errors.Join(err, lib.close())
	}
	return lib, nil
}

// close closes the library and removes its copy.
func (l *library) close() error {
	err := l.Close()
	if l.copied != "" {
		err = errors.Join(err, os.RemoveAll(l.copied))
	}
	return err
}

// moved reports whether what was read cannot be believed. A copy was checked when it was made.
func (l *library) moved() error {
	if l.handling == Copied {
		return nil
	}
	after, err := stateOf(l.path)
	switch {
	case err != nil:
		return err
	case l.handling == Live && l.before.sameFile(after), l.before.untouched(after):
		return nil
	}
	return errMoved
}

// explain says what an error of reading the library means, after the last try.
func (p place) explain(err error) error {
	switch {
	case errors.Is(err, errMoved):
		return problem(Busy, err, keepsChanging.With(p.path))
	case errors.Is(err, db.ErrForeignBusy):
		return problem(Busy, err, locked.With(p.path))
	case errors.Is(err, db.ErrForeignUnopened):
		return problem(Denied, err, notOpened.With(p.path, os.Getuid()))
	case errors.Is(err, db.ErrForeignDamaged):
		return problem(Damaged, err, isDamaged.With(p.path))
	}
	return problem(Failed, err, readFailed.With(p.path, err))
}

// copyAside copies a library with its journals into a new folder in temp, which it
// returns. Files that change meanwhile are copied again.
func copyAside(ctx context.Context, path, temp string) (folder string, err error) {
	folder, err = os.MkdirTemp(temp, copyPattern)
	if err != nil {
		return "", problem(Failed, err, noRoomForCopy.With(path, err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(folder))
		}
	}()
	for range tries {
		before, err := stateOf(path)
		if err != nil {
			return "", err
		}
		if before.file.size()+before.log.size()+before.journal.size() > largestCopy {
			return "", problem(Unusable, nil, tooLarge.With(path))
		}
		to := filepath.Join(folder, filepath.Base(path))
		for _, f := range []struct {
			suffix string
			part   part
		}{{"", before.file}, {logSuffix, before.log}, {journalSuffix, before.journal}} {
			if err := copyFile(ctx, path+f.suffix, to+f.suffix, f.part.size()); err != nil {
				return "", err
			}
		}
		after, err := stateOf(path)
		if err != nil {
			return "", err
		}
		if before.untouched(after) {
			return folder, nil
		}
	}
	return "", problem(Busy, errMoved, copyKeepsChanging.With(path))
}

// copyFile copies the first bytes of a file, or removes an older copy when there are none. It
// returns errMoved for a file that has gone since it was looked at, as a log does when the app stops.
func copyFile(ctx context.Context, from, to string, size int64) error {
	if size == 0 {
		return os.RemoveAll(to)
	}
	source, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved
	}
	if err != nil {
		return explained(from, err)
	}
	defer func() { _ = source.Close() }() // opened for reading: nothing can be lost
	target, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return problem(Failed, err, copyFailed.With(from, err))
	}
	_, err = io.Copy(target, io.LimitReader(untilDone{ctx, source}, size))
	if err = errors.Join(err, target.Close()); err != nil {
		return problem(Failed, err, copyFailed.With(from, err))
	}
	return nil
}

// untilDone is a reader that fails when its context has ended.
type untilDone struct {
	ctx context.Context
	io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
