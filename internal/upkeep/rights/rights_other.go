//go:build !unix

// Package rights gives up those of the administrator, where users have numbers. Here they
// have none.
package rights

// Drop does nothing here.
func Drop(string, bool, func(string) string) error { return nil }

// StaysRoot is false: there is no root here.
func StaysRoot(func(string) string) bool { return false }
