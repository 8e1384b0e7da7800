//go:build unix

package rights

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestNumber(t *testing.T) {
	for text, want := range map[string]int{"1000": 1000, "0": 0, "-1": -1, "mira": -1, "": -1, "4294967295": -1} {
		id, err := number("PUID", func(string) string { return text })
		if want < 0 && (err == nil || !strings.Contains(err.Error(), "PUID")) || want >= 0 && (err != nil || id != want) {
			t.Errorf("%q is %d (%v)", text, id, err)
		}
	}
}

func TestTakeOver(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	owner := func(path string) int {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return int(info.Sys().(*syscall.Stat_t).Uid)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		known, hardlink bool
		inside          int
	}{
		"a data folder":             {true, false, 1234},
		"a folder of somebody else": {false, false, 0},
		"with a second name":        {true, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			dir, outside := filepath.Join(top, "data"), filepath.Join(top, "outside")
			must(os.WriteFile(outside, nil, 0o600))
			must(os.Mkdir(dir, 0o700))
			file := filepath.Join(dir, "a.txt")
			if c.hardlink {
				must(os.Link(outside, file))
			} else {
				must(os.WriteFile(file, nil, 0o600))
			}
			must(os.Symlink(outside, filepath.Join(dir, "link")))
			if c.known {
				must(os.WriteFile(filepath.Join(dir, ours[0]), nil, 0o600))
			}
			if err := takeOver(dir, false, 1234, 1234); (err != nil) != c.hardlink {
				t.Errorf("the error is %v", err)
			}
			if owner(dir) != 1234 || owner(file) != c.inside || owner(outside) != 0 {
				t.Errorf("the folder is of %d, its file of %d, the one outside of %d", owner(dir), owner(file), owner(outside))
			}
		})
	}
	missing := filepath.Join(t.TempDir(), "new")
	must(takeOver(missing, false, 1234, 1234))
	if _, err := os.Stat(missing); err == nil {
		t.Error("a folder was made without being asked for")
	}
	must(takeOver(missing, true, 1234, 1234))
	if owner(missing) != 1234 {
		t.Error("the folder that was made is not given")
	}
	if err := takeOver("/", true, 1234, 1234); err == nil {
		t.Error("/ was taken over")
	}
}
