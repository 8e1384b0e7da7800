// Package fetch gets the weekly dump of the catalog: it reads which one is the newest
// and brings it onto the disk, going on where an earlier try stopped.
//
// Nothing that comes from outside is believed: answers are bounded, no name of theirs
// becomes a file name, and a file counts only when size and digest are as announced. What
// is in it is not looked at here.
package fetch

import (
	"errors"
	"log/slog"
	"net/url"
	"strings"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
)

// Config says where dumps come from and where they go; every field but Mirrors must be set.
type Config struct {
	// HTTP sends the requests. Its Timeout bounds the pointer whole, and each wait for
	// more bytes of the dump.
	HTTP *httpx.Client
	// PointerURL is the address of the JSON that describes the newest dump.
	PointerURL string
	// Mirrors are prefixes such as https://mirror.example/ that are put before the whole
	// original address, of the pointer and of the dump. They are asked in this order after
	// the original address failed.
	Mirrors []string
	// Dir is the folder for downloads, created with mode 0700 when it is missing. Files in it
	// whose names begin with "download-" belong to this package.
	Dir string
	// MaxSize is the largest dump that is taken, in bytes.
	MaxSize int64
	// Log is told what failed when the work went on all the same.
	Log *slog.Logger
}

// source is one address for the same thing, with a name to tell people.
type source struct{ name, address string }

// sources are original and its mirrors, in the order they are asked.
func (c Config) sources(original string) []source {
	all := []source{{"direct", original}}
	for _, prefix := range c.Mirrors {
		name := "mirror"
		if u, err := url.Parse(prefix); err == nil && u.Host != "" {
			name += " " + u.Host
			// Without a slash the original address would become part of the mirror's host name.
			if u.Path == "" && strings.HasSuffix(prefix, u.Host) {
				prefix += "/"
			}
		}
		all = append(all, source{name, prefix + original})
	}
	return all
}

// passed logs why sources failed before another one served.
func (c Config) passed(what string, reasons []error) {
	if len(reasons) > 0 {
		c.Log.Warn("a source failed, another one served", "what", what, "reasons", errors.Join(reasons...))
	}
}

// allOf is why sources failed.
func allOf(errs []error) error {
	reasons := make([]reason.Reason, len(errs))
	for i, err := range errs {
		reasons[i] = reason.Of(err)
	}
	return reason.Several.With(reasons)
}
