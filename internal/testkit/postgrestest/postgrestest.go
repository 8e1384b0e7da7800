// Package postgrestest runs PostgreSQL for tests: a cluster in a temporary folder, on the loopback, from the programs that Debian
// or another system has installed.
package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// RequireEnv makes tests fail that would be skipped where PostgreSQL is missing.
const RequireEnv = "WATCHMARK_REQUIRE_POSTGRES"

// errMissing says why no test runs on PostgreSQL.
var errMissing = errors.New("PostgreSQL is not installed: apt-get install postgresql")

// Server is a cluster.
type Server struct {
	folder, programs string
	port             int
	as               *syscall.SysProcAttr
}

// URL is that of the cluster's database.
func (s *Server) URL() string {
	return fmt.Sprintf("postgres://postgres:test@127.0.0.1:%d/postgres?sslmode=disable", s.port)
}

// Shared is the cluster of the test process. It is stopped when that ends. The test is skipped when PostgreSQL is missing.
func Shared(t testing.TB) *Server {
	t.Helper()
	s, err := shared()
	missing(t, err)
	return s
}

var shared = sync.OnceValues(start)

// Start is a cluster that the test may stop; it is gone when the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := start()
	missing(t, err)
	t.Cleanup(func() { _ = s.control("stop", "-m", "immediate") })
	return s
}

func missing(t testing.TB, err error) {
	t.Helper()
	switch {
	case errors.Is(err, errMissing) && os.Getenv(RequireEnv) != "1":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
}

// Stop stops the cluster: "fast" ends its connections, "immediate" is as a crash.
func (s *Server) Stop(t testing.TB, mode string) {
	t.Helper()
	if err := s.control("stop", "-m", mode); err != nil {
		t.Fatal(err)
	}
}

// Again starts the cluster that was stopped.
func (s *Server) Again(t testing.TB) {
	t.Helper()
	if err := s.control("start"); err != nil {
		t.Fatal(err)
	}
}

var schemas atomic.Int64

// Schema is the URL of a new schema in the database of a URL; it is dropped when the test ends.
func Schema(t testing.TB, address string) string {
	t.Helper()
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), schemas.Add(1))
	statement := func(text string) {
		ctx := context.WithoutCancel(t.Context())
		conn, err := pgconn.Connect(ctx, address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(ctx) }()
		if err := conn.Exec(ctx, text).Close(); err != nil {
			t.Error(err)
		}
	}
	statement("CREATE SCHEMA " + name)
	t.Cleanup(func() { statement("SET client_min_messages = error; DROP SCHEMA " + name + " CASCADE") })
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

// start makes a cluster and starts it.
func start() (s *Server, err error) {
	s = &Server{}
	if s.programs, err = programs(); err != nil {
		return nil, err
	}
	if s.folder, err = os.MkdirTemp("", "watchmark-postgres-"); err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 { // as which its programs refuse to run
		if s.as, err = s.owner(); err != nil {
			return nil, err
		}
	}
	if s.port, err = freePort(); err != nil {
		return nil, err
	}
	if err := s.run("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"); err != nil {
		return nil, err
	}
	settings := "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nport = " + strconv.Itoa(s.port) +
		"\nmax_connections = 300\nfsync = off\nfull_page_writes = off\nautovacuum_naptime = 5min\n"
	file, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	if _, err = file.WriteString(settings); err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	if err := s.guard(); err != nil {
		return nil, err
	}
	return s, s.control("start")
}

// guard stops the cluster and removes its folder when this process is gone, however it ended.
func (s *Server) guard() error {
	guard := exec.Command("sh", "-c", `cat; "$1/pg_ctl" -D "$2/data" -m immediate stop; rm -rf "$2"`, "sh", s.programs, s.folder) //nolint:gosec,noctx // both are ours, and it ends with this process
	guard.Dir = "/"
	guard.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if s.as != nil {
		guard.SysProcAttr.Credential = s.as.Credential
	}
	held, end, err := os.Pipe()
	if err != nil {
		return err
	}
	guard.Stdin = held
	if err := guard.Start(); err != nil {
		return err
	}
	kept = append(kept, end) // until this process ends
	return held.Close()
}

// kept are the ends of the pipes that guards wait at.
var kept []*os.File

func (s *Server) data() string { return filepath.Join(s.folder, "data") }

func (s *Server) control(what string, args ...string) error {
	return s.run("pg_ctl", append([]string{what, "-w", "-D", s.data(), "-l", filepath.Join(s.folder, "log")}, args...)...)
}

func (s *Server) run(program string, args ...string) error {
	command := exec.Command(filepath.Join(s.programs, program), args...) //nolint:gosec,noctx // of PostgreSQL, which ends by itself
	command.Dir = "/"
	command.SysProcAttr = s.as
	said, err := os.CreateTemp(s.folder, "said-") // no pipe: the server that it starts would keep it open
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(said.Name()); _ = said.Close() }()
	command.Stdout, command.Stderr = said, said
	if err := command.Run(); err != nil {
		text, _ := os.ReadFile(said.Name())
		return fmt.Errorf("%s: %w: %s", program, err, text)
	}
	return nil
}

// owner gives the folder to the user that PostgreSQL's package brings.
func (s *Server) owner() (*syscall.SysProcAttr, error) {
	account, err := user.Lookup("postgres")
	if err != nil {
		return nil, errMissing
	}
	uid, errUID := strconv.Atoi(account.Uid)
	gid, errGID := strconv.Atoi(account.Gid)
	if err := errors.Join(errUID, errGID, os.Chown(s.folder, uid, gid)); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// programs is the folder with the newest PostgreSQL.
func programs() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return "", errMissing
	}
	return filepath.Dir(found[0]), nil
}

func version(path string) int {
	n, _ := strconv.Atoi(strings.Split(path, "/")[4])
	return n
}

func freePort() (int, error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}
