package idmap

import (
	"bytes"
	_ "embed" // the snapshot
	"time"
)

//go:embed snapshot.bin
var snapshot []byte

// released is the day on which Version was published: a table that was fetched
// before it is older than the snapshot.
var released = time.Date(2026, time.May, 15, 0, 0, 0, 0, time.UTC)

// Snapshot is the table that is part of the program.
func Snapshot() (*Table, error) { return Read(bytes.NewReader(snapshot)) }
