package faults

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// withDatabase opens the service's live database beside it.
func (s *stage) withDatabase(do func(ctx context.Context, tx *sql.Tx) error) {
	s.Helper()
	database, err := sql.Open("sqlite", "file:"+filepath.Join(s.data, "watchmark.db")+"?_pragma=busy_timeout(10000)&_txlock=immediate")
	must(s, err)
	defer func() { must(s, database.Close()) }()
	ctx := context.Background()
	tx, err := database.BeginTx(ctx, nil)
	must(s, err)
	defer func() { _ = tx.Rollback() }() // after the commit it does nothing
	must(s, do(ctx, tx))
	must(s, tx.Commit())
}

// change runs one statement and answers how many rows it changed.
func (s *stage) change(statement string, args ...any) (rows int64) {
	s.Helper()
	s.withDatabase(func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, statement, args...)
		if err != nil {
			return err
		}
		rows, err = result.RowsAffected()
		return err
	})
	return rows
}

// shiftTimes moves every time by which the service decides what is due.
func (s *stage) shiftTimes(by time.Duration) {
	s.Helper()
	ms := by.Milliseconds()
	s.change(`UPDATE records SET created_at = created_at + ?, updated_at = updated_at + ?,
		lease_until = CASE lease_until WHEN 0 THEN 0 ELSE lease_until + ? END`, ms, ms, ms)
	s.change(`UPDATE pending_sync_queue SET next_attempt = next_attempt + ?, created_at = created_at + ?, updated_at = updated_at + ?`, ms, ms, ms)
}

// giveBack gives back all that is in hand, behind the back of who has it, and answers how many records that are.
func (s *stage) giveBack() int64 {
	s.Helper()
	return s.change(`UPDATE records SET status = 'received', owner = 0 WHERE status = 'processing'`)
}

// waiting is how many records nobody has in hand.
func (s *stage) waiting() (n int) {
	s.Helper()
	s.withDatabase(func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM records WHERE status = 'received'`).Scan(&n)
	})
	return n
}

// smallDisk is a data folder on a disk of its own that is soon full, and large enough for all that so many
// rounds of a scenario store.
func smallDisk(tb testing.TB, rounds int) string {
	tb.Helper()
	folder := tb.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm,mode=0700", 48*rounds), "tmpfs", folder).CombinedOutput(); err != nil {
		tb.Skipf("skipped: a small disk cannot be mounted here, which takes root on Linux: %v: %s", err, out)
	}
	tb.Cleanup(func() {
		if out, err := exec.Command("umount", folder).CombinedOutput(); err != nil {
			tb.Errorf("umount: %v: %s", err, out)
		}
	})
	return folder
}

// ballast is the file that fills the disk.
func (s *stage) ballast() string { return filepath.Join(s.data, "ballast") }

// fill takes all room that the disk has left.
func (s *stage) fill() {
	s.Helper()
	file, err := os.OpenFile(s.ballast(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(s, err)
	defer func() { _ = file.Close() }()
	block := make([]byte, 4<<10)
	for err == nil {
		_, err = file.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		s.Fatal(err)
	}
}

// makeRoom takes the ballast away.
func (s *stage) makeRoom() {
	s.Helper()
	must(s, os.Remove(s.ballast()))
}
