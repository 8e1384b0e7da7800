package logs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFilesAreBoundedInSizeAndNumber(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs", "watchmark.log")
	f, err := open(path, 100)
	if err != nil {
		t.Fatal(err)
	}
	const line = "line %03d of thirty bytes......\n"
	for i := range 40 {
		if i == 20 { // a service that is started anew goes on with the file
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if f, err = open(path, 100); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := fmt.Fprintf(f, line, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1+Kept {
		t.Fatalf("%d files, %v", len(entries), err)
	}
	var all strings.Builder
	for i := Kept; i >= 0; i-- {
		name := path
		if i > 0 {
			name = fmt.Sprintf("%s.%d", path, i)
		}
		text, err := os.ReadFile(name)
		if err != nil || len(text) > 100 {
			t.Errorf("%s has %d bytes, %v", name, len(text), err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		all.Write(text)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(all.String(), "\n"), "\n")
	for i, got := range lines {
		if want := fmt.Sprintf(line, 40-len(lines)+i); strings.TrimSuffix(got, "\n") != strings.TrimSuffix(want, "\n") {
			t.Fatalf("line %d is %q, not %q", i, got, want)
		}
	}
	if len(lines) < 16 {
		t.Errorf("only %d lines are left", len(lines))
	}
}

func TestNoLineIsLostWhileAFileCannotBeRenamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "watchmark.log")
	for i := range Kept { // a file takes the place of no folder that holds something
		if err := os.MkdirAll(filepath.Join(fmt.Sprintf("%s.%d", path, i+1), "folder"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f, err := open(path, 100)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range 20 {
		line := fmt.Sprintf("line %03d of thirty bytes......\n", i)
		want.WriteString(line)
		if _, err := f.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want.String() {
		t.Errorf("the file holds %q: %v", got, err)
	}
}
