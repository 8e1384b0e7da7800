// Package install has the system start the service: systemd, or launchd of macOS for the
// person who is signed in. Every step is told before it is taken, and each may be taken
// again, so installing is upgrading, too.
package install

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"watchmark/contrib"
)

// mark is in every file that this package writes, and tells them from those of others.
const mark = `Written by "watchmark service install"`

// packaged is the unit of a deb or rpm. One in /etc would take its place, with a program that the package does not upgrade.
const packaged = "/usr/lib/systemd/system/watchmark.service"

// System is where the service is installed.
type System struct {
	OS      string // as runtime.GOOS
	UID     int
	Home    string // of the person
	Program string // the file that shall be installed
	// Root goes before every path that is read or written but Program; it is empty outside of tests.
	Root string
	// Run runs a command of the system.
	Run func(ctx context.Context, command ...string) error
	// Out is where the steps are told.
	Out io.Writer
	// DryRun tells the steps without taking them.
	DryRun bool
}

// Here is this system. It tells to out.
func Here(out io.Writer) (System, error) {
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return System{}, fmt.Errorf("find the running program: %w", err)
	}
	home, err := os.UserHomeDir()
	if err != nil && runtime.GOOS == "darwin" {
		return System{}, fmt.Errorf("find the home folder: %w", err)
	}
	return System{OS: runtime.GOOS, UID: os.Geteuid(), Home: home, Program: program, Run: run, Out: out}, nil
}

func run(ctx context.Context, command ...string) error {
	said, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput() //nolint:gosec // commands of a fixed list
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, bytes.TrimSpace(said))
	}
	return nil
}

// plan is how one system starts the service.
type plan struct {
	program, data, file string // where they go
	content             string // of file, which names the other two
	start, stop         []step
	// seen says where the log is, left what stays after an uninstall.
	seen, left string
}

// step is told as text, then done.
type step struct {
	text string
	do   func(ctx context.Context) error
}

// Install installs and starts the service, or brings a service that was installed before up to
// this program. It does not touch a unit that it did not write. It answers the data folder.
func (s System) Install(ctx context.Context) (dataDir string, err error) {
	p, err := s.plan()
	if err != nil {
		return "", err
	}
	if err := s.checkFile(p); err != nil {
		return "", err
	}
	if _, err := os.Lstat(s.Root + packaged); err == nil && s.OS == "linux" {
		return "", fmt.Errorf("%s is of a package, which upgrades the service: install its new version, or remove it first", packaged)
	}
	var steps []step
	if s.Program != p.program {
		steps = append(steps, step{"copy " + s.Program + " to " + p.program, func(context.Context) error { return s.copyProgram(p.program) }})
	}
	writing := "write " + p.file
	if s.DryRun {
		writing += ":\n\n    " + strings.ReplaceAll(strings.TrimSpace(p.content), "\n", "\n    ") + "\n"
	}
	steps = append(steps, step{writing, func(context.Context) error { return s.write(p.file, strings.NewReader(p.content), 0o644) }})
	if err := s.take(ctx, append(steps, p.start...)); err != nil {
		return "", err
	}
	_, err = fmt.Fprintln(s.Out, p.seen)
	return p.data, err
}

// Uninstall stops the service and has the system forget it. The data stays.
func (s System) Uninstall(ctx context.Context) error {
	p, err := s.plan()
	if err != nil {
		return err
	}
	if _, err := os.Lstat(s.Root + p.file); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not there: the service is not installed", p.file)
	}
	if err := s.checkFile(p); err != nil {
		return err
	}
	remove := step{"remove " + p.file, func(context.Context) error { return os.Remove(s.Root + p.file) }}
	steps := append(p.stop[:1:1], remove)
	if err := s.take(ctx, append(steps, p.stop[1:]...)); err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.Out, p.left)
	return err
}

// plan is that of the system, or an error that says how the service is started there.
func (s System) plan() (plan, error) {
	switch s.OS {
	case "linux":
		return s.systemd()
	case "darwin":
		return s.launchd()
	case "windows":
		return plan{}, errors.New("on Windows the Task Scheduler starts the service: the document /docs/install/windows of the running service has the lines to paste")
	default:
		return plan{}, fmt.Errorf("there is no way to install it on %s: have your system start \"%s serve --data FOLDER\" as a user of its own", s.OS, s.Program)
	}
}

