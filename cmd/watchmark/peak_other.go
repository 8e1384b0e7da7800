//go:build !unix

package main

import "runtime"

// peakMemory is the memory that the Go runtime has from the system, in bytes, which only grows.
func peakMemory() int64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.Sys)
}
