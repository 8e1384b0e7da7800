package nas

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	logSuffix     = "-wal"
	indexSuffix   = "-shm"
	journalSuffix = "-journal"
)

// magic begins every SQLite database.
const magic = "SQLite format 3\x00"

// place is where the library is looked for.
type place struct {
	// path is the setting nas.database_path.
	path string
	// own is the service's database, which is never read as a library; temp is where copies go.
	own, temp string
}

// find gives the path of the library's file with every link resolved: its log lies beside that.
func (p place) find() (string, error) {
	path, err := filepath.Abs(p.path)
	if err != nil {
		return "", problem(Unusable, err, pathUnusable.With(p.path, err))
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", explained(path, err)
	}
	file, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", explained(path, err)
	}
	if filepath.Dir(file) != folder {
		return "", problem(Unusable, nil, isLink.With(path, file))
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", explained(path, err)
	}
	own, err := os.Stat(p.own)
	switch {
	case err == nil && os.SameFile(info, own):
		return "", problem(Unusable, nil, isOwn.With(path))
	case info.IsDir():
		return "", problem(Unusable, nil, isFolder.With(path, filepath.Join(path, "trimmedia.db")))
	case !info.Mode().IsRegular():
		return "", problem(Unusable, nil, notRegular.With(path))
	}
	return file, checkHeader(file)
}

// checkHeader tells a database from other files.
func checkHeader(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return explained(path, err)
	}
	defer func() { _ = file.Close() }() // opened for reading: nothing can be lost
	header := make([]byte, len(magic))
	if _, err := io.ReadFull(file, header); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return explained(path, err)
	}
	if string(header) != magic {
		return problem(Unusable, nil, notSQLite.With(path))
	}
	return nil
}

// explained says what an error of the file system means.
func explained(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return problem(Missing, err, noFile.With(path))
	case errors.Is(err, fs.ErrPermission):
		return problem(Denied, err, notReadable.With(os.Getuid(), path))
	}
	return problem(Failed, err, readFailed.With(path, err))
}

// part is the state of one file of the library; the zero part is a file that is not there.
type part struct {
	info os.FileInfo
}

// fileState is the state of a library's files at one time.
type fileState struct {
	file, log, journal part
	index              bool // the log's index is there
	share              bool // they lie on another machine
}

func stateOf(path string) (fileState, error) {
	var l fileState
	info, err := os.Stat(path)
	if err != nil {
		return l, explained(path, err)
	}
	l.file.info = info
	for suffix, to := range map[string]*part{logSuffix: &l.log, journalSuffix: &l.journal} {
		info, err := os.Stat(path + suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return l, explained(path+suffix, err)
		}
		if err == nil {
			to.info = info
		}
	}
	_, err = os.Stat(path + indexSuffix)
	l.index, l.share = err == nil, onShare(path)
	return l, nil
}

// size is that of the file in bytes; 0 for one that is not there.
func (p part) size() int64 {
	if p.info == nil {
		return 0
	}
	return p.info.Size()
}

func (p part) changed() time.Time {
	if p.info == nil {
		return time.Time{}
	}
	return p.info.ModTime()
}

// same reports whether a file has not been written since. A log that is not there is the same as an empty one.
func (p part) same(q part) bool {
	return p.size() == q.size() && (p.size() == 0 || p.changed().Equal(q.changed()))
}

// untouched reports whether none of the files was written since.
func (l fileState) untouched(m fileState) bool {
	return l.sameFile(m) && l.file.same(m.file) && l.log.same(m.log) && l.journal.same(m.journal)
}

// sameFile reports whether no other file was put in the library's place.
func (l fileState) sameFile(m fileState) bool { return os.SameFile(l.file.info, m.file.info) }

// handling is how the file is to be opened as it lies there.
func (l fileState) handling() Handling {
	switch {
	case l.share, l.journal.size() > 0:
		return Copied // locks are not seen there; half of a change may be in the file
	case l.log.size() == 0:
		return Quiet
	case l.index:
		return Live
	}
	return Copied // without its index the log could be read only by making one in a foreign folder
}
