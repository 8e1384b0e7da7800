package db_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/testkit/postgrestest"
)

const rename = `UPDATE settings SET value = ? WHERE key = ?`

func TestAnErrorOfAStatementLeavesNothingWhereverItComesOut(t *testing.T) {
	onBoth(t, func(t *testing.T, p place) {
		d := p.open(t)
		exec(t, d, addSetting, "a")
		for name, after := range map[string]func(ctx context.Context, tx *sql.Tx) error{
			"at the commit": func(context.Context, *sql.Tx) error { return nil },
			"at another statement": func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, addSetting, "c")
				return err
			},
			"at a query": func(ctx context.Context, tx *sql.Tx) error {
				var n int
				return tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM settings`).Scan(&n)
			},
		} {
			reached := false
			err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
				for _, key := range []string{"b", "a"} {
					if _, err := tx.ExecContext(ctx, addSetting, key); err != nil {
						return err
					}
				}
				if err := after(ctx, tx); err != nil {
					return err
				}
				reached = true
				return nil
			})
			if err == nil || !strings.Contains(strings.ToLower(err.Error()), "unique") {
				t.Errorf("%s: %v", name, err)
			}
			if reached && name == "at a query" {
				t.Errorf("%s: the transaction went on", name)
			}
			if n := count(t, d, "settings"); n != 1 {
				t.Errorf("%s: %d settings", name, n)
			}
		}
		err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			results := []sql.Result{}
			for _, key := range []string{"b", "a", "c"} {
				result, err := tx.ExecContext(ctx, addSetting, key)
				if err != nil {
					return err
				}
				results = append(results, result)
			}
			for i := range results[1:] {
				if n, err := results[len(results)-1-i].RowsAffected(); err == nil {
					t.Errorf("what came to nothing is told to have changed %d rows", n)
				}
			}
			return nil
		})
		if err == nil {
			t.Error("a transaction is committed, of which a statement failed")
		}
		exec(t, d, addSetting, "b") // the connection is whole
	})
}

func TestRowsAreCountedWhenThatIsAsked(t *testing.T) {
	onBoth(t, func(t *testing.T, p place) {
		d := p.open(t)
		err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			for _, key := range []string{"a", "b"} {
				if _, err := tx.ExecContext(ctx, addSetting, key); err != nil {
					return err
				}
			}
			first, err := tx.ExecContext(ctx, `UPDATE settings SET value = '2'`)
			if err != nil {
				return err
			}
			second, err := tx.ExecContext(ctx, rename, "3", "c")
			if err != nil {
				return err
			}
			for i, result := range []sql.Result{second, first} {
				if n, err := result.RowsAffected(); err != nil || n != int64(2*i) {
					t.Errorf("%d rows (%v), want %d", n, err, 2*i)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// The speed of a service beside a distant database is that of its round trips.
func TestRoundTripsOfAWrite(t *testing.T) {
	d := onServer(t).open(t)
	insert := func(ctx context.Context, tx *sql.Tx, key string) error {
		_, err := tx.ExecContext(ctx, addSetting, key)
		return err
	}
	for _, c := range []struct {
		name string
		most int64
		fn   func(ctx context.Context, tx *sql.Tx, key string) error
	}{
		{"nothing", 0, func(context.Context, *sql.Tx, string) error { return nil }},
		{"three that answer nothing", 1, func(ctx context.Context, tx *sql.Tx, key string) error {
			return errors.Join(insert(ctx, tx, key+"a"), insert(ctx, tx, key+"b"), insert(ctx, tx, key+"c"))
		}},
		{"one that answers between", 2, func(ctx context.Context, tx *sql.Tx, key string) error {
			var n int
			err := insert(ctx, tx, key+"a")
			return errors.Join(err, tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM settings WHERE key = ?`, key).Scan(&n), insert(ctx, tx, key+"b"))
		}},
		{"rolled back before anything was sent", 0, func(ctx context.Context, tx *sql.Tx, key string) error {
			return errors.Join(insert(ctx, tx, key), errors.New("changed my mind"))
		}},
	} {
		for _, write := range []func(context.Context, func(context.Context, *sql.Tx) error) error{d.Write, d.WriteShared} {
			var took int64
			for round := range 2 { // in the first one the statements are prepared
				before := db.Trips(d)
				_ = write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
					return c.fn(ctx, tx, fmt.Sprint(c.name, took, round, time.Now()))
				})
				took = db.Trips(d) - before
			}
			if took > c.most {
				t.Errorf("%s: %d round trips, want %d at most", c.name, took, c.most)
			}
		}
	}
}

