//go:build !linux && !darwin && !windows

package fetch

import (
	"errors"
	"syscall"
)

func freeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }

func diskFull(err error) bool { return errors.Is(err, syscall.ENOSPC) }
