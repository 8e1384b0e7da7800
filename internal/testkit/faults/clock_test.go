package faults

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// clockEnv names the file with the seconds by which the clock of a shifted program is wrong.
const clockEnv = "FAULTS_CLOCK"

// Where the wall clock is read, and what is put there in a shifted program: timers go on as they do when a clock is set.
const (
	readsClock   = "sec, nsec, mono := runtimeNow()\n"
	shiftsClock  = readsClock + "\tif faultsClock != nil {\n\t\tsec += *faultsClock\n\t}\n"
	clockInATest = `package time

import (
	"syscall"
	"unsafe"
)

var faultsClock = func() *int64 {
	path, found := syscall.Getenv("` + clockEnv + `")
	if !found {
		return nil
	}
	file, err := syscall.Open(path, syscall.O_RDONLY, 0)
	if err != nil {
		panic(err)
	}
	bytes, err := syscall.Mmap(file, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return (*int64)(unsafe.Pointer(&bytes[0]))
}()
`
)

// buildShifted makes the real command with a clock that a test sets: the sources of the program are as they are, and package
// time reads a file.
var buildShifted = sync.OnceValues(func() (string, error) {
	binary, err := build()
	if err != nil {
		return "", err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	library := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	source, err := os.ReadFile(filepath.Join(library, "time.go"))
	if err != nil {
		return "", err
	}
	folder := filepath.Dir(binary)
	replaced := strings.Replace(string(source), "func Now() Time {\n\t"+readsClock, "func Now() Time {\n\t"+shiftsClock, 1)
	if replaced == string(source) {
		return "", fmt.Errorf("time.Now of this Go reads its clock in another way")
	}
	overlay := map[string]map[string]string{"Replace": {}}
	for name, text := range map[string]string{"time.go": replaced, "faults_clock.go": clockInATest} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", err
		}
		overlay["Replace"][filepath.Join(library, name)] = path
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(path, list, 0o600); err != nil {
		return "", err
	}
	return compile(filepath.Join(folder, "shifted"), "-overlay", path)
})

// clock is how wrong the time of a process is.
type clock struct {
	tb   testing.TB
	path string
}

func newClock(tb testing.TB, wrong time.Duration) *clock {
	tb.Helper()
	c := &clock{tb, filepath.Join(tb.TempDir(), "clock")}
	c.set(wrong)
	return c
}

// set sets it, while the process runs as well.
func (c *clock) set(wrong time.Duration) {
	c.tb.Helper()
	file, err := os.OpenFile(c.path, os.O_CREATE|os.O_WRONLY, 0o600) // written in place: the process has it in its memory
	must(c.tb, err)
	_, err = file.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(int64(wrong/time.Second))), 0)
	must(c.tb, err)
	must(c.tb, file.Close())
}

// TestAClockIsShifted: what the scenarios of clocks rest on.
func TestAClockIsShifted(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program once more")
	}
	program, err := buildShifted()
	must(t, err)
	c := newClock(t, -5*time.Minute)
	s := newService(t, program, t.TempDir(), append(environment("http://127.0.0.1:9"), clockEnv+"="+c.path))
	s.start()
	// says is how wrong the time of its answers is.
	says := func() time.Duration {
		response, err := http.Get(s.process().url + "/health")
		must(t, err)
		must(t, response.Body.Close())
		at, err := http.ParseTime(response.Header.Get("Date"))
		must(t, err)
		return time.Since(at).Round(time.Minute)
	}
	if wrong := says(); wrong != 5*time.Minute {
		t.Errorf("a clock that is set five minutes back is %v behind", wrong)
	}
	c.set(time.Hour)
	if wrong := says(); wrong != -time.Hour {
		t.Errorf("a clock that is set an hour on while the process runs is %v behind", wrong)
	}
}