func TestValuesAreTheSameOnBoth(t *testing.T) {
	onBoth(t, func(t *testing.T, p place) {
		d := p.open(t)
		exec(t, d, `CREATE TABLE kinds (n BIGINT, f DOUBLE PRECISION, s TEXT)`)
		for _, c := range []struct {
			query string
			args  []any
			want  string
		}{
			{`SELECT ?`, []any{"what? 'so' \"so\""}, `what? 'so' "so"`},
			{`SELECT '?' || ? /* ? */ || "s" FROM (SELECT 'x' AS s) AS t -- ?`, []any{"a"}, "?ax"},
			{`SELECT COUNT(*) FROM settings WHERE 1 = ?`, []any{true}, "0"},
			{`SELECT CASE WHEN ? THEN 'yes' ELSE 'no' END`, []any{1}, "yes"},
			{`SELECT EXISTS (SELECT 1 WHERE 1 = 1)`, nil, "1"},
			{`SELECT COALESCE(CAST(? AS DOUBLE PRECISION), -1)`, []any{1.5}, "1.5"},
			{`SELECT 1 WHERE ? = 0 OR ? > 5`, []any{int64(1) << 40, int64(1) << 41}, "1"},
			{`SELECT COALESCE(?, -1)`, []any{int64(1) << 40}, "1099511627776"},
			{`SELECT SUM(n) FROM (SELECT 1 AS n UNION ALL SELECT CAST(? AS BIGINT)) AS t`, []any{int64(1) << 50}, "1125899906842625"},
			{`SELECT 'Übel ABC' LIKE 'Ü%abc'`, nil, "1"},
			{`SELECT 'Übel' LIKE ?`, []any{"üb%"}, "0"},
			{`SELECT 'a%b' LIKE ? ESCAPE '\'`, []any{db.Containing("A%")}, "1"},
			{`SELECT ?`, []any{"a\x00b\xffc"}, "a\uFFFDb\uFFFDc"},
			{`SELECT ?`, []any{"a\x00b"}, "a\uFFFDb"},
			{`SELECT ?`, []any{nil}, "<nil>"},
			{`SELECT COUNT(*) FROM settings WHERE updated_at > 0 AND +key = ? GROUP BY +key UNION ALL SELECT 7`, []any{"a"}, "7"},
			{`SELECT CASE WHEN json_valid(?) THEN json_extract('{"text":"so"}', '$.text') ELSE 'no' END`, []any{`{"a":1}`}, "so"},
			{`SELECT CASE WHEN json_valid(?) THEN 'yes' ELSE 'no' END`, []any{`{"code":`}, "no"},
			{`SELECT CAST(? AS INTEGER) + 1`, []any{int64(1) << 40}, "1099511627777"},
		} {
			var got any
			if err := d.Read().QueryRowContext(t.Context(), c.query, c.args...).Scan(&got); err != nil {
				t.Errorf("%s: %v", c.query, err)
			} else if text := fmt.Sprint(got); text != c.want {
				t.Errorf("%s: %q, want %q", c.query, text, c.want)
			}
		}
		exec(t, d, `INSERT INTO kinds (n, f, s) VALUES (?, ?, ?)`, true, 3, 4)
		exec(t, d, `INSERT INTO kinds (n, f, s) VALUES (?, ?, ?)`, 2.0, 1.5, []byte("5"))
		if got := lines(t, d.Read(), `SELECT n || ' ' || s FROM kinds WHERE f > ?`, 1); fmt.Sprint(got) != "[1 4 2 5]" {
			t.Errorf("stored are %v", got)
		}
		for _, key := range []string{"b", "é", "a", "B", "z"} {
			exec(t, d, addSetting, key)
		}
		keys, err := db.Values[string](t.Context(), d.Read(), "list", `SELECT key FROM settings ORDER BY key`)
		if err != nil || strings.Join(keys, "") != "Babzé" {
			t.Errorf("the order is %v (%v)", keys, err)
		}
		before := time.Now().Add(-time.Minute)
		if now, err := d.Now(t.Context()); err != nil || now.Before(before) || now.After(before.Add(2*time.Minute)) {
			t.Errorf("the time is %v (%v)", now, err)
		}
		if d.Size() == 0 || d.Alone() != (p.address == "") {
			t.Errorf("size %d, alone %v", d.Size(), d.Alone())
		}
	})
}

