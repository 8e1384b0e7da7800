// Package source holds everything that reports a watch. The push sources turn webhook requests into watch.Events and
// are pure: bytes in, events or a reason out; each has a package below this one and a line in Adapters. The polled
// sources ask by themselves: nas, device and tracker. The importer takes over the history of a media server, and
// preview tells before it what would be marked.
//
// It promises that a source never guesses: a report that is not a finished playback is ignored, with a reason that a
// person can read. It uses platform, watch, catalog and record. Begin with source.go, then plex/plex.go.
package source
