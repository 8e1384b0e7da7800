// Package kodi runs an add-on for Kodi as Kodi does: under Python 3, with modules of the names of Kodi's, whose answers are built from what is
// known of it (docs/design/scrobble.md). The test says what is played.
package kodi

import (
	"archive/zip"
	"bufio"
	"bytes"
	"embed"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

//go:embed stubs/*.py
var stubs embed.FS

// RequirePython is the variable of the environment that has tests fail where Python is missing.
const RequirePython = "WATCHMARK_REQUIRE_PYTHON"

// Library is what Kodi knows of its videos, by the names of its JSON-RPC.
type Library struct {
	Episodes []map[string]any `json:"episodes,omitempty"`
	TVShows  []map[string]any `json:"tvshows,omitempty"`
	Movies   []map[string]any `json:"movies,omitempty"`
}

// Box is a machine with Kodi, whose files stay when Kodi ends.
type Box struct {
	t      *testing.T
	folder string
	python string
	env    []string

	mu    sync.Mutex
	heard []said
	more  chan struct{} // is replaced and closed with each line
	stdin io.WriteCloser
	done  chan string
	ended chan error
}

// said is a line of the add-on or of the modules.
type said struct {
	Said string `json:"said"`
	Text string `json:"text"`
	Did  string `json:"did"`
}

// New is a box on which an add-on was installed from its zip file. The test is skipped where there is no Python.
func New(t *testing.T, addon []byte, library Library, settings map[string]string) *Box {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv(RequirePython) != "" {
			t.Fatalf("there is no python3: %v", err)
		}
		t.Skip("there is no python3, under which the add-on for Kodi runs")
	}
	b := &Box{t: t, folder: t.TempDir(), python: python, more: make(chan struct{})}
	b.install(addon)
	stub := filepath.Join(b.folder, "modules")
	files, err := stubs.ReadDir("stubs")
	check(t, err)
	check(t, os.Mkdir(stub, 0o700))
	for _, file := range files {
		text, err := stubs.ReadFile("stubs/" + file.Name())
		check(t, err)
		check(t, os.WriteFile(filepath.Join(stub, file.Name()), text, 0o600))
	}
	for name, content := range map[string]any{"library.json": library, "settings.json": settings} {
		text, err := json.Marshal(content)
		check(t, err)
		check(t, os.WriteFile(filepath.Join(b.folder, name), text, 0o600))
	}
	b.env = []string{
		"PATH=" + os.Getenv("PATH"), "PYTHONPATH=" + stub, "PYTHONDONTWRITEBYTECODE=1", "PYTHONIOENCODING=utf-8", "KODI_PROFILE=" + filepath.Join(b.folder, "profile"),
		"KODI_LIBRARY=" + filepath.Join(b.folder, "library.json"), "KODI_SETTINGS=" + filepath.Join(b.folder, "settings.json"),
	}
	return b
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// install unpacks the zip file as Kodi does: it holds one folder, of the add-on's name.
func (b *Box) install(addon []byte) {
	b.t.Helper()
	files, err := zip.NewReader(bytes.NewReader(addon), int64(len(addon)))
	check(b.t, err)
	for _, file := range files.File {
		name := filepath.Join(b.folder, filepath.FromSlash(file.Name))
		if !strings.HasPrefix(file.Name, "service.watchmark/") || strings.HasSuffix(file.Name, "/") || strings.Contains(file.Name, "..") {
			b.t.Fatalf("the zip file holds %s", file.Name)
		}
		check(b.t, os.MkdirAll(filepath.Dir(name), 0o700))
		from, err := file.Open()
		check(b.t, err)
		text, err := io.ReadAll(from)
		check(b.t, err)
		check(b.t, os.WriteFile(name, text, 0o600))
	}
}

// Start starts Kodi, which starts the add-on.
func (b *Box) Start() {
	b.t.Helper()
	command := exec.CommandContext(b.t.Context(), b.python, "service.py") //nolint:gosec // Python is of the PATH, and the add-on is ours
	command.Dir, command.Env = filepath.Join(b.folder, "service.watchmark"), b.env
	stdin, err := command.StdinPipe()
	check(b.t, err)
	stdout, err := command.StdoutPipe()
	check(b.t, err)
	var trouble bytes.Buffer
	command.Stderr = &trouble
	check(b.t, command.Start())
	b.stdin, b.done, b.ended = stdin, make(chan string, 100), make(chan error, 1)
	done, ended := b.done, b.ended
	go func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			var line said
			if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
				line = said{Said: "log", Text: lines.Text()}
			}
			if line.Said == "done" {
				done <- line.Did
				continue
			}
			b.hear(line)
		}
		err := command.Wait()
		if trouble.Len() > 0 {
			b.hear(said{Said: "error", Text: trouble.String()})
		}
		close(done)
		ended <- err
	}()
}

func (b *Box) hear(line said) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard = append(b.heard, line)
	close(b.more)
	b.more = make(chan struct{})
}

// do has Kodi do something, and waits until the add-on has seen it.
func (b *Box) do(what string, fields map[string]any) {
	b.t.Helper()
	line := map[string]any{"do": what}
	for name, value := range fields {
		line[name] = value
	}
	text, err := json.Marshal(line)
	check(b.t, err)
	if _, err := b.stdin.Write(append(text, '\n')); err != nil {
		b.t.Fatalf("the add-on has ended: %v\n%s", err, b.Said())
	}
	if did, open := <-b.done; !open || did != what {
		b.t.Fatalf("the add-on did %q, not %q:\n%s", did, what, b.Said())
	}
}

