//go:build unix

// Package rights gives up those of the administrator. A container starts the program as root,
// for only root can take over a data folder that the container's engine made; it then
// becomes the user that PUID and PGID name, before it opens or listens on anything.
package rights

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// ours are the files by which a data folder is known as one.
var ours = []string{"watchmark.db", "watchmark.toml", "secret.key"}

// Drop makes the process the user PUID in the group PGID, when it is root and these are set,
// and gives that user the data folder before, which it makes only with makes. It does nothing for any other
// user, nor when PUID is 0. getenv is os.Getenv. Errors say what to do.
func Drop(dataDir string, makes bool, getenv func(string) string) error {
	if os.Geteuid() != 0 || getenv("PUID") == "" {
		return nil
	}
	uid, err := number("PUID", getenv)
	if err != nil || uid == 0 {
		return err
	}
	gid, err := number("PGID", getenv)
	if err != nil {
		return err
	}
	if err := takeOver(dataDir, makes, uid, gid); err != nil {
		return fmt.Errorf("give the data folder %s to %d:%d: %w; do it yourself, or start as that user (user: "+
			"\"%d:%d\" of a container) in place of PUID and PGID", dataDir, uid, gid, err, uid, gid)
	}
	if err := become(uid, gid); err != nil {
		return fmt.Errorf("become %d:%d, which PUID and PGID name: %w; a container needs the capabilities SETUID and SETGID for it", uid, gid, err)
	}
	return nil
}

// StaysRoot reports whether the process is root without somebody's decision, which is PUID=0.
func StaysRoot(getenv func(string) string) bool {
	return os.Geteuid() == 0 && getenv("PUID") != "0"
}

// number reads a user or group id.
func number(name string, getenv func(string) string) (int, error) {
	id, err := strconv.ParseUint(getenv(name), 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%s is %q: give a number, such as 1000; \"id\" prints yours", name, getenv(name))
	}
	return int(id), nil
}

// become changes user and group of all threads, for good.
func become(uid, gid int) error {
	if err := syscall.Setgroups(nil); err != nil {
		return fmt.Errorf("leave the groups: %w", err)
	}
	if err := syscall.Setgid(gid); err != nil {
		return fmt.Errorf("change the group: %w", err)
	}
	if err := syscall.Setuid(uid); err != nil {
		return fmt.Errorf("change the user: %w", err)
	}
	if os.Geteuid() != uid || os.Getegid() != gid || syscall.Setuid(0) == nil {
		return errors.New("the rights of root did not go")
	}
	return nil
}

// takeOver makes uid and gid the owners of the data folder, and, when it is known as one, of
// what is in it. Nothing outside is touched: links are not followed, what is mounted in
// the folder is left alone, and a file that has a second name, which may be elsewhere, is an error. A folder that
// is not there is made with makes.
func takeOver(dataDir string, makes bool, uid, gid int) error {
	dataDir, err := filepath.Abs(dataDir)
	if err != nil {
		return err
	}
	if dataDir == "/" {
		return errors.New("/ cannot be the data folder")
	}
	if _, err := os.Lstat(dataDir); !makes && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dataDir), 0o755); err != nil { //nolint:gosec // the way to the data folder, which is 0700
		return err
	}
	if err := os.Mkdir(dataDir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	root, err := os.OpenRoot(dataDir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing is written through it
	known := false
	for _, name := range ours {
		_, err := root.Lstat(name)
		known = known || err == nil
	}
	var device uint64
	return fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile, by a service that runs
		}
		if err != nil {
			return err
		}
		info, err := root.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return fmt.Errorf("%s: the system does not tell the owner", path)
		}
		if path == "." {
			device = uint64(stat.Dev) //nolint:unconvert // it has 32 bits on some systems
		}
		switch {
		case path != "." && !known:
			return fs.SkipAll
		case uint64(stat.Dev) != device: //nolint:unconvert // as above
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case int(stat.Uid) == uid && int(stat.Gid) == gid:
			return nil
		case info.Mode().IsRegular() && stat.Nlink > 1:
			return fmt.Errorf("%s has a second name (a hard link), perhaps outside of the folder", path)
		}
		if err := root.Lchown(path, uid, gid); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}
