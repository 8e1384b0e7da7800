package logs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

const (
	// largest is how large a file grows, in bytes.
	largest = 10 << 20
	// Kept is how many full files stay beside the one that is written.
	Kept = 5
)

// File is a log file: path, and the full ones before it, path.1 (the newest) to path.5.
// It may be used by several goroutines.
type File struct {
	path string
	most int64 // how large it grows

	mu      sync.Mutex
	file    *os.File // nil when none could be opened, and after Close
	written int64
	closed  bool
}

// OpenFile opens the file at path to go on with it. The folder is made when it is missing. Both are the user's
// alone: a log tells who watched what.
func OpenFile(path string) (*File, error) { return open(path, largest) }

func open(path string, most int64) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f := &File{path: path, most: most}
	return f, f.begin()
}

// begin opens the file at path. The caller holds mu, or is the only one.
func (f *File) begin() error {
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.file, f.written = file, info.Size()
	return nil
}

// Write writes one line whole to one file.
func (f *File) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, fs.ErrClosed
	}
	if f.file != nil && f.written > 0 && f.written+int64(len(line)) > f.most {
		f.rotate()
	}
	if f.file == nil {
		if err := f.begin(); err != nil {
			return 0, err
		}
	}
	n, err := f.file.Write(line)
	f.written += int64(n)
	return n, err
}

// rotate closes the file, for Windows renames none that is open, and gives every file the next
// name. One that cannot be renamed, as while another program has it open there, keeps its own: the log
// goes on in it, and no line is lost.
func (f *File) rotate() {
	_ = f.file.Close() // nothing is held back: every line was written whole
	f.file = nil
	for i := Kept; i > 0; i-- {
		from := f.path
		if i > 1 {
			from = f.numbered(i - 1)
		}
		_ = os.Rename(from, f.numbered(i))
	}
}

func (f *File) numbered(i int) string { return fmt.Sprintf("%s.%d", f.path, i) }

// Close ends the file. What is written later is lost.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}
