//go:build !linux && !darwin && !windows

package disk

import (
	"errors"
	"syscall"
)

// Free is how many bytes this user may still write where dir is; it wraps errors.ErrUnsupported on
// systems where it is not known how to ask.
func Free(string) (uint64, error) { return 0, errors.ErrUnsupported }

// Full reports that an error of a write says that the disk is full.
func Full(err error) bool { return errors.Is(err, syscall.ENOSPC) }
