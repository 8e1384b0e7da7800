//go:build unix

package main

import (
	"runtime"
	"syscall"
)

// peakMemory is the most memory that this process has had resident, in bytes.
func peakMemory() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss) //nolint:unconvert // it has 32 bits on some systems
	}
	return int64(usage.Maxrss) << 10 //nolint:unconvert // as above; everywhere else it is KiB
}
