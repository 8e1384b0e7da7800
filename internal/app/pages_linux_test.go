package app

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestReleaseProgram(t *testing.T) {
	before := pagesOfFiles(t)
	releaseProgram()
	if after := pagesOfFiles(t); after > before/2 {
		t.Errorf("%d pages of files are in memory, of %d before", after, before)
	}
}

// pagesOfFiles is how many pages of files the process has in memory.
func pagesOfFiles(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.Fields(string(text))[2])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
