package disk

import (
	"errors"

	"golang.org/x/sys/windows"
)

// Free is how many bytes this user may still write where dir is; it wraps errors.ErrUnsupported on
// systems where it is not known how to ask.
func Free(dir string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, err
	}
	return free, nil
}

// Full reports that an error of a write says that the disk is full.
func Full(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
