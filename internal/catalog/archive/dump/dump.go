// Package dump reads the catalog's weekly dump (upstreams/archive.md): the three
// members that matter, straight from the zip, line by line, on several cores, with
// bounded memory. Nothing is unpacked to disk, and no name in the zip is ever used
// as a path.
//
// A dump is believed whole or not at all: what does not follow the format ends the
// reading with an *Error that names the place. Fields that are unknown are passed
// over and fields that are missing are empty, because the dump's makers add some
// every year. Infoboxes are the exception: people write them, so a line that cannot
// be understood loses that line only.
package dump

import (
	"archive/zip"
	"io"

	"github.com/klauspost/compress/flate"

	"watchmark/internal/platform/reason"
)

// The members that are read; every other one is ignored.
const (
	Subjects  = "subject.jsonlines"
	Episodes  = "episode.jsonlines"
	Relations = "subject-relations.jsonlines"
)

const (
	// maxDirectory bounds what is read to find the members: a real directory has nine entries.
	maxDirectory = 1 << 20
	// maxMember bounds one member unpacked; the largest real one is below 1 GB.
	maxMember = 8 << 30
	// maxRatio is how much smaller a member may be packed; real ones reach 15.
	maxRatio = 200
)

// Error says what is wrong with a dump.
type Error struct {
	Member string // empty when it is the zip as a whole
	Line   int    // counts from 1; 0 when it is not one line
	What   reason.Reason
	Err    error // the cause; may be nil
}

// Error names the place and what is wrong there.
func (e *Error) Error() string { return e.Reason().Text }

// Reason is what Error says.
func (e *Error) Reason() reason.Reason {
	what := e.What
	if e.Err != nil {
		what = reason.Because.With(what, e.Err)
	}
	if e.Line > 0 {
		what = inLine.With(e.Line, what)
	}
	if e.Member != "" {
		what = reason.Because.With(e.Member, what)
	}
	return unusable.With(what)
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// Dump is an open dump.
type Dump struct {
	members map[string]*zip.File
}

// Open finds the members in a zip of size bytes. An *Error says why it is not a dump;
// members are not read before their rows are asked for.
func Open(r io.ReaderAt, size int64) (*Dump, error) {
	directory := &budget{r: r, left: maxDirectory}
	archive, err := zip.NewReader(directory, size)
	if directory.spent() {
		return nil, &Error{What: largeDirectory.With()}
	}
	if err != nil {
		return nil, &Error{What: noZip.With(), Err: err}
	}
	directory.lift()
	archive.RegisterDecompressor(zip.Deflate, func(r io.Reader) io.ReadCloser { return flate.NewReader(r) })
	d := &Dump{members: map[string]*zip.File{}}
	for _, f := range archive.File {
		switch f.Name {
		case Subjects, Episodes, Relations:
			if err := checkMember(f, size); err != nil {
				return nil, err
			}
			if d.members[f.Name] != nil {
				return nil, &Error{Member: f.Name, What: memberTwice.With()}
			}
			d.members[f.Name] = f
		}
	}
	for _, name := range []string{Subjects, Episodes, Relations} {
		if d.members[name] == nil {
			return nil, &Error{Member: name, What: memberMissing.With()}
		}
	}
	return d, nil
}

// checkMember refuses what the table of contents alone shows to be no member of a dump.
func checkMember(f *zip.File, size int64) error {
	const encrypted = 0x1
	switch {
	case f.Flags&encrypted != 0:
		return &Error{Member: f.Name, What: isEncrypted.With()}
	case f.CompressedSize64 > uint64(size):
		return &Error{Member: f.Name, What: longerThanFile.With()}
	case f.UncompressedSize64 > maxMember:
		return &Error{Member: f.Name, What: claimsTooMuch.With(f.UncompressedSize64)}
	case f.UncompressedSize64 > maxRatio*max(f.CompressedSize64, 64):
		return &Error{Member: f.Name, What: claimsRatio.With(f.CompressedSize64, f.UncompressedSize64)}
	}
	return nil
}

// Size is how many bytes the members that are read have unpacked, as the zip tells.
func (d *Dump) Size() int64 {
	var sum uint64
	for _, f := range d.members {
		sum += f.UncompressedSize64
	}
	return int64(sum)
}

// budget lets only so many bytes be read, until it is lifted.
type budget struct {
	r      io.ReaderAt
	left   int64
	lifted bool
}

// ReadAt is that of r while the budget lasts.
func (b *budget) ReadAt(p []byte, off int64) (int, error) {
	if b.lifted {
		return b.r.ReadAt(p, off)
	}
	if b.left < 0 {
		return 0, errSpent
	}
	n, err := b.r.ReadAt(p, off)
	b.left -= int64(n)
	return n, err
}

func (b *budget) spent() bool { return b.left < 0 }

func (b *budget) lift() { b.lifted = true }
