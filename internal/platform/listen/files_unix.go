//go:build unix

package listen

import "syscall"

// files is how many files the process may have open. Go has raised that to what is allowed.
func files() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 2 * most
	}
	return int(min(uint64(limit.Cur), 2*most)) //nolint:unconvert // it is signed on some systems
}
