package fetch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"watchmark/internal/platform/disk"
)

const mebibyte = 1 << 20

// CheckSpace reports whether needMB MiB are free for this user where dir is, or will be
// made. The error wraps ErrNoSpace when they are not, and says how much is free and
// needed; another one says that the disk cannot be asked. On systems where it is not known how to
// ask, all is well.
func CheckSpace(dir string, needMB int) error {
	place, err := existing(dir)
	if err != nil {
		return askSpace.With(err)
	}
	free, err := disk.Free(place)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return askSpaceAt.With(place, err)
	}
	if need := uint64(max(needMB, 0)); free/mebibyte < need {
		return noSpaceAt.With(ErrNoSpace, dir, free/mebibyte, need)
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