// Play starts an item of a length in seconds. The player has it before its first picture is announced.
func (b *Box) Play(path string, item map[string]any, length float64) {
	b.t.Helper()
	b.do("announce", map[string]any{"method": "Player.OnPlay", "data": map[string]any{"item": item, "player": map[string]any{"playerid": 1, "speed": 1}}})
	b.do("player", map[string]any{"path": path, "time": 0.0, "total": length})
	b.do("item", item)
	b.do("tick", nil)
	b.do("announce", map[string]any{"method": "Player.OnAVStart", "data": map[string]any{"item": item, "player": map[string]any{"playerid": 1, "speed": 1}}})
}

// Pause pauses what plays, for the time of some looks.
func (b *Box) Pause(item map[string]any) {
	b.t.Helper()
	b.do("announce", map[string]any{"method": "Player.OnPause", "data": map[string]any{"item": item, "player": map[string]any{"playerid": 1, "speed": 0}}})
	b.do("tick", nil)
	b.do("tick", nil)
}

// Resume plays on after a pause.
func (b *Box) Resume(item map[string]any) {
	b.t.Helper()
	b.do("announce", map[string]any{"method": "Player.OnResume", "data": map[string]any{"item": item, "player": map[string]any{"playerid": 1, "speed": 1}}})
}

// Seek moves what plays to a position in seconds.
func (b *Box) Seek(item map[string]any, to float64) {
	b.t.Helper()
	seconds := int(to)
	b.do("player", map[string]any{"time": to})
	b.do("announce", map[string]any{"method": "Player.OnSeek", "data": map[string]any{"item": item, "player": map[string]any{"playerid": 1, "speed": 1,
		"time": map[string]any{"hours": seconds / 3600, "minutes": seconds / 60 % 60, "seconds": seconds % 60, "milliseconds": 0}}}})
	b.do("tick", nil)
}

// At is how far the player has come when the add-on looks the next time, in seconds.
func (b *Box) At(position float64) {
	b.t.Helper()
	b.do("player", map[string]any{"time": position})
	b.do("tick", nil)
}

// Stop ends what plays; end is set when the file is over. The player tells no position any more by then.
func (b *Box) Stop(item map[string]any, end bool) {
	b.t.Helper()
	b.do("player", map[string]any{"path": nil})
	b.do("announce", map[string]any{"method": "Player.OnStop", "data": map[string]any{"item": item, "end": end}})
}

// Watch plays an item of 1440 seconds from its beginning to a position, and stops it there.
func (b *Box) Watch(item map[string]any, to float64) {
	b.t.Helper()
	b.Play("/video/file.mkv", item, 1440)
	b.At(to / 2)
	b.At(to)
	b.Stop(item, to >= 1440-1)
}

// Set changes the settings of the add-on.
func (b *Box) Set(settings map[string]string) {
	b.t.Helper()
	fields := map[string]any{}
	for name, value := range settings {
		fields[name] = value
	}
	b.do("settings", fields)
}

// End ends Kodi, and waits until the add-on has ended.
func (b *Box) End() {
	b.t.Helper()
	b.do("abort", nil)
	check(b.t, b.stdin.Close())
	if err := <-b.ended; err != nil {
		b.t.Fatalf("the add-on ends with %v:\n%s", err, b.Said())
	}
}

// Said is all that was logged, shown to the user or written as an error.
func (b *Box) Said() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all strings.Builder
	for _, line := range b.heard {
		all.WriteString(line.Said + ": " + line.Text + "\n")
	}
	return all.String()
}

// Until waits until Said holds a text for the nth time.
func (b *Box) Until(text string, n int) {
	b.t.Helper()
	for late := time.After(time.Minute); ; {
		b.mu.Lock()
		more := b.more
		b.mu.Unlock()
		if strings.Count(b.Said(), text) >= n {
			return
		}
		select {
		case <-more:
		case <-late:
			b.t.Fatalf("%q is not said:\n%s", text, b.Said())
		}
	}
}

// Kept is a file of the add-on's in the profile of Kodi.
func (b *Box) Kept(name string) string {
	return filepath.Join(b.folder, "profile", "addon_data", "service.watchmark", name)
}

// Unsent are the stops that the add-on keeps in its file.
func (b *Box) Unsent() []json.RawMessage {
	b.t.Helper()
	text, err := os.ReadFile(b.Kept("stops.json"))
	if os.IsNotExist(err) {
		return nil
	}
	check(b.t, err)
	var stops []json.RawMessage
	if err := json.Unmarshal(text, &stops); err != nil {
		b.t.Fatalf("the file of unsent stops is %s: %v", text, err)
	}
	return stops
}

// Sent waits until the add-on keeps no stop any more.
func (b *Box) Sent() {
	b.t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for late := time.After(time.Minute); len(b.Unsent()) > 0; {
		select {
		case <-look.C:
		case <-late:
			b.t.Fatalf("%d stops are kept:\n%s", len(b.Unsent()), b.Said())
		}
	}
}
