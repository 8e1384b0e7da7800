package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Numbers of nobody's user and group.
const uid, gid = 54321, 65432

var asUser = append(asRoot, "WATCHMARK_CATALOG_API_URL="+nowhere)

// rootFolder is a folder of root that others may pass through. Without being root the test is skipped.
func rootFolder(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	folder := t.TempDir()
	must(t, os.Chmod(filepath.Dir(folder), 0o755))
	must(t, os.Chmod(folder, 0o755))
	return folder
}

// owner is who owns path itself, not what it leads to.
func owner(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Lstat(path)
	must(t, err)
	stat := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%d:%d", stat.Uid, stat.Gid)
}

func TestRootBecomesTheUserThatIsNamed(t *testing.T) {
	folder := rootFolder(t)
	data, outside := filepath.Join(folder, "data"), filepath.Join(folder, "outside")
	must(t, os.MkdirAll(filepath.Join(data, "covers", "deep"), 0o700))
	must(t, os.WriteFile(outside, nil, 0o600))
	must(t, os.WriteFile(filepath.Join(data, "watchmark.toml"), []byte("[log]\nlevel = \"warn\"\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(data, "covers", "deep", "1.jpg"), nil, 0o600))
	must(t, os.Symlink(outside, filepath.Join(data, "covers", "link")))
	must(t, os.Symlink(folder, filepath.Join(data, "away")))

	service := launch(t, command(t, append(asUser, "WATCHMARK_LOG_LEVEL=info"), "serve", "--data", data, "--listen", "127.0.0.1:0"), serviceListens)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", service.cmd.Process.Pid))
	must(t, err)
	four := func(id int) string { return strings.Repeat(fmt.Sprint("\t", id), 4) + "\n" }
	mustHold(t, string(status), "\nUid:"+four(uid), "\nGid:"+four(gid), "\nGroups:\t \n", "\nCapPrm:\t0000000000000000\n", "\nCapEff:\t0000000000000000\n")
	must(t, filepath.WalkDir(data, func(path string, _ fs.DirEntry, err error) error {
		if got := owner(t, path); got != fmt.Sprintf("%d:%d", uid, gid) {
			t.Errorf("%s belongs to %s", path, got)
		}
		return err
	}))
	for _, path := range []string{folder, outside} {
		if got := owner(t, path); got != "0:0" {
			t.Errorf("%s, outside of the data, belongs to %s", path, got)
		}
	}

	if got := finish(t, command(t, asUser, "api-key", "create", "one", "--data", data), ""); got.code != 0 {
		t.Errorf("a command beside: %+v", got)
	}
	if got := finish(t, command(t, asUser, "backup", filepath.Join(data, "a.backup"), "--data", data), ""); got.code != 0 {
		t.Errorf("a command beside: %+v", got)
	}
	if got := owner(t, filepath.Join(data, "a.backup")); got != fmt.Sprintf("%d:%d", uid, gid) {
		t.Errorf("a file that a command made belongs to %s", got)
	}
}

func TestAFolderOfOthersKeepsItsFiles(t *testing.T) {
	data := rootFolder(t)
	must(t, os.WriteFile(filepath.Join(data, "film.mkv"), nil, 0o600))
	launch(t, command(t, asUser, "serve", "--data", data, "--listen", "127.0.0.1:0"), serviceListens)
	if got := owner(t, filepath.Join(data, "film.mkv")); got != "0:0" {
		t.Errorf("it belongs to %s", got)
	}
}

func TestAFolderThatIsMadeCanBeReached(t *testing.T) {
	data := filepath.Join(rootFolder(t), "new", "data")
	launch(t, command(t, asUser, "serve", "--data", data, "--listen", "127.0.0.1:0"), serviceListens)
	if got := owner(t, data); got != fmt.Sprintf("%d:%d", uid, gid) {
		t.Errorf("it belongs to %s", got)
	}
}

func TestServeDoesNotStayRoot(t *testing.T) {
	for name, c := range map[string]struct {
		environ []string
		prepare func(t *testing.T, data string)
		data    string
		want    string
	}{
		"nobody is named":   {environ: []string{"PUID=", "WATCHMARK_CONTAINER=1"}, want: "this would serve as root"},
		"no number":         {environ: []string{"PUID=mira", "PGID=1"}, want: `PUID is "mira"`},
		"a negative number": {environ: []string{"PUID=-1", "PGID=1"}, want: `PUID is "-1"`},
		"no group":          {environ: []string{"PUID=1", "PGID="}, want: `PGID is ""`},
		"the whole system":  {environ: asUser, data: "/", want: "/ cannot be the data folder"},
		"a file of two names": {environ: asUser, want: "secret.key has a second name", prepare: func(t *testing.T, data string) {
			must(t, os.WriteFile(filepath.Join(data, "secret.key"), nil, 0o600))
			must(t, os.Link(filepath.Join(data, "secret.key"), filepath.Join(data, "..", "elsewhere")))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			data := rootFolder(t)
			if c.prepare != nil {
				c.prepare(t, data)
			}
			if c.data != "" {
				data = c.data
			}
			got := finish(t, command(t, c.environ, "serve", "--data", data, "--listen", "127.0.0.1:0"), "")
			if got.code != 1 || strings.Contains(got.err, "--help") {
				t.Errorf("exit %d, %s", got.code, got.err)
			}
			mustHold(t, got.err, c.want)
		})
	}
}
