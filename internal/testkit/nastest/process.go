package nastest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// writerEnv names the database that a process started by CreateApart writes.
const writerEnv = "NASTEST_WRITER"

// Main is for the TestMain of a package that uses CreateApart: in the process of a writer
// it serves and ends, elsewhere it returns.
func Main() {
	path := os.Getenv(writerEnv)
	if path == "" {
		return
	}
	w := openLocal(path)
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	in.UseNumber()
	for {
		var s statement
		if err := in.Decode(&s); err != nil { // the test has closed its end
			if err := w.close(); err != nil {
				os.Exit(1)
			}
			os.Exit(0)
		}
		for i, arg := range s.Args {
			if number, is := arg.(json.Number); is {
				if whole, err := number.Int64(); err == nil {
					s.Args[i] = whole
				}
			}
		}
		var failure string
		if err := w.exec(s.Query, s.Args...); err != nil {
			failure = err.Error()
		}
		if err := out.Encode(failure); err != nil {
			os.Exit(1)
		}
	}
}

type statement struct {
	Query string
	Args  []any
}

// apart is a writer in a process of its own.
type apart struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *json.Decoder
	end     func() error
}

// CreateApart is Create with the writer in a process of its own, as on a NAS: locks of
// one process do not count among its own connections.
func CreateApart(t testing.TB, folder string, without ...string) *Library {
	t.Helper()
	path := filepath.Join(folder, "trimmedia.db")
	command := exec.Command(os.Args[0]) //nolint:noctx // it ends with its input
	command.Env = append(os.Environ(), writerEnv+"="+path)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	w := &apart{command: command, in: in, out: json.NewDecoder(bufio.NewReader(out))}
	w.end = sync.OnceValue(func() error { return errors.Join(in.Close(), command.Wait()) })
	return create(t, path, w, without)
}

func (w *apart) exec(query string, args ...any) error {
	if err := json.NewEncoder(w.in).Encode(statement{query, args}); err != nil {
		return err
	}
	var failure string
	if err := w.out.Decode(&failure); err != nil {
		return err
	}
	if failure != "" {
		return errors.New(failure)
	}
	return nil
}

func (w *apart) close() error { return w.end() }

// Kill ends the writer as a power cut does: log and index stay. It is for libraries of CreateApart.
func (l *Library) Kill() {
	l.t.Helper()
	w, is := l.w.(*apart)
	if !is {
		l.t.Fatal("the writer is in this process")
	}
	if err := w.command.Process.Kill(); err != nil {
		l.t.Fatal(err)
	}
	_ = w.end() // it was killed
	w.end = func() error { return nil }
}
