//go:build !linux

package app

// releaseProgram does nothing where it is not known how to ask the system.
func releaseProgram() {}
