// Package contrib holds what other programs need to run this one. What the command
// "service install" writes is here too, so that both are the same.
package contrib

import _ "embed" // for the files below

// Unit is the unit for systemd.
//
//go:embed watchmark.service
var Unit string

// Agent is the property list for launchd of macOS. /Users/YOU stands in it for the home
// of whom it runs for.
//
//go:embed watchmark.plist
var Agent string
