package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestTheVersionTellsWhatIsBuilt(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	const untagged = `^0\.0\.0-20261121193555-[0-9a-f]{12}`
	for name, c := range map[string]struct {
		prepare func(git func(args ...string), folder string)
		want    string
		commit  string
	}{
		"no tag":                   {func(func(...string), string) {}, untagged + `$`, `^[0-9a-f]{40}$`},
		"a tag":                    {func(git func(...string), _ string) { git("tag", "v1.2.3") }, `^1\.2\.3$`, `^[0-9a-f]{40}$`},
		"two tags, the later":      {func(git func(...string), _ string) { git("tag", "v1.9.0"); git("tag", "v1.10.0") }, `^1\.10\.0$`, `^[0-9a-f]{40}$`},
		"a tag that is no version": {func(git func(...string), _ string) { git("tag", "vault") }, untagged + `$`, `^[0-9a-f]{40}$`},
		"a commit after the tag": {func(git func(...string), _ string) {
			git("tag", "v1.2.3")
			git("commit", "-q", "--allow-empty", "-m", "more")
		}, untagged + `$`, `^[0-9a-f]{40}$`},
		"a changed file": {func(_ func(...string), folder string) { write(t, filepath.Join(folder, "file"), "changed") }, untagged + `-modified$`, `^[0-9a-f]{40}$`},
		"a new file": {func(git func(...string), folder string) {
			git("tag", "v1.2.3")
			write(t, filepath.Join(folder, "new"), "")
		}, `^1\.2\.3-modified$`, `^[0-9a-f]{40}$`},
		"no clone": {func(_ func(...string), folder string) { must(t, os.RemoveAll(filepath.Join(folder, ".git"))) }, `^dev$`, `^$`},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			git := func(args ...string) {
				t.Helper()
				cmd := exec.Command("git", append([]string{"-C", folder, "-c", "user.name=tests", "-c", "user.email=tests@example.org", "-c", "commit.gpgsign=false"}, args...)...)
				cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-11-21T20:35:55+01:00", "GIT_CONFIG_GLOBAL="+os.DevNull)
				if said, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v: %s", args, err, said)
				}
			}
			git("init", "-q")
			write(t, filepath.Join(folder, "file"), "as it was")
			git("add", ".")
			git("commit", "-q", "-m", "first")
			c.prepare(git, folder)
			got, err := readSource(t.Context(), folder)
			must(t, err)
			if !regexp.MustCompile(c.want).MatchString(got.version) || !regexp.MustCompile(c.commit).MatchString(got.commit) {
				t.Errorf("version %q, commit %q", got.version, got.commit)
			}
		})
	}
}

func TestAPlatformThatIsNone(t *testing.T) {
	if err := release(t.Context(), options{only: "linux-vax"}, io.Discard); err == nil || !strings.Contains(err.Error(), "linux-armv7") {
		t.Errorf("error %v", err)
	}
}

// TestEveryPlatformFitsTogether checks the types of the program, with all it is made of, for every
// platform: what the compiler would refuse, at a fraction of the time of compiling.
func TestEveryPlatformFitsTogether(t *testing.T) {
	if underRace {
		t.Skip("it reads files alone, in one goroutine each, and takes ten times as long")
	}
	for _, p := range platforms {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Error", "./cmd/watchmark")
			cmd.Dir = filepath.Join("..", "..", "..")
			cmd.Env = append(append(os.Environ(), fixed...), p.variables...)
			listed, err := cmd.Output()
			must(t, err)
			arch := "amd64"
			for _, v := range p.variables {
				if value, found := strings.CutPrefix(v, "GOARCH="); found {
					arch = value
				}
			}
			checked := map[string]*types.Package{"unsafe": types.Unsafe}
			for decoder := json.NewDecoder(bytes.NewReader(listed)); ; {
				var pkg struct {
					ImportPath, Dir string
					GoFiles         []string
					ImportMap       map[string]string
					Error           *struct{ Err string }
				}
				err := decoder.Decode(&pkg) // dependencies come first
				if errors.Is(err, io.EOF) {
					break
				}
				must(t, err)
				if pkg.Error != nil {
					t.Fatal(pkg.Error.Err)
				}
				if pkg.ImportPath == "unsafe" {
					continue
				}
				files := token.NewFileSet()
				var parsed []*ast.File
				for _, name := range pkg.GoFiles {
					file, err := parser.ParseFile(files, filepath.Join(pkg.Dir, name), nil, parser.SkipObjectResolution)
					must(t, err)
					parsed = append(parsed, file)
				}
				config := types.Config{
					IgnoreFuncBodies: !strings.HasPrefix(pkg.ImportPath, "watchmark/"),
					FakeImportC:      true,
					Sizes:            types.SizesFor("gc", arch),
					Importer: importerFunc(func(path string) (*types.Package, error) {
						if mapped, found := pkg.ImportMap[path]; found {
							path = mapped
						}
						return checked[path], nil
					}),
				}
				checked[pkg.ImportPath], err = config.Check(pkg.ImportPath, files, parsed, nil)
				must(t, err)
			}
			if checked["watchmark/cmd/watchmark"] == nil {
				t.Error("the program was not among the packages")
			}
		})
	}
}

type importerFunc func(path string) (*types.Package, error)

// Import finds what was checked before.
func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
