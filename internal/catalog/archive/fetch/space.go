package fetch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"watchmark/internal/platform/disk"
)

// ErrNoSpace is wrapped by errors that say the disk has not enough room.
var ErrNoSpace = errors.New("not enough space on the disk")

const mebibyte = 1 << 20

// CheckSpace reports whether needMB MiB are free for this user where dir is, or will be
// made. The error wraps ErrNoSpace when they are not, and says how much is free and
// needed; another one says that the disk cannot be asked. On systems where it is not known how to
// ask, all is well.
func CheckSpace(dir string, needMB int) error {
	place, err := existing(dir)
	if err != nil {
		return fmt.Errorf("look for free space: %w", err)
	}
	free, err := disk.Free(place)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for free space at %s: %w", place, err)
	}
	if need := uint64(max(needMB, 0)); free/mebibyte < need {
		return fmt.Errorf("%w: %s has %d MB free, %d MB are needed", ErrNoSpace, dir, free/mebibyte, need)
	}
	return nil
}

// existing is dir, or the nearest folder above it that exists.
func existing(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		_, err := os.Stat(dir)
		above := filepath.Dir(dir)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || above == dir {
			return dir, err
		}
		dir = above
	}
}
