package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"watchmark/internal/testkit/movetest"
)

func TestAMistypedFolderIsNotMade(t *testing.T) {
	const refused = "there is no data folder "
	for words, says := range map[string]string{
		"api-key create one": refused, "api-key list": refused, "api-key delete 1": refused, "password mira": refused, "two-factor off mira": refused,
		"archive status": refused, "archive search x": refused, "backup file": refused, "health": refused, "import-from bangumi-syncer .": refused,
		"match x": refused, "import-from bangumi-syncer . --dry-run": "config.ini", "doctor": "cannot be reached",
	} {
		t.Run(words, func(t *testing.T) {
			folder, temporary := t.TempDir(), t.TempDir()
			environ := []string{"TMPDIR=" + temporary, "WATCHMARK_CATALOG_API_URL=" + nowhere}
			if os.Geteuid() == 0 {
				environ = append(environ, asRoot...)
				must(t, os.Chmod(filepath.Dir(temporary), 0o755)) // of both
				must(t, os.Chmod(folder, 0o755))
				must(t, os.Chmod(temporary, 0o777))
			}
			got := finish(t, command(t, environ, append(strings.Fields(words), "--data", filepath.Join(folder, "new", "data"))...), "secret words\n")
			if got.code != 1 {
				t.Errorf("exit %d, prints %q", got.code, got.out)
			}
			mustHold(t, got.err, says)
			if left := append(leftIn(t, folder), leftIn(t, temporary)...); left != nil {
				t.Errorf("it leaves %v", left)
			}
		})
	}
}

// asRoot has a command that root starts become another user.
var asRoot = []string{"PUID=54321", "PGID=65432"}

func TestADryRunLeavesNothingBehind(t *testing.T) {
	filled := t.TempDir()
	makeKey(t, filled, "before")
	must(t, os.WriteFile(filepath.Join(filled, "watchmark.toml"), []byte("[log]\nlevel = \"warn\"\n"), 0o600))
	for name, data := range map[string]string{"no folder": filepath.Join(t.TempDir(), "data"), "an empty folder": t.TempDir(), "a folder with data": filled} {
		t.Run(name, func(t *testing.T) {
			temporary, before := t.TempDir(), contents(t, data)
			got := finish(t, command(t, []string{"TMPDIR=" + temporary}, "import-from", "bangumi-syncer", movetest.Second(t), "--data", data, "--dry-run"), "")
			if got.code != 0 || got.err != "" {
				t.Errorf("exit %d: %s", got.code, got.err)
			}
			mustHold(t, got.out, "3 records would be taken as they came out")
			if after := contents(t, data); after != before {
				t.Errorf("the folder was\n%sand is\n%s", before, after)
			}
			if left := leftIn(t, temporary); left != nil {
				t.Errorf("it leaves %v", left)
			}
		})
	}
	service := serve(t, filled, nowhere)
	if got := moveIn(t, movetest.Second(t), filled, "", "--dry-run"); got.code != 0 || !strings.Contains(got.out, "would be taken") {
		t.Errorf("beside the service: exit %d, %s", got.code, got.err)
	}
	service.kill()
}

// contents lists the files below a folder, each with the sum of what is in it.
func contents(t *testing.T, folder string) string {
	t.Helper()
	var b strings.Builder
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil //nolint:nilerr // the folder need not be there
		}
		text, err := os.ReadFile(path)
		must(t, err)
		fmt.Fprintf(&b, "%s %x\n", path, sha256.Sum256(text))
		return nil
	})
	return b.String()
}

func TestMatchPromisesNoMarks(t *testing.T) {
	list := simulate(t)
	data := t.TempDir()
	for name, c := range map[string]struct {
		catalog string
		words   []string
	}{
		"found":       {list.url, []string{"灯塔守望者"}},
		"a film":      {list.url, []string{"剧场版 灯塔守望者 北之光", "--movie"}},
		"unreachable": {nowhere, []string{"灯塔守望者"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := finish(t, command(t, []string{"WATCHMARK_CATALOG_API_URL=" + c.catalog}, append(append([]string{"match"}, c.words...), "--data", data)...), "")
			for _, promise := range []string{"marked", "marks wait", "to mark"} {
				if strings.Contains(got.out+got.err, promise) {
					t.Errorf("it says %q: %s%s", promise, got.out, got.err)
				}
			}
		})
	}
	if left := leftIn(t, data); left != nil {
		t.Errorf("it leaves %v", left)
	}
}
