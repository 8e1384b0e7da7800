//go:build race

package faults

// underRace tells that this test runs under the race detector; the service then does too.
const underRace = true
