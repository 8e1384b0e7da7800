package install

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"watchmark/contrib"
)

// machine is a system with nothing installed, whose commands are only noted. With systemd it
// is root's.
type machine struct {
	System
	commands []string
	said     strings.Builder
}

func newMachine(t *testing.T, system string) *machine {
	t.Helper()
	m := &machine{System: System{OS: system, Home: "/Users/mira & co", Root: t.TempDir()}}
	m.Program = filepath.Join(t.TempDir(), "watchmark-1.2.3")
	write(t, m.Program, "program 1")
	if system == "darwin" {
		m.UID = 501
	}
	must(t, os.MkdirAll(filepath.Join(m.Root, "run/systemd/system"), 0o700))
	must(t, os.MkdirAll(filepath.Join(m.Root, "etc"), 0o700))
	m.Out = &m.said
	m.Run = func(_ context.Context, command ...string) error {
		m.commands = append(m.commands, strings.Join(command, " "))
		if command[0] == "useradd" {
			write(t, filepath.Join(m.Root, "etc/passwd"), "root:x:0:0::/root:/bin/sh\nwatchmark:x:999:999::/var/lib/watchmark:/usr/sbin/nologin\n")
		}
		return nil
	}
	return m
}

const (
	unit  = "/etc/systemd/system/watchmark.service"
	agent = "/Users/mira & co/Library/LaunchAgents/watchmark.plist"
)

func TestSystemdIsGivenTheService(t *testing.T) {
	m := newMachine(t, "linux")
	data, err := m.Install(t.Context())
	must(t, err)
	if data != "/var/lib/watchmark" || m.read(t, unit) != contrib.Unit || m.read(t, "/usr/local/bin/watchmark") != "program 1" {
		t.Errorf("data in %s, unit %s", data, m.read(t, unit))
	}
	for path, mode := range map[string]fs.FileMode{"/usr/local/bin/watchmark": 0o755, unit: 0o644} {
		info, err := os.Stat(m.Root + path)
		must(t, err)
		if info.Mode() != mode {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
	}
	started := []string{"systemctl daemon-reload", "systemctl enable watchmark", "systemctl restart watchmark"}
	if !strings.HasPrefix(m.commands[0], "useradd --system ") || !slices.Equal(m.commands[1:], started) {
		t.Errorf("commands %q", m.commands)
	}
	for _, command := range m.commands {
		if !strings.Contains(m.said.String(), command) {
			t.Errorf("%q is not told: %s", command, &m.said)
		}
	}

	write(t, m.Program, "program 2")
	m.commands = nil
	if _, err := m.Install(t.Context()); err != nil || m.read(t, "/usr/local/bin/watchmark") != "program 2" || !slices.Equal(m.commands, started) {
		t.Errorf("the next version: error %v, commands %q", err, m.commands)
	}

	write(t, m.Root+"/var/lib/watchmark/watchmark.db", "")
	m.commands = nil
	must(t, m.Uninstall(t.Context()))
	if !slices.Equal(m.commands, []string{"systemctl disable --now watchmark", "systemctl daemon-reload"}) {
		t.Errorf("commands %q", m.commands)
	}
	if _, err := os.Stat(m.Root + unit); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the unit: %v", err)
	}
	m.read(t, "/var/lib/watchmark/watchmark.db")
	if err := m.Uninstall(t.Context()); err == nil || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("uninstalled twice: %v", err)
	}
}

func TestLaunchdIsGivenTheService(t *testing.T) {
	m := newMachine(t, "darwin")
	data, err := m.Install(t.Context())
	must(t, err)
	var values []string
	for decoder := xml.NewDecoder(strings.NewReader(m.read(t, agent))); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		if text, ok := token.(xml.CharData); ok {
			values = append(values, strings.TrimSpace(string(text)))
		}
	}
	const folder = "/Users/mira & co/Library/Application Support/Watchmark"
	if data != folder+"/data" || !slices.Contains(values, data) || !slices.Contains(values, folder+"/watchmark") || m.read(t, folder+"/watchmark") != "program 1" {
		t.Errorf("data in %s, %q", data, values)
	}
	if !slices.Equal(m.commands, []string{"launchctl unload " + agent, "launchctl load -w " + agent}) {
		t.Errorf("commands %q", m.commands)
	}
	m.commands = nil
	must(t, m.Uninstall(t.Context()))
	if _, err := os.Stat(m.Root + agent); !errors.Is(err, fs.ErrNotExist) || !slices.Equal(m.commands, []string{"launchctl unload " + agent}) {
		t.Errorf("the agent: %v, commands %q", err, m.commands)
	}
}

func TestADryRunOnlyTells(t *testing.T) {
	for system, file := range map[string]string{"linux": unit, "darwin": agent} {
		t.Run(system, func(t *testing.T) {
			m := newMachine(t, system)
			m.DryRun, m.UID = true, 501
			must(t, os.RemoveAll(filepath.Join(m.Root, "run")))
			_, err := m.Install(t.Context())
			must(t, err)
			if !strings.Contains(m.said.String(), "write "+file) || !strings.Contains(m.said.String(), "Library/Application Support") && !strings.Contains(m.said.String(), "    ProtectSystem=strict\n") {
				t.Errorf("told: %s", &m.said)
			}
			if _, err := os.Stat(m.Root + file); !errors.Is(err, fs.ErrNotExist) || m.commands != nil {
				t.Errorf("the file: %v, commands %q", err, m.commands)
			}
		})
	}
}

func TestWhatCannotBeInstalledIsLeftAsItIs(t *testing.T) {
	for name, c := range map[string]struct {
		system  string
		prepare func(m *machine)
		want    string
	}{
		"a unit of somebody else": {"linux", func(m *machine) { write(t, m.Root+unit, "[Service]\n") }, unit + " was not written by this command"},
		"a package":               {"linux", func(m *machine) { write(t, m.Root+packaged, contrib.Unit) }, packaged + " is of a package"},
		"not root":                {"linux", func(m *machine) { m.UID = 1000 }, "sudo"},
		"no systemd":              {"linux", func(m *machine) { must(t, os.RemoveAll(m.Root+"/run")) }, "systemd does not run here"},
		"root on a Mac":           {"darwin", func(m *machine) { m.UID = 0 }, "without sudo"},
		"an agent of another":     {"darwin", func(m *machine) { write(t, m.Root+agent, "<plist/>") }, agent + " was not written by this command"},
		"Windows":                 {"windows", func(*machine) {}, "Task Scheduler"},
		"another system":          {"plan9", func(*machine) {}, "serve --data FOLDER"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, c.system)
			c.prepare(m)
			if _, err := m.Install(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("install: %v", err)
			}
			if err := m.Uninstall(t.Context()); err == nil {
				t.Error("it is uninstalled")
			}
			if m.commands != nil {
				t.Errorf("commands %q", m.commands)
			}
			if _, err := os.Stat(m.Root + "/usr/local/bin/watchmark"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the program is copied: %v", err)
			}
		})
	}
}

func TestAFailingCommandEndsTheInstallation(t *testing.T) {
	m := newMachine(t, "linux")
	broken := errors.New("useradd: no room")
	m.Run = func(context.Context, ...string) error { return broken }
	if _, err := m.Install(t.Context()); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

// read is the content of a file of the machine.
func (m *machine) read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(m.Root + path)
	must(t, err)
	return string(content)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(content), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
