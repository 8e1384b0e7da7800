//go:build !race

package app_test

// underRace tells that the tests run under the race detector.
const underRace = false
