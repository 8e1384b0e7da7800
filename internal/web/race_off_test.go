//go:build !race

package web_test

// raceDetector tells that the test binary was built with -race.
const raceDetector = false
