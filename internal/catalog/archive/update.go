package archive

import (
	"context"
	"errors"
	"os"
	"strings"

	"watchmark/internal/catalog/archive/dump"
	"watchmark/internal/catalog/archive/fetch"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
)

// MaxDump is the largest zip that is taken, in bytes; real ones have 0.45 GB.
const MaxDump = 2 << 30

// Update starts the import of the newest dump, even if it is the one in use when force
// is set. While an import runs, that one's task is answered; ErrBusy while it is of another process.
func (k *Importer) Update(ctx context.Context, force bool) (*task.Task, error) {
	t, err := k.Schedule.StartWith(ctx, TaskKind, TaskKind, k.run(k.newest(force)))
	switch {
	case !errors.Is(err, schedule.ErrRunning):
		return t, err
	case t != nil:
		return t, nil
	}
	return nil, ErrBusy
}

// newest is the import of the newest dump.
func (k *Importer) newest(force bool) func(ctx context.Context, tell func(Progress)) (Outcome, error) {
	return func(ctx context.Context, tell func(Progress)) (Outcome, error) {
		return k.update(ctx, tell, k.source(), wish{again: force})
	}
}

// wish is what an update may do that it does not do by itself.
type wish struct {
	again   bool // import the version in use once more
	smaller bool // import a dump that holds much less than the archive in use
}

// ImportFile starts the import of a dump in a file, which is closed and removed at the
// end. It returns ErrBusy while an import runs.
func (k *Importer) ImportFile(ctx context.Context, file *os.File, allowSmaller bool) (*task.Task, error) {
	t, err := k.Schedule.StartWith(ctx, TaskKind, TaskKind, k.run(func(ctx context.Context, tell func(Progress)) (Outcome, error) {
		defer k.Discard(file)
		info, err := file.Stat()
		if err != nil {
			return Failed, readUpload.With(err)
		}
		return k.take(ctx, tell, k.Archive.Import, Dump{Data: file, Size: info.Size(), AllowSmaller: allowSmaller})
	}))
	if errors.Is(err, schedule.ErrRunning) {
		err = ErrBusy
	}
	if err != nil {
		k.Discard(file)
		return nil, err
	}
	return t, nil
}

// Fetch imports a dump at once, outside of the service: the newest one, or what is at an
// address, which may be that of a pointer file (ending .json) or of a zip. force imports
// it even if it is in use already, or holds much less than the archive in use.
func (k *Importer) Fetch(ctx context.Context, address string, force bool, tell func(Progress)) (outcome Outcome, err error) {
	cfg := k.source()
	switch {
	case address == "":
		return k.update(ctx, tell, cfg, wish{again: force, smaller: force})
	case strings.HasSuffix(address, ".json"):
		cfg.PointerURL = address
		return k.update(ctx, tell, cfg, wish{again: force, smaller: force})
	}
	release, err := k.Archive.hold()
	if err != nil {
		return Failed, err
	}
	defer func() { err = errors.Join(err, release()) }()
	k.Archive.removeAll(fetchedPrefix) // of a command that was killed
	file, err := k.newFile(fetchedPrefix)
	if err != nil {
		return Failed, err
	}
	defer k.Discard(file)
	tell(Progress{Phase: Fetching})
	size, err := fetch.To(ctx, cfg, address, file, func(done, total int64) {
		tell(Progress{Phase: Fetching, Done: done, Total: total})
	})
	if err != nil {
		return Failed, err
	}
	return k.take(ctx, tell, k.Archive.importHeld, Dump{Data: file, Size: size, AllowSmaller: force})
}

// NewUpload is an empty file in the archive's folder for ImportFile. An error wraps
// ErrNoSpace when there is too little room on the disk.
func (k *Importer) NewUpload() (*os.File, error) { return k.newFile(uploadPrefix) }

