package cover

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"watchmark/internal/catalog"
)

// mostKept is how many bytes of covers are kept: some four thousand.
const mostKept = 64 << 20

// shelf is the folder of covers, a file each, named by the subject. Its size is bounded:
// what was fetched longest ago goes first.
type shelf struct {
	folder string
	most   int64

	mu      sync.Mutex
	counted bool
	size    int64
}

func (s *shelf) path(id catalog.SubjectID) string {
	return filepath.Join(s.folder, strconv.Itoa(int(id)))
}

// read is the cover that is kept; the error is fs.ErrNotExist when none is. What is no image
// is none either.
func (s *shelf) read(id catalog.SubjectID) (Image, error) {
	file, err := os.Open(s.path(id))
	if err != nil {
		return Image{}, err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return Image{}, err
	}
	if info.Size() > LongestImage {
		return Image{}, fs.ErrNotExist
	}
	data := make([]byte, info.Size())
	if _, err := file.ReadAt(data, 0); err != nil {
		return Image{}, fmt.Errorf("read a cover: %w", err)
	}
	image := Image{Type: typeOf(data), Data: data, At: info.ModTime()}
	if image.Type == "" {
		return Image{}, fs.ErrNotExist
	}
	return image, nil
}

// put keeps a cover in place of the one before. A crash leaves the old one or the new one.
func (s *shelf) put(id catalog.SubjectID, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return fmt.Errorf("make the folder of covers: %w", err)
	}
	if err := s.count(); err != nil {
		return err
	}
	var old int64
	if info, err := os.Stat(s.path(id)); err == nil {
		old = info.Size()
	}
	file, err := os.CreateTemp(s.folder, unfinished+"*")
	if err != nil {
		return fmt.Errorf("make the file of a cover: %w", err)
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), s.path(id))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write a cover: %w", err), os.Remove(file.Name()))
	}
	if s.size += int64(len(data)) - old; s.size <= s.most {
		return nil
	}
	return s.thin()
}

// remove takes a cover away; it need not be there.
func (s *shelf) remove(id catalog.SubjectID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(s.path(id))
	if err == nil {
		err = os.Remove(s.path(id))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("remove a cover: %w", err)
	}
	if s.counted {
		s.size -= info.Size()
	}
	return nil
}

// unfinished begins the names of files that are being written.
const unfinished = ".new-"

// count learns the size of the folder, once, and removes what a crash left. The caller holds mu.
func (s *shelf) count() error {
	if s.counted {
		return nil
	}
	leftovers, err := filepath.Glob(filepath.Join(s.folder, unfinished+"*"))
	if err != nil {
		leftovers = nil // a folder whose name is a broken pattern keeps them, which harms nobody
	}
	for _, file := range leftovers {
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("remove an unfinished cover: %w", err)
		}
	}
	kept, err := s.list()
	if err != nil {
		return err
	}
	s.size, s.counted = 0, true
	for _, file := range kept {
		s.size += file.size
	}
	return nil
}

// keptFile is a file of the folder.
type keptFile struct {
	path string
	size int64
	at   time.Time
}

// list is what the folder holds.
func (s *shelf) list() ([]keptFile, error) {
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		return nil, fmt.Errorf("list the covers: %w", err)
	}
	var files []keptFile
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // gone meanwhile, or not ours
		}
		files = append(files, keptFile{filepath.Join(s.folder, entry.Name()), info.Size(), info.ModTime()})
	}
	return files, nil
}

// thin removes the oldest covers until an eighth of the room is free. The caller holds mu.
func (s *shelf) thin() error {
	files, err := s.list()
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b keptFile) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.path, b.path)) })
	for _, file := range files {
		if s.size <= s.most-s.most/8 {
			break
		}
		if err := os.Remove(file.path); err != nil {
			return fmt.Errorf("remove an old cover: %w", err)
		}
		s.size -= file.size
	}
	return nil
}
