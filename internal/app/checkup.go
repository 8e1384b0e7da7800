package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"watchmark/internal/door/api"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/disk"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/settings"
	"watchmark/internal/upkeep/backup"
)

// Check is what a look at one thing on this machine found.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Detail is what was found, and what to do when that is not well.
	Detail string `json:"detail"`
}

const (
	// backupAge is after how many days without a backup something is wrong, where they are made by schedule.
	backupAge = 8 * 24 * time.Hour
	// littleFree is below how many bytes a disk is told to be nearly full.
	littleFree = 500 << 20
	// clockSlack is how far the clock may be behind what was written last.
	clockSlack = 5 * time.Minute
)

// CheckFolder looks at a data folder before anything opens it: that it can be written, and that its secrets
// are its owner's alone.
func CheckFolder(dir string) []Check {
	return []Check{checkWritable(dir), checkSecrets(dir)}
}

// Checkup looks at what this machine must give the service. The folder of o is the one that d was opened on.
func (d *Data) Checkup(ctx context.Context, o Options) []Check {
	return []Check{d.checkDatabase(ctx, o.DataDir), d.checkClock(ctx), checkRoom(o.DataDir), d.checkListen(ctx, o.DataDir), d.checkBackups()}
}

func well(name, detail string, args ...any) Check {
	return Check{name, true, fmt.Sprintf(detail, args...)}
}

func ill(name, detail string, args ...any) Check {
	return Check{name, false, fmt.Sprintf(detail, args...)}
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func checkWritable(dir string) Check {
	const name = "data folder"
	if missing(dir) {
		return well(name, "%s is not there yet: the first start makes it", dir)
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return ill(name, "%v; give the service's user write access to it", err)
	}
	_, err = probe.WriteString("can this be written?")
	err = errors.Join(err, probe.Sync(), probe.Close(), os.Remove(probe.Name()))
	if err != nil {
		return ill(name, "%v; free some space, or look at the disk", err)
	}
	return well(name, "%s can be written", dir)
}

// checkSecrets looks who else may read the key and the database. Windows has no such modes.
func checkSecrets(dir string) Check {
	const name = "permissions"
	if runtime.GOOS == "windows" {
		return well(name, "not looked at on Windows")
	}
	private := []string{secret.KeyFile, db.FileName}
	if file, err := configFile(Options{DataDir: dir}); err == nil {
		if address, err := settings.DatabaseURL(settings.Options{File: file}); err == nil && address != "" { // with its password
			private = append(private, filepath.Base(file))
		}
	}
	for _, file := range private {
		path := filepath.Join(dir, file)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return ill(name, "%v", err)
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			return ill(name, "others may read %s (mode %o): run chmod 600 %s", file, mode, path)
		}
	}
	return well(name, "key and database are their owner's alone")
}

// checkDatabase reads the whole database.
func (d *Data) checkDatabase(ctx context.Context, dir string) Check {
	const name = "database"
	if !d.db.Alone() { // the server looks after itself
		if err := d.db.Alive(ctx); err != nil {
			return ill(name, "%v", err)
		}
		return well(name, "PostgreSQL answers, schema version %d, %.1f MB", d.db.SchemaVersion(), float64(d.db.Size())/1e6)
	}
	if !hasFile(dir) {
		return well(name, "there is no database yet: the first start makes it")
	}
	if err := db.Check(ctx, filepath.Join(dir, db.FileName)); err != nil {
		return ill(name, "%v", err)
	}
	return well(name, "whole, schema version %d, %.1f MB", d.db.SchemaVersion(), float64(d.db.Size())/1e6)
}

// checkClock holds the clock against what was written last.
func (d *Data) checkClock(ctx context.Context) Check {
	const name = "clock"
	if !d.db.Alone() {
		there, err := d.db.Now(ctx)
		if err != nil {
			return ill(name, "%v", err)
		}
		if off := time.Now().Round(0).Sub(there); off.Abs() > clockMost {
			return ill(name, "it is %s here, and %s at the database: set the clocks, and let them be kept by NTP", time.Now().Format(time.DateTime), there.Format(time.DateTime))
		}
	}
	now := time.Now()
	newest, err := d.Records.Newest(ctx)
	switch {
	case err != nil:
		return ill(name, "%v", err)
	case newest.Sub(now) > clockSlack:
		return ill(name, "it is %s here, and a record is of %s: set the clock, and let it be kept by NTP", now.Format(time.DateTime), newest.Format(time.DateTime))
	}
	return well(name, "%s", now.Format("2006-01-02 15:04:05 MST"))
}

func checkRoom(dir string) Check {
	const name = "disk"
	for missing(dir) && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir) // where it will be made
	}
	free, err := disk.Free(dir)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return well(name, "not looked at on this system")
	case err != nil:
		return ill(name, "%v", err)
	case free < littleFree:
		return ill(name, "only %d MB are free: free some space", free>>20)
	}
	return well(name, "%.1f GB are free", float64(free)/1e9)
}

// checkListen looks where the service of the folder runs, which need not be where the settings say, and else who has
// the address of the settings.
func (d *Data) checkListen(ctx context.Context, dir string) Check {
	const name = "address"
	s := d.Settings.Current().Server
	if url, err := os.ReadFile(filepath.Join(dir, addressFile)); err == nil {
		if health, err := askHealth(ctx, string(url)); err == nil {
			return runs(name, strings.TrimSuffix(string(url), "/health"), health)
		}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.Listen)
	if err == nil {
		_ = listener.Close() // nothing came over it
		return well(name, "%s is free: the service does not run", s.Listen)
	}
	host, port, _ := net.SplitHostPort(s.Listen) // the settings hold host and port
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	health, none := askHealth(ctx, scheme(s)+net.JoinHostPort(host, port)+s.BasePath+"/health")
	switch {
	case none != nil:
		return ill(name, "%s cannot be used (%v), and what answers there is no watchmark: stop it, or choose another port with server.listen", s.Listen, err)
	}
	return runs(name, s.Listen, health)
}

// runs says how the service that answers at an address is.
func runs(name, address string, health api.Health) Check {
	if len(health.Problems) > 0 {
		return ill(name, "the service runs at %s, and takes nothing: %s", address, health.Problems[0])
	}
	return well(name, "watchmark %s runs at %s", health.Version, address)
}

func (d *Data) checkBackups() Check {
	const name = "backups"
	s := d.backups.Status()
	switch {
	case s.OnServer:
		return well(name, "none by itself: the data is in PostgreSQL, which has tools of its own for it")
	case !s.LastError.IsZero():
		return ill(name, "%s", s.LastError)
	case s.NextRun == nil:
		return well(name, "switched off; the newest in %s: %s", s.Dir, age(s.Items))
	case len(s.Items) > 0 && time.Since(s.Items[0].MadeAt) > backupAge && s.NextRun.Before(time.Now()):
		return ill(name, "the newest in %s is of %s: start the service, and look at its page Backups", s.Dir, age(s.Items))
	}
	return well(name, "the newest in %s: %s", s.Dir, age(s.Items))
}

// age says when the newest backup was made.
func age(files []backup.File) string {
	if len(files) == 0 {
		return "none"
	}
	return files[0].MadeAt.Format(time.DateTime)
}
