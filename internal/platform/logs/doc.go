// Package logs holds what the service's log needs beside log/slog: attributes that a context carries (attrs.go),
// a ring buffer of the newest lines, which pages show (ring.go), and a file that is rotated by size (file.go).
package logs
