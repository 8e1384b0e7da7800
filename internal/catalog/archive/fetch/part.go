package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"

	"watchmark/internal/platform/disk"
	"watchmark/internal/platform/reason"
)

const (
	filePrefix = "download-"
	fileSuffix = ".part"
	noteSuffix = ".json" // after the name of the part
	newSuffix  = ".new"  // after the name of a note that is being written
	// maxNote bounds the note, which holds one address.
	maxNote = 128 << 10
)

// diskError is a failure of this machine's disk, which no other source helps against.
type diskError struct{ err error }

func (e *diskError) Error() string { return e.err.Error() }
func (e *diskError) Unwrap() error { return e.err }

// onDisk makes err, unless nil, a diskError.
func onDisk(doing *reason.Kind, err error) error {
	switch {
	case err == nil:
		return nil
	case disk.Full(err):
		return &diskError{onDiskFull.With(doing, ErrNoSpace, err)}
	}
	return &diskError{onDiskBecause.With(doing, err)}
}

// note is kept beside a part: of which file it is, and from where.
type note struct {
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
	// Source is the address that was asked last, ETag its strong validator, which may be empty.
	Source string `json:"source"`
	ETag   string `json:"etag"`
}

// part is the file that a download grows. Its hash is kept up with what is written.
type part struct {
	path     string
	file     *os.File
	size     int64
	hash     hash.Hash
	note     note
	total    int64
	progress func(done, total int64)
}

// openPart opens what is there of r, and empties it when its note does not say that it
// is of r. What is there is read once, for the hash.
func openPart(ctx context.Context, path string, r Release, progress func(done, total int64)) (*part, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, onDisk(openPartFile, err)
	}
	p := &part{path: path, file: file, hash: sha256.New(), total: r.Size, progress: progress}
	if err := p.takeUp(ctx, r); err != nil {
		return nil, errors.Join(err, onDisk(closePartFile, file.Close()))
	}
	return p, nil
}

func (p *part) takeUp(ctx context.Context, r Release) error {
	info, err := p.file.Stat()
	if err != nil {
		return onDisk(statPartFile, err)
	}
	p.note = readNote(p.path + noteSuffix)
	if p.note.Source == "" || p.note.Digest != r.Digest || p.note.Size != r.Size || info.Size() > r.Size {
		return p.restart(note{})
	}
	p.size, err = io.Copy(p.hash, &untilEnd{ctx, p.file})
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	if err == nil {
		p.progress(p.size, p.total)
	}
	return onDisk(readPartFile, err)
}

// untilEnd reads until its context ends.
type untilEnd struct {
	ctx  context.Context
	from io.Reader
}

func (u *untilEnd) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.from.Read(b)
}

// readNote is the note in file; an empty one when there is none that can be read, as
// after a crash while it was written.
func readNote(file string) note {
	f, err := os.Open(file)
	if err != nil {
		return note{}
	}
	defer func() { _ = f.Close() }() // it was only read
	var n note
	if err := json.NewDecoder(io.LimitReader(f, maxNote)).Decode(&n); err != nil {
		return note{}
	}
	return n
}

// Write appends b.
func (p *part) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	p.size += int64(n)
	_, _ = p.hash.Write(b[:n]) // never fails
	p.progress(p.size, p.total)
	return n, onDisk(writePartFile, err)
}

// restart empties the part. n is the note of what comes, or zero.
func (p *part) restart(n note) error {
	if err := p.file.Truncate(0); err != nil {
		return onDisk(emptyPartFile, err)
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return onDisk(emptyPartFile, err)
	}
	p.size = 0
	p.hash.Reset()
	return p.annotate(n)
}

// annotate keeps n beside the part.
func (p *part) annotate(n note) error {
	if n == p.note {
		return nil
	}
	text, err := json.Marshal(n)
	if err != nil {
		return onDiskBecause.With(writeNote, err)
	}
	// The old note stays until the new one is whole: a full disk must not cost the part.
	file := p.path + noteSuffix
	if err := os.WriteFile(file+newSuffix, text, 0o600); err != nil {
		return errors.Join(onDisk(writeNote, err), removeFile(file+newSuffix))
	}
	p.note = n
	return onDisk(writeNote, os.Rename(file+newSuffix, file))
}

// verify compares with the announced digest, if there is one.
func (p *part) verify(digest string) error {
	if got := "sha256:" + hex.EncodeToString(p.hash.Sum(nil)); digest != "" && got != digest {
		return otherDigest.With(errWrong, got, digest)
	}
	return nil
}

// close gives the file up; one that is empty goes.
func (p *part) close() error {
	err := onDisk(closePartFile, p.file.Close())
	if p.size == 0 {
		err = errors.Join(err, Remove(p.path))
	}
	return err
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