func TestAnEvictedReplicaWritesNothing(t *testing.T) {
	p := onServer(t)
	d, err := db.OpenServerWith(t.Context(), p.address, fstest.MapFS{"00001_t.sql": {Data: []byte(`-- +goose Up
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL, updated_at BIGINT NOT NULL);
CREATE TABLE replicas (incarnation INTEGER PRIMARY KEY, state TEXT NOT NULL);
INSERT INTO replicas (incarnation, state) VALUES (7, 'live'), (8, 'dead');
`)}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	add := func(key string) func(context.Context, *sql.Tx) error {
		return func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, addSetting, key)
			return err
		}
	}
	for incarnation, want := range map[int64]error{7: nil, 8: db.ErrEvicted, 9: db.ErrEvicted, 0: nil} {
		d.Fence(incarnation)
		before := count(t, d, "settings")
		for i, write := range []func(context.Context, func(context.Context, *sql.Tx) error) error{d.Write, d.WriteShared, d.WriteFirst} {
			if err := write(t.Context(), add(fmt.Sprint(incarnation, i))); !errors.Is(err, want) {
				t.Errorf("incarnation %d: %v, want %v", incarnation, err, want)
			}
		}
		if n := count(t, d, "settings") - before; (n == 3) != (want == nil) || n == 1 || n == 2 {
			t.Errorf("incarnation %d: %d were stored", incarnation, n)
		}
		if err := d.WriteAside(t.Context(), add(fmt.Sprint(incarnation, "aside"))); err != nil {
			t.Errorf("incarnation %d, its heartbeat: %v", incarnation, err)
		}
	}
}

