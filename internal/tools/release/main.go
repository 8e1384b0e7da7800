// Command release builds the program for every platform that it is published for, into
// the folder dist, with the images for containers and the checksums beside:
//
//	go run ./internal/tools/release
//
// With -packages, as .ci/release runs it, there are also packages for systems and NAS, a list of what is
// linked in, an installer, and a signature.
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
	"time"
)

// platform is what a build runs on; variables are the environment that chooses it. The others are the names
// that Docker, Synology and fnOS have for its processor, empty where there is no image or package.
type platform struct {
	name, suffix           string
	variables              []string
	docker, synology, fnos string
}

// cpu is the processor, as the names of files tell it.
func (p platform) cpu() string { return p.name[strings.Index(p.name, "-")+1:] }

// Synology: https://help.synology.com/developer-guide/appendix/platarchs.html, whose family armv7 lacks most ARMv7
// fnOS: "platform" of https://developer.fnnas.com/docs/core-concepts/manifest
var platforms = []platform{
	{"linux-amd64", "", []string{"GOOS=linux", "GOARCH=amd64", "GOAMD64=v1"}, "amd64", "x86_64", "x86"},
	{"linux-arm64", "", []string{"GOOS=linux", "GOARCH=arm64", "GOARM64=v8.0"}, "arm64", "armv8", "arm"},
	{"linux-armv7", "", []string{"GOOS=linux", "GOARCH=arm", "GOARM=7"}, "arm/v7", "armv7 armada370 armada375 armada38x armadaxp comcerto2k monaco", ""},
	{"darwin-amd64", "", []string{"GOOS=darwin", "GOARCH=amd64", "GOAMD64=v1"}, "", "", ""},
	{"darwin-arm64", "", []string{"GOOS=darwin", "GOARCH=arm64", "GOARM64=v8.0"}, "", "", ""},
	{"windows-amd64", ".exe", []string{"GOOS=windows", "GOARCH=amd64", "GOAMD64=v1"}, "", "", ""},
}

// fixed is the environment that would change a build if it came from the user.
var fixed = []string{"CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	var o options
	flag.StringVar(&o.only, "platform", "", "build for this platform alone, such as linux-arm64")
	flag.BoolVar(&o.packages, "packages", false, "build the packages, the installer and the list of what is linked in, too")
	flag.StringVar(&o.address, "url", os.Getenv("WATCHMARK_RELEASE_URL"), "the address that the files will have, without their names: Homebrew and the installer fetch from there")
	flag.StringVar(&o.key, "key", os.Getenv("WATCHMARK_RELEASE_KEY"), "file of the private SSH key that signs the checksums")
	flag.Parse()
	err := release(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// options are what the command line says.
type options struct {
	only         string // name of a platform, or empty for all
	packages     bool
	address, key string
}

// release builds into the folder dist of the source tree around the working directory. What an earlier
// build left there goes.
func release(ctx context.Context, o options, out io.Writer) error {
	wanted := slices.DeleteFunc(slices.Clone(platforms), func(p platform) bool { return o.only != "" && p.name != o.only })
	if len(wanted) == 0 {
		return fmt.Errorf("no platform %s; there are %s", o.only, names())
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
	var images []image
	for _, p := range wanted {
		file := src.program(dist, p)
		if err := build(ctx, root, src, p, file); err != nil {
			return fmt.Errorf("build %s: %w", p.name, err)
		}
		if p.docker == "" {
			continue
		}
		program, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read the program: %w", err)
		}
		img, err := newImage(p, program, src)
		if err != nil {
			return err
		}
		if err := put(filepath.Join(dist, src.name("image-"+p.cpu()+".tar")), 0o644, img.dockerArchive); err != nil {
			return err
		}
		images = append(images, img)
	}
	if len(images) > 0 {
		if err := put(filepath.Join(dist, src.name("image.tar")), 0o644, func() ([]byte, error) { return ociArchive(src.at, images) }); err != nil {
			return err
		}
	}
	if o.packages {
		if err := pack(ctx, root, dist, src, o, wanted); err != nil {
			return err
		}
	}
	if err := writeSums(dist, out); err != nil {
		return err
	}
	if o.key == "" {
		return nil
	}
	_, err = output(ctx, "ssh-keygen", "-q", "-Y", "sign", "-f", o.key, "-n", signedFor, filepath.Join(dist, "SHA256SUMS"))
	return err
}

// put writes what content makes to the file at path.
func put(path string, mode os.FileMode, content func() ([]byte, error)) error {
	made, err := content()
	if err != nil {
		return fmt.Errorf("make %s: %w", filepath.Base(path), err)
	}
	if err := os.WriteFile(path, made, mode); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

// writeSums writes SHA256SUMS of the files in dist, and says them.
func writeSums(dist string, out io.Writer) error {
	files, err := os.ReadDir(dist)
	if err != nil {
		return fmt.Errorf("list what was built: %w", err)
	}
	var sums strings.Builder
	for _, file := range files {
		sum, size, err := hash(filepath.Join(dist, file.Name()))
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(&sums, "%s  %s\n", sum, file.Name())
		_, _ = fmt.Fprintf(out, "%s  %5.1f MB  %s\n", sum, float64(size)/1e6, file.Name())
	}
	return put(filepath.Join(dist, "SHA256SUMS"), 0o644, func() ([]byte, error) { return []byte(sums.String()), nil })
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
	at       time.Time
}

// name is that of a file of the release.
func (s source) name(rest string) string { return "watchmark-" + s.version + "-" + rest }

// program is the file of the program for p.
func (s source) program(dist string, p platform) string {
	return filepath.Join(dist, s.name(p.name+p.suffix))
}

// readSource asks git what the tree at root is. A commit with a tag such as v1.2.3 is that
// version; any other is named by its time and itself, in the form of Go's pseudo-versions.
func readSource(ctx context.Context, root string) (source, error) {
	if _, err := os.Stat(filepath.Join(root, ".git")); errors.Is(err, os.ErrNotExist) {
		return source{version: "dev", at: time.Unix(0, 0)}, nil // an unpacked archive of the source
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
	committed, err := time.Parse("20060102150405", at)
	if err != nil {
		return source{}, fmt.Errorf("the time of the commit: %w", err)
	}
	src := source{version: cmp.Or(tag, "0.0.0-"+at+"-"+commit[:12]), commit: commit, modified: changes != "", at: committed}
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
