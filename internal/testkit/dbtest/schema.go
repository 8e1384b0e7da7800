package dbtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"watchmark/internal/platform/db"
	"watchmark/internal/testkit/postgrestest"
)

// schemas are those of this process, with a session that holds a lock for as long as it lives: what an earlier process left is
// known by a lock that is free.
type schemas struct {
	mu      sync.Mutex
	address string
	conn    *pgconn.PgConn
	id      uint32
	made    int
	free    []string          // empty ones
	used    map[string]string // by data folder
}

var ours = schemas{used: map[string]string{}}

// address is the URL of the schema that stands for a data folder; it is emptied when the test ends that asked for it first.
func address(t testing.TB, dir string) string {
	t.Helper()
	ours.mu.Lock()
	defer ours.mu.Unlock()
	name, known := ours.used[dir]
	if !known {
		ours.begin(t)
		var err error
		if name, err = ours.take(); err != nil {
			t.Fatal(err)
		}
		ours.used[dir] = name
		t.Cleanup(func() {
			ours.mu.Lock()
			defer ours.mu.Unlock()
			delete(ours.used, dir)
			if err := ours.giveBack(name); err != nil {
				t.Error(err)
			}
		})
	}
	return ours.url(name)
}

// addresses are connected to outside of every bubble of testing/synctest: what is made within one cannot be used in another.
var (
	addresses   = make(chan string)
	connections = make(chan connection)
)

type connection struct {
	conn *pgconn.PgConn
	err  error
}

func init() {
	if !OnServer() {
		return
	}
	go func() {
		for address := range addresses {
			conn, err := pgconn.Connect(context.Background(), address)
			connections <- connection{conn, err}
		}
	}()
}

func (s *schemas) url(name string) string {
	u, err := url.Parse(s.address)
	if err != nil {
		panic(err) // a connection was made with it
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

// begin connects, and removes what processes left that are gone.
func (s *schemas) begin(t testing.TB) {
	if s.conn != nil {
		return
	}
	if s.address = os.Getenv(Env); s.address == "postgres" {
		s.address = postgrestest.Shared(t).URL()
	}
	addresses <- s.address
	made := <-connections
	if made.err != nil {
		t.Fatalf("%s: %v", Env, made.err)
	}
	s.conn = made.conn
	s.id = rand.Uint32()
	if err := s.run(fmt.Sprintf("SELECT pg_advisory_lock(1, %d); SET client_min_messages = error", int32(s.id))); err != nil {
		t.Fatal(err)
	}
	left := `DO $$ DECLARE s TEXT; BEGIN
		FOR s IN SELECT nspname FROM pg_namespace WHERE nspname ~ '^dbtest_[0-9]+_' LOOP
			IF pg_try_advisory_xact_lock(1, CAST(split_part(s, '_', 2) AS BIGINT)::bit(32)::int) THEN EXECUTE 'DROP SCHEMA ' || s || ' CASCADE'; END IF;
		END LOOP; END $$`
	if err := s.run(left); err != nil {
		t.Fatal(err)
	}
	if _, err := s.make("template"); err != nil {
		t.Fatal(err)
	}
}

func (s *schemas) run(statements string) error {
	if err := s.conn.Exec(context.Background(), statements).Close(); err != nil {
		return fmt.Errorf("%.60s: %w", statements, err)
	}
	return nil
}

func (s *schemas) name(of string) string { return fmt.Sprintf("dbtest_%d_%s", s.id, of) }

// make makes a schema with the newest tables.
func (s *schemas) make(of string) (name string, err error) {
	name = s.name(of)
	if err := s.run("CREATE SCHEMA " + name); err != nil {
		return "", err
	}
	d, err := db.OpenServer(context.Background(), s.url(name))
	if err != nil {
		return "", err
	}
	return name, d.Close()
}

func (s *schemas) take() (name string, err error) {
	if last := len(s.free) - 1; last >= 0 {
		name, s.free = s.free[last], s.free[:last]
		return name, nil
	}
	s.made++
	return s.make(fmt.Sprint(s.made))
}

// empties makes a schema as the template is: the rows of all tables, and the numbers that come next. It fails when a test has
// changed the tables.
const empties = `DO $$ DECLARE t TEXT; held BOOLEAN; BEGIN
	SET LOCAL session_replication_role = replica;
	IF (SELECT string_agg(format('%s.%s', relname, attname), ' ' ORDER BY relname, attnum) FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid WHERE relnamespace = 'SCHEMA'::regnamespace)
			<> (SELECT string_agg(format('%s.%s', relname, attname), ' ' ORDER BY relname, attnum) FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid WHERE relnamespace = 'TEMPLATE'::regnamespace)
		OR (SELECT COUNT(*) FROM pg_trigger WHERE tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'SCHEMA'::regnamespace))
			<> (SELECT COUNT(*) FROM pg_trigger WHERE tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'TEMPLATE'::regnamespace)) THEN
		RAISE EXCEPTION 'changed';
	END IF;
	FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'SCHEMA'::regnamespace AND relkind = 'r' LOOP
		EXECUTE format('SELECT EXISTS (SELECT 1 FROM SCHEMA.%I)', t) INTO held;
		IF held THEN EXECUTE format('DELETE FROM SCHEMA.%I', t); END IF;
		EXECUTE format('INSERT INTO SCHEMA.%I SELECT * FROM TEMPLATE.%I', t, t);
	END LOOP;
	FOR t IN SELECT relname FROM pg_class WHERE relnamespace = 'SCHEMA'::regnamespace AND relkind = 'S' LOOP
		EXECUTE format('SELECT setval(%L, last_value, is_called) FROM TEMPLATE.%I', 'SCHEMA.' || t, t);
	END LOOP;
END $$`

func (s *schemas) giveBack(name string) error {
	if s.run(strings.NewReplacer("SCHEMA", name, "TEMPLATE", s.name("template")).Replace(empties)) != nil {
		return s.run("DROP SCHEMA " + name + " CASCADE")
	}
	s.free = append(s.free, name)
	return nil
}
