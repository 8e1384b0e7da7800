//go:build race

package main

// underRace tells that the tests run under the race detector.
const underRace = true
