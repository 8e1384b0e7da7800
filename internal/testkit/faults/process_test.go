package faults

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long anything may take; only a test that fails waits so long.
const patience = 2 * time.Minute

// buildFolder is where the binary is built, empty while it is not needed.
var buildFolder string

func TestMain(m *testing.M) {
	code := m.Run()
	if buildFolder != "" {
		_ = os.RemoveAll(buildFolder) // it is a folder for temporary files
	}
	os.Exit(code)
}

// build makes the real command once for all tests.
var build = sync.OnceValues(func() (string, error) {
	var err error
	if buildFolder, err = os.MkdirTemp("", "watchmark-faults"); err != nil {
		return "", err
	}
	return compile(filepath.Join(buildFolder, "watchmark"))
})

// compile makes the command, with more flags, at a path.
func compile(path string, flags ...string) (string, error) {
	args, cgo := append([]string{"build", "-o", path}, flags...), "CGO_ENABLED=0"
	if underRace {
		args, cgo = append(args, "-race"), "CGO_ENABLED=1"
	}
	cmd := exec.Command("go", append(args, "watchmark/cmd/watchmark")...)
	cmd.Env = append(os.Environ(), cgo)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build watchmark: %w: %s", err, out)
	}
	return path, nil
}

// command is the real command with args, without the settings of this machine. environ are settings.
func command(tb testing.TB, environ []string, args ...string) *exec.Cmd {
	tb.Helper()
	program, err := build()
	must(tb, err)
	return commandOf(tb, program, environ, args...)
}

// commandOf is command of one of the programs that were built.
func commandOf(tb testing.TB, program string, environ []string, args ...string) *exec.Cmd {
	tb.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = tb.TempDir()
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "WATCHMARK_") }), append([]string{"WATCHMARK_IDMAP_ENABLED=false"}, environ...)...)
	return cmd
}

// process is a command that goes on until it is stopped.
type process struct {
	cmd   *exec.Cmd
	url   string // once it is listening
	says  chan string
	ended chan struct{}
}

var (
	serviceListens = regexp.MustCompile(`msg="watchmark is running".* url=(\S+)`)
	catalogListens = regexp.MustCompile(`simulated catalog on (\S+)`)
)

// launch starts the command and waits until it prints where it listens. What it prints goes to log as well.
func launch(tb testing.TB, cmd *exec.Cmd, listens *regexp.Regexp, log *tail) *process {
	tb.Helper()
	p := spawn(tb, cmd, listens, log)
	p.listening(tb)
	return p
}

// spawn starts the command; listening waits for it.
func spawn(tb testing.TB, cmd *exec.Cmd, listens *regexp.Regexp, log *tail) *process {
	tb.Helper()
	p := &process{cmd: cmd, ended: make(chan struct{}), says: make(chan string, 1)}
	printed := &finder{what: listens, found: p.says, log: log}
	cmd.Stdout, cmd.Stderr = printed, printed
	must(tb, cmd.Start())
	go func() {
		_ = cmd.Wait() // how it ended is in ProcessState
		close(p.ended)
	}()
	tb.Cleanup(p.kill)
	return p
}

// listening waits until the process has printed where it listens.
func (p *process) listening(tb testing.TB) {
	tb.Helper()
	select {
	case p.url = <-p.says:
	case <-p.ended:
		tb.Fatalf("%v ended at its start: %v", p.cmd.Args, p.cmd.ProcessState)
	case <-time.After(patience):
		tb.Fatalf("%v does not say where it listens", p.cmd.Args)
	}
}

// kill ends the process as kill -9 does, wherever it is.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// stop sends a signal and reports how long the process took to end. It fails when that was
// longer than most, or the exit code is not 0.
func (p *process) stop(tb testing.TB, signal os.Signal, most time.Duration) {
	tb.Helper()
	must(tb, p.cmd.Process.Signal(signal))
	select {
	case <-p.ended:
	case <-time.After(most):
		tb.Fatalf("still runs %v after %v", most, signal)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		tb.Errorf("ended with exit code %d after %v", code, signal)
	}
}

// finder looks for the first match in what a process prints and hands everything on to the log.
type finder struct {
	what  *regexp.Regexp
	found chan string
	log   *tail
	seen  []byte // nil once found
	done  bool
}

func (f *finder) Write(p []byte) (int, error) {
	if !f.done {
		f.seen = append(f.seen, p...)
		if m := f.what.FindSubmatch(f.seen); m != nil {
			f.found <- string(m[1])
			f.done, f.seen = true, nil
		}
	}
	return f.log.Write(p)
}

// tail keeps the end of a log.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// tailMost is how much of a log is kept.
const tailMost = 16 << 10

func (l *tail) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	if over := len(l.text) - tailMost; over > 0 {
		l.text = append(l.text[:0], l.text[over:]...)
	}
	return len(p), nil
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// showOnFailure prints the end of the log when the test has failed.
func (l *tail) showOnFailure(tb testing.TB) {
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("the end of the service's log:\n%s", l)
		}
	})
}

// eventually polls until the condition holds, and fails when it never does.
func eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for !holds() {
		if !pause(ctx) {
			tb.Fatalf("waited in vain: %s", what)
		}
	}
}

// pause is the time between two looks at a condition; it reports false when ctx has ended.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(10 * time.Millisecond):
		return true
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
