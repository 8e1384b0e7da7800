//go:build !unix

package listen

// files is how many files the process may have open; such systems have no bound that matters.
func files() int { return 2 * most }