func TestWritesAreAloneAcrossProcesses(t *testing.T) {
	p := onServer(t)
	one, two := p.open(t), p.open(t)
	exec(t, one, `INSERT INTO settings (key, value, updated_at) VALUES ('n', '0', 0)`)
	raise := func(ctx context.Context, tx *sql.Tx) error { // as code that reads before it writes
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT value FROM settings WHERE key = 'n'`).Scan(&n); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, rename, fmt.Sprint(n+1), "n")
		return err
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			d := one
			if i%2 == 0 {
				d = two
			}
			for range 10 {
				if err := d.Write(t.Context(), raise); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := lines(t, one.Read(), `SELECT value FROM settings WHERE key = 'n'`); fmt.Sprint(got) != "[80]" {
		t.Errorf("80 were counted as %v", got)
	}
}

func TestSharedWritesRunBesideEachOtherAndNotBesideAWrite(t *testing.T) {
	p := onServer(t)
	d := p.open(t)
	exec(t, d, addSetting, "a")
	touch := func(ctx context.Context, tx *sql.Tx) error {
		var n int
		return tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM settings`).Scan(&n)
	}
	inside, free := make(chan struct{}), make(chan struct{})
	ended := make(chan error, db.SharedWriters+1)
	for range db.SharedWriters {
		go func() {
			ended <- d.WriteShared(context.Background(), func(ctx context.Context, tx *sql.Tx) error {
				err := touch(ctx, tx)
				inside <- struct{}{}
				<-free
				return err
			})
		}()
	}
	for range db.SharedWriters {
		<-inside
	}
	if err := d.WriteFirst(t.Context(), touch); err != nil { // which has a connection although the others are all in use
		t.Error(err)
	}
	exclusive := make(chan struct{})
	go func() {
		ended <- d.Write(context.Background(), func(ctx context.Context, tx *sql.Tx) error {
			err := touch(ctx, tx)
			close(exclusive)
			return err
		})
	}()
	for len(lines(t, d.Read(), `SELECT 'waits' FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE application_name = 'watchmark')`)) == 0 {
		select {
		case <-exclusive:
			t.Fatal("a write ran beside a shared one")
		case <-time.After(time.Millisecond):
		}
	}
	close(free)
	for range db.SharedWriters + 1 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestADeadlockIsTriedAgain(t *testing.T) {
	d := onServer(t).open(t)
	exec(t, d, addSetting, "a")
	exec(t, d, addSetting, "b")
	var first sync.WaitGroup
	first.Add(2)
	var all sync.WaitGroup
	tries := [2]int{}
	for i, keys := range [][]string{{"a", "b"}, {"b", "a"}} {
		all.Go(func() {
			err := d.WriteShared(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
				tries[i]++
				for n, key := range keys {
					result, err := tx.ExecContext(ctx, rename, fmt.Sprint(i), key)
					if err != nil {
						return err
					}
					if _, err := result.RowsAffected(); err != nil {
						return err
					}
					if n == 0 && tries[i] == 1 {
						first.Done()
						first.Wait()
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if tries[0]+tries[1] < 3 {
		t.Errorf("the two ran %v times: there was no deadlock", tries)
	}
	if values := lines(t, d.Read(), `SELECT DISTINCT value FROM settings`); len(values) != 1 {
		t.Errorf("both wrote a part: %v", values)
	}
}

func TestWhatIsToldIsHeard(t *testing.T) {
	onBoth(t, func(t *testing.T, p place) {
		d := p.open(t)
		other := d
		if p.address != "" {
			other = p.open(t)
		}
		heard := make(chan string, 100)
		go d.Listen(t.Context(), func(topic, payload string) { heard <- topic + ":" + payload })
		tell := func(payload string) {
			t.Helper()
			for {
				if err := other.Notify(t.Context(), "rules", payload); err != nil {
					t.Fatal(err)
				}
				select {
				case got := <-heard:
					if got == "rules:"+payload {
						return
					}
				case <-time.After(10 * time.Millisecond): // it may not listen yet
				}
			}
		}
		tell("1 and 2")
		if p.address != "" {
			onServer(t).open(t).Notify(t.Context(), "rules", "of another schema") //nolint:errcheck // it is heard below if anything is wrong
			lines(t, d.Read(), `SELECT 'ended' FROM pg_stat_activity WHERE query LIKE '%''probe '')' AND pg_terminate_backend(pid)`)
			for got := range heard {
				if strings.Contains(got, "another schema") {
					t.Fatal("it hears what is told in another schema")
				}
				if got == ":" { // look for yourself
					break
				}
			}
			tell("3")
		}
		if err := d.Notify(t.Context(), "rules", strings.Repeat("x", 8000)); err == nil {
			t.Error("what is too long is told")
		}
	})
}

func TestAServerThatIsGoneIsToldAndComesBack(t *testing.T) {
	cluster := postgrestest.Start(t)
	address := strings.Replace(cluster.URL(), ":test@", ":s3cret-word@", 1)
	d, err := db.OpenServer(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	exec(t, d, addSetting, "a")
	add := func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, addSetting, "b")
		return err
	}
	cluster.Stop(t, "immediate")
	for _, err := range []error{d.Write(t.Context(), add), d.WriteShared(t.Context(), add), d.Alive(t.Context()), d.Read().QueryRowContext(t.Context(), "SELECT 1").Scan(new(int))} {
		if !errors.Is(err, db.ErrStorage) || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "disk of the data folder") {
			t.Errorf("of a server that is gone: %v", err)
		}
	}
	cluster.Again(t)
	if err := d.Alive(t.Context()); err != nil {
		t.Errorf("of a server that came back: %v", err)
	}
	defer func(trusted time.Duration) { *db.IdleTrusted = trusted }(*db.IdleTrusted)
	*db.IdleTrusted = 0 // as after a second in which nobody wrote
	if err := d.WriteShared(t.Context(), add); err != nil {
		t.Error(err)
	}
	cluster.Stop(t, "fast")
	cluster.Again(t)
	if err := d.WriteShared(t.Context(), func(ctx context.Context, tx *sql.Tx) error { // on a connection that broke meanwhile
		_, err := tx.ExecContext(ctx, addSetting, "c")
		return err
	}); err != nil {
		t.Error(err)
	}
}

func TestAnAddressIsNeverQuoted(t *testing.T) {
	for _, address := range []string{"postgres://mira:s3cret-word@127.0.0.1:notaport/x", "postgres://mira:s3cret-word@127.0.0.1:1/x", "mysql://mira:s3cret-word@h/x", "s3cret-word"} {
		if _, err := db.OpenServer(t.Context(), address); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v", err)
		}
	}
}

func TestANetworkThatFallsSilentIsToldAndComesBack(t *testing.T) {
	p, line := throughLine(t, onServer(t), 0)
	d := p.open(t)
	exec(t, d, addSetting, "a")
	line.Cut()
	line.Restore()
	for again := true; again; { // what was sent on a connection that broke is in doubt
		err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO settings (key, value, updated_at) VALUES ('b', '1', 0) ON CONFLICT (key) DO NOTHING`)
			return err
		})
		if again = err != nil; again && !errors.Is(err, db.ErrStorage) {
			t.Fatal(err)
		}
	}
	line.Silence()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := d.Read().QueryRowContext(ctx, `SELECT COUNT(*) FROM settings`).Scan(new(int)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a query is answered %v", err)
	}
	line.Restore()
	if n := count(t, d, "settings"); n != 2 {
		t.Errorf("%d settings", n)
	}
}
