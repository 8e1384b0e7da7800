package db_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	osexec "os/exec"
	"path/filepath"
	"testing"
	"time"

	"watchmark/internal/platform/db"
)

// behindPooler is a place in PostgreSQL behind pgbouncer that gives connections out for a transaction each.
func behindPooler(t *testing.T) place {
	t.Helper()
	program, err := osexec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("pgbouncer is not installed: apt-get install pgbouncer")
	}
	u, err := url.Parse(onServer(t).address)
	if err != nil {
		t.Fatal(err)
	}
	schema := u.Query().Get("search_path")
	folder, err := os.MkdirTemp("", "watchmark-pgbouncer-") // which another user can look into
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%s user=postgres connect_query='SET search_path TO %s'\n[pgbouncer]\nlisten_addr=127.0.0.1\nlisten_port=%d\n"+
		"auth_type=any\npool_mode=transaction\nunix_socket_dir=\nmax_client_conn=200\ndefault_pool_size=10\n", u.Port(), schema, port)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{file}
	if os.Geteuid() == 0 {
		args = []string{"-u", "postgres", file}
	}
	pooler := osexec.Command(program, args...)
	if err := pooler.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = pooler.Process.Kill()
		_ = pooler.Wait()
	})
	return place{address: fmt.Sprintf("postgres://postgres:test@127.0.0.1:%d/postgres?sslmode=disable&default_query_exec_mode=exec", port)}
}

func TestBehindAPooler(t *testing.T) {
	p := behindPooler(t)
	var d *db.DB
	for {
		var err error
		if d, err = p.tryOpen(t.Context()); err == nil {
			break
		} else if !errors.Is(err, db.ErrStorage) { // it has not begun to listen
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	defer func() { _ = d.Close() }()
	for i := range 20 {
		exec(t, d, addSetting, fmt.Sprint("key", i))
	}
	if n := count(t, d, "settings"); n != 20 {
		t.Errorf("%d settings", n)
	}
	err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		var timeout string
		err := tx.QueryRowContext(ctx, `SELECT current_setting('idle_in_transaction_session_timeout')`).Scan(&timeout)
		if timeout != "5s" {
			t.Errorf("a transaction may stand for %s", timeout)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	heard := make(chan string, 10)
	go d.Listen(t.Context(), func(topic, payload string) { heard <- topic + ":" + payload })
	if got := <-heard; got != ":" { // they look for themselves
		t.Errorf("it hears %q", got)
	}
}