func (s System) systemd() (plan, error) {
	if !s.DryRun {
		if _, err := os.Stat(s.Root + "/run/systemd/system"); err != nil {
			return plan{}, fmt.Errorf("systemd does not run here. Have your system start \"%s serve --data FOLDER\" as a user of its own; "+
				"--dry-run shows what would be done with systemd", s.Program)
		}
		if s.UID != 0 {
			return plan{}, errors.New("this needs root: put sudo before it, or look at it with --dry-run")
		}
	}
	p := plan{
		program: "/usr/local/bin/watchmark", data: "/var/lib/watchmark", file: "/etc/systemd/system/watchmark.service", content: contrib.Unit,
		stop: []step{s.command("systemctl", "disable", "--now", "watchmark"), s.command("systemctl", "daemon-reload")},
		seen: "Its log, with the setup link at the first start: journalctl -u watchmark -n 30",
		left: "Kept: the data in /var/lib/watchmark, the user watchmark, and /usr/local/bin/watchmark. Without need for them: " +
			"rm -r /var/lib/watchmark /usr/local/bin/watchmark; userdel watchmark",
	}
	if !s.hasUser("watchmark") {
		p.start = append(p.start, s.command("useradd", "--system", "--user-group", "--home-dir", "/var/lib/watchmark", "--no-create-home", "--shell", "/usr/sbin/nologin", "watchmark"))
	}
	p.start = append(p.start, s.command("systemctl", "daemon-reload"), s.command("systemctl", "enable", "watchmark"), s.command("systemctl", "restart", "watchmark"))
	return p, nil
}

func (s System) hasUser(name string) bool {
	users, err := os.ReadFile(s.Root + "/etc/passwd")
	if err == nil && bytes.Contains(append([]byte("\n"), users...), []byte("\n"+name+":")) {
		return true
	}
	_, err = user.Lookup(name)
	return err == nil && s.Root == ""
}

func (s System) launchd() (plan, error) {
	if s.UID == 0 {
		return plan{}, errors.New("launchd starts it for the person who is signed in: run this as yourself, without sudo")
	}
	var home bytes.Buffer
	if err := xml.EscapeText(&home, []byte(s.Home)); err != nil {
		return plan{}, fmt.Errorf("the home folder: %w", err)
	}
	folder := s.Home + "/Library/Application Support/Watchmark"
	file := s.Home + "/Library/LaunchAgents/watchmark.plist"
	unload := step{"launchctl unload " + file, func(ctx context.Context) error {
		_ = s.Run(ctx, "launchctl", "unload", file) // it may not be loaded
		return nil
	}}
	return plan{
		program: folder + "/watchmark", data: folder + "/data", file: file,
		content: strings.ReplaceAll(contrib.Agent, "/Users/YOU", home.String()),
		start:   []step{unload, s.command("launchctl", "load", "-w", file)},
		stop:    []step{unload},
		seen:    "Its log, with the setup link at the first start: " + s.Home + "/Library/Logs/watchmark.log",
		left:    "Kept: program and data in " + folder,
	}, nil
}

// command is the step that runs a command.
func (s System) command(command ...string) step {
	return step{strings.Join(command, " "), func(ctx context.Context) error { return s.Run(ctx, command...) }}
}

// take takes the steps in order.
func (s System) take(ctx context.Context, steps []step) error {
	for _, step := range steps {
		if _, err := fmt.Fprintln(s.Out, step.text); err != nil {
			return err
		}
		if s.DryRun {
			continue
		}
		if err := step.do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// checkFile refuses a file that somebody else wrote.
func (s System) checkFile(p plan) error {
	content, err := os.ReadFile(s.Root + p.file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && bytes.Contains(content, []byte(mark)) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the present service: %w", err)
	}
	return fmt.Errorf("%s was not written by this command and is left alone: move it away first, if this shall take its place", p.file)
}

// copyProgram puts a copy of the program at path.
func (s System) copyProgram(path string) error {
	program, err := os.Open(s.Program)
	if err != nil {
		return fmt.Errorf("read the program: %w", err)
	}
	return errors.Join(s.write(path, program, 0o755), program.Close())
}

// write makes the file at path, or puts it in place of one, which may be running.
func (s System) write(path string, content io.Reader, mode fs.FileMode) error {
	path = s.Root + path
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // folders of the system, which everybody reads
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".watchmark-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = io.Copy(file, content)
	err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}
