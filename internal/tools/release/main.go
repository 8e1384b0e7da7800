// Command release builds the program for every platform that it is published for, into
// the folder dist, with the checksums beside:
//
//	go run ./internal/tools/release
//
// A build depends on the commit and the version of Go alone: in another folder, on another
// machine, the same files come out, bit by bit.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// platform is what a build runs on; variables are the environment that chooses it.
type platform struct {
	name, suffix string
	variables    []string
}

var platforms = []platform{
	{"linux-amd64", "", []string{"GOOS=linux", "GOARCH=amd64", "GOAMD64=v1"}},
	{"linux-arm64", "", []string{"GOOS=linux", "GOARCH=arm64", "GOARM64=v8.0"}},
	{"linux-armv7", "", []string{"GOOS=linux", "GOARCH=arm", "GOARM=7"}},
	{"darwin-amd64", "", []string{"GOOS=darwin", "GOARCH=amd64", "GOAMD64=v1"}},
	{"darwin-arm64", "", []string{"GOOS=darwin", "GOARCH=arm64", "GOARM64=v8.0"}},
	{"windows-amd64", ".exe", []string{"GOOS=windows", "GOARCH=amd64", "GOAMD64=v1"}},
}

// fixed is the environment that would change a build if it came from the user.
var fixed = []string{"CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	only := flag.String("platform", "", "build for this platform alone, such as linux-arm64")
	flag.Parse()
	err := release(ctx, *only, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release builds into the folder dist of the source tree around the working directory; only
// names one platform, or is empty for all. What an earlier build left there goes.
func release(ctx context.Context, only string, out io.Writer) error {
	wanted := slices.DeleteFunc(slices.Clone(platforms), func(p platform) bool { return only != "" && p.name != only })
	if len(wanted) == 0 {
		return fmt.Errorf("no platform %s; there are %s", only, names())
	}
	gomod, err := output(ctx, "go", "env", "GOMOD")
	if err != nil {
		return err
	}
	root := filepath.Dir(gomod)
	src, err := readSource(ctx, root)
	if err != nil {
		return err
	}
	dist := filepath.Join(root, "dist")
	if err := os.RemoveAll(dist); err != nil {
		return fmt.Errorf("remove the last build: %w", err)
	}
	if err := os.MkdirAll(dist, 0o755); err != nil {
		return fmt.Errorf("make the folder of the build: %w", err)
	}
	if src.modified {
		_, _ = fmt.Fprintln(out, "files differ from the commit: the version says so")
	}
	var sums strings.Builder
	for _, p := range wanted {
		name := "watchmark-" + src.version + "-" + p.name + p.suffix
		file := filepath.Join(dist, name)
		if err := build(ctx, root, src, p, file); err != nil {
			return fmt.Errorf("build %s: %w", p.name, err)
		}
		sum, size, err := hash(file)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(&sums, "%s  %s\n", sum, name)
		_, _ = fmt.Fprintf(out, "%s  %5.1f MB  %s\n", sum, float64(size)/1e6, name)
	}
	if err := os.WriteFile(filepath.Join(dist, "SHA256SUMS"), []byte(sums.String()), 0o644); err != nil {
		return fmt.Errorf("write the checksums: %w", err)
	}
	return nil
}

func names() string {
	list := make([]string, len(platforms))
	for i, p := range platforms {
		list[i] = p.name
	}
	return strings.Join(list, ", ")
}

// source is what is built.
type source struct {
	version  string
	commit   string // empty outside of a git clone
	modified bool   // files differ from the commit
}

// readSource asks git what the tree at root is. A commit with a tag such as v1.2.3 is that
// version; any other is named by its time and itself, in the form of Go's pseudo-versions.
func readSource(ctx context.Context, root string) (source, error) {
	if _, err := os.Stat(filepath.Join(root, ".git")); errors.Is(err, os.ErrNotExist) {
		return source{version: "dev"}, nil // an unpacked archive of the source
	}
	git := func(args ...string) (string, error) {
		return output(ctx, "git", append([]string{"-C", root}, args...)...)
	}
	commit, err := git("rev-parse", "HEAD")
	if err != nil {
		return source{}, err
	}
	tags, err := git("tag", "--points-at", "HEAD", "--list", "v[0-9]*", "--sort=-version:refname")
	if err != nil {
		return source{}, err
	}
	at, err := git("show", "--no-patch", "--format=%cd", "--date=format-local:%Y%m%d%H%M%S", "HEAD")
	if err != nil {
		return source{}, err
	}
	changes, err := git("status", "--porcelain")
	if err != nil {
		return source{}, err
	}
	tag, _, _ := strings.Cut(strings.TrimPrefix(tags, "v"), "\n")
	src := source{version: cmp.Or(tag, "0.0.0-"+at+"-"+commit[:12]), commit: commit, modified: changes != ""}
	if src.modified {
		src.version += "-modified"
	}
	return src, nil
}

// build links the program for p. Nothing of the machine goes into it: no folder, no build
// id, and version and commit as src has them, which Go itself would take from some clones only.
func build(ctx context.Context, root string, src source, p platform, file string) error {
	const app = "watchmark/internal/app."
	flags := fmt.Sprintf("-s -w -buildid= -X %sversion=%s -X %scommit=%s", app, src.version, app, src.commit)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", file, "./cmd/watchmark")
	cmd.Dir = root
	cmd.Env = append(append(os.Environ(), fixed...), p.variables...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// hash is the checksum of a file, in hex, and its size in bytes.
func hash(path string) (sum string, size int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	h := sha256.New()
	size, err = io.Copy(h, file)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", 0, fmt.Errorf("hash %s: %w", path, err)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), size, nil
}

// output is what a command prints, without the line end. Times are told in UTC.
func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "TZ=UTC")
	text, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(failed.Stderr)))
		}
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(text)), nil
}
