package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Free is how many bytes this user may still write where dir is; it wraps errors.ErrUnsupported on
// systems where it is not known how to ask.
func Free(dir string) (uint64, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return 0, err
	}
	return disk.Bavail * uint64(disk.Bsize), nil
}

// Full reports that an error of a write says that the disk is full.
func Full(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }
