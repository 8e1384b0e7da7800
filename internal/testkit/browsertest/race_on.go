//go:build race

package browsertest

// raceDetector tells that the test binary was built with -race.
const raceDetector = true
