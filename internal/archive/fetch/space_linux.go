package fetch

import (
	"errors"

	"golang.org/x/sys/unix"
)

func freeBytes(dir string) (uint64, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return 0, err
	}
	// Blocks are counted in fragments where a file system has them.
	block := uint64(disk.Frsize)
	if block == 0 {
		block = uint64(disk.Bsize)
	}
	return disk.Bavail * block, nil
}

func diskFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }
