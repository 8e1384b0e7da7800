// Package npm reads data packages of npm for go generate. The program itself does not use it.
package npm

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// ErrNoNPM is returned where npm is not installed: what was generated before stays as it is.
var ErrNoNPM = errors.New("npm is not installed")

// Files gives the named files of a package, by their path inside it, such as
// "dist/data.json". version is exact, so that the same input gives the same output.
func Files(ctx context.Context, name, version string, paths ...string) (map[string][]byte, error) {
	if _, err := exec.LookPath("npm"); err != nil {
		return nil, ErrNoNPM
	}
	folder, err := os.MkdirTemp("", "npm")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // a folder for temporary files: what stays there harms nobody
	pack := exec.CommandContext(ctx, "npm", "pack", "--silent", "--pack-destination", folder, name+"@"+version)
	pack.Stderr = os.Stderr
	if err := pack.Run(); err != nil {
		return nil, fmt.Errorf("npm pack %s@%s: %w", name, version, err)
	}
	packed, err := filepath.Glob(filepath.Join(folder, "*.tgz"))
	if err != nil || len(packed) != 1 {
		return nil, fmt.Errorf("npm pack %s@%s left %d packages", name, version, len(packed))
	}
	file, err := os.Open(packed[0])
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // opened for reading: nothing can be lost
	return members(file, paths)
}

// members reads the named files of a packed package.
func members(packed io.Reader, paths []string) (map[string][]byte, error) {
	unzipped, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	found := map[string][]byte{}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if header.Name != "package/"+path {
				continue
			}
			if found[path], err = io.ReadAll(files); err != nil {
				return nil, err
			}
		}
	}
	for _, path := range paths {
		if found[path] == nil {
			return nil, fmt.Errorf("the package has no %s", path)
		}
	}
	return found, nil
}