func (k *Importer) newFile(prefix string) (*os.File, error) {
	if err := os.MkdirAll(k.Archive.dir, 0o700); err != nil {
		return nil, makeFolder.With(err)
	}
	if err := fetch.CheckSpace(k.Archive.dir, k.FreeMB()); err != nil {
		return nil, err
	}
	return os.CreateTemp(k.Archive.dir, prefix+"*.part")
}

// Discard closes and removes an upload.
func (k *Importer) Discard(file *os.File) {
	_ = file.Close() // nothing of it is needed any more
	k.Archive.remove(file.Name())
}

// source is where the settings say that dumps come from.
func (k *Importer) source() fetch.Config {
	cfg := k.Source()
	cfg.Dir, cfg.MaxSize, cfg.Log = k.Archive.dir, MaxDump, k.Log
	return cfg
}

// update fetches and imports the newest dump.
func (k *Importer) update(ctx context.Context, tell func(Progress), cfg fetch.Config, w wish) (outcome Outcome, err error) {
	if err := fetch.CheckSpace(k.Archive.dir, k.FreeMB()); err != nil {
		if errors.Is(err, ErrNoSpace) {
			return Skipped, err
		}
		return Failed, err
	}
	unlock, err := k.Archive.hold()
	if err != nil {
		return Failed, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	tell(Progress{Phase: Fetching})
	release, err := fetch.Latest(ctx, cfg)
	if err != nil {
		return Failed, err
	}
	last, has := k.Archive.Info()
	digest := strings.TrimPrefix(release.Digest, "sha256:")
	id := release.Version + " " + digest
	k.mu.Lock()
	refused := k.last.Refused
	k.mu.Unlock()
	switch {
	case has && !w.again && (last.Version == release.Version || digest != "" && last.Digest == digest):
		return UpToDate, nil
	case has && !w.smaller && float64(release.Size) < leastBytes*float64(last.DumpSize):
		return Failed, smallerAnnounced.With(ErrSmaller, release.Size, last.DumpSize)
	case refused.Dump == id && !w.again:
		return Failed, refused.Why // the same dump would be the same again
	}
	k.Log.InfoContext(ctx, "a dump is fetched", "version", release.Version, "bytes", release.Size)
	path, err := fetch.Download(ctx, cfg, release, func(done, total int64) {
		tell(Progress{Phase: Fetching, Done: done, Total: total})
	})
	if errors.Is(err, ErrNoSpace) {
		return Skipped, err
	}
	if err != nil {
		return Failed, err
	}
	outcome, err = k.takeFile(ctx, tell, path, Dump{Size: release.Size, Version: release.Version, Digest: digest, AllowSmaller: w.smaller})
	var unusable *dump.Error
	if errors.As(err, &unusable) || errors.Is(err, ErrSmaller) {
		k.mu.Lock()
		k.last.Refused = refusal{id, reason.Of(err)}
		k.mu.Unlock()
	}
	if ctx.Err() == nil || outcome == Imported { // what was cancelled goes on with it
		err = errors.Join(err, fetch.Remove(path))
	}
	return outcome, err
}

// takeFile imports the dump at path, in a folder that is held.
func (k *Importer) takeFile(ctx context.Context, tell func(Progress), path string, d Dump) (Outcome, error) {
	file, err := os.Open(path)
	if err != nil {
		return Failed, openDump.With(err)
	}
	defer func() { _ = file.Close() }() // opened for reading: nothing can be lost
	d.Data = file
	return k.take(ctx, tell, k.Archive.importHeld, d)
}

// take imports a dump and tells of each phase.
func (k *Importer) take(ctx context.Context, tell func(Progress), do func(context.Context, Dump, func(Progress)) (Info, error), d Dump) (Outcome, error) {
	phase := Phase("")
	_, err := do(ctx, d, func(p Progress) {
		if p.Phase != phase {
			phase = p.Phase
			k.Log.InfoContext(ctx, "import of the offline data", "phase", phase)
		}
		tell(p)
	})
	if err != nil {
		return Failed, err
	}
	return Imported, nil
}
