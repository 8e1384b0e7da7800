//go:build unix

package rights

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// isChild is the variable that has the test program give up its rights, with the data folder childFolder below the
// working folder, instead of running tests; with childAsUser it becomes a user before.
const (
	isChild     = "RIGHTS_TEST_CHILD"
	childAsUser = "RIGHTS_TEST_AS_USER"
	childFolder = "data"
)

func TestMain(m *testing.M) {
	if os.Getenv(isChild) != "" {
		if err := dropInChild(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// dropInChild drops the rights and reports who the process is then, whether it stays root, and what it may do.
func dropInChild() error {
	if os.Getenv(childAsUser) != "" {
		if err := errors.Join(syscall.Setgid(1234), syscall.Setuid(1234)); err != nil {
			return err
		}
	}
	if err := Drop(childFolder, true, os.Getenv); err != nil {
		return err
	}
	groups, err := os.Getgroups()
	if err != nil {
		return err
	}
	writes := os.WriteFile(filepath.Join(childFolder, "new"), nil, 0o600) == nil
	returns := syscall.Setuid(0) == nil
	fmt.Printf("%d:%d %v root:%t writes:%t returns:%t", os.Geteuid(), os.Getegid(), groups, StaysRoot(os.Getenv), writes, returns)
	return nil
}

// TestDrop looks at a child process: the rights of a process do not come back.
func TestDrop(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has rights to give up")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		environ     []string
		want        string
		fails, made bool
	}{
		"becomes a user":            {[]string{"PUID=1500", "PGID=1600"}, "1500:1600 [] root:false writes:true returns:false", false, true},
		"root, as nothing is said":  {nil, "root:true writes:false returns:true", false, false},
		"root, as is wished":        {[]string{"PUID=0", "PGID=0"}, "root:false writes:false returns:true", false, false},
		"is a user already":         {[]string{childAsUser + "=1", "PUID=1500", "PGID=1600"}, "1234:1234", false, false},
		"a group that is no number": {[]string{"PUID=1500", "PGID=users"}, `PGID is "users"`, true, false},
		"a group is missing":        {[]string{"PUID=1500"}, `PGID is ""`, true, false},
		"a user that is no number":  {[]string{"PUID=mira", "PGID=1600"}, `PUID is "mira"`, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			for way := top; len(way) > len(os.TempDir()); way = filepath.Dir(way) {
				if err := os.Chmod(way, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			child := exec.CommandContext(t.Context(), program)
			child.Dir, child.Env = top, append(c.environ, isChild+"=1")
			child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Groups: []uint32{7}}}
			out, err := child.CombinedOutput()
			if (err != nil) != c.fails || !strings.Contains(string(out), c.want) {
				t.Errorf("got %q (%v), want %q", out, err, c.want)
			}
			info, err := os.Stat(filepath.Join(top, childFolder))
			if (err == nil) != c.made || c.made && info.Mode().Perm() != 0o700 {
				t.Errorf("the data folder is %v (%v)", info, err)
			}
		})
	}
}

func TestStaysRoot(t *testing.T) {
	root := os.Geteuid() == 0
	for puid, want := range map[string]bool{"": root, "0": false, "1000": root} {
		if got := StaysRoot(func(string) string { return puid }); got != want {
			t.Errorf("PUID=%q: %t", puid, got)
		}
	}
}

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
