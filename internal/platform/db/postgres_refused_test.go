package db_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"watchmark/internal/platform/db"
	"watchmark/internal/testkit/postgrestest"
)

func TestWhatKeepsADatabaseFromBeingUsedIsSaidWithWhatToDo(t *testing.T) {
	cluster := postgrestest.Start(t)
	at := func(name, user string, query ...string) string {
		u, err := url.Parse(cluster.URL())
		if err != nil {
			t.Fatal(err)
		}
		u.Path, u.User = "/"+name, url.UserPassword(user, "s3cret-word")
		q := u.Query()
		for _, one := range query {
			key, value, _ := strings.Cut(one, "=")
			q.Set(key, value)
		}
		u.RawQuery = q.Encode()
		return u.String()
	}
	admin := func(name string, statements ...string) {
		t.Helper()
		conn, err := pgconn.Connect(t.Context(), at(name, "postgres"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
		for _, statement := range statements {
			if err := conn.Exec(t.Context(), statement).Close(); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
	admin("postgres", "CREATE ROLE mira LOGIN", "CREATE ROLE alex", "CREATE ROLE bench LOGIN",
		"CREATE DATABASE ascii OWNER mira ENCODING 'SQL_ASCII' TEMPLATE template0", "CREATE DATABASE latin OWNER mira ENCODING 'LATIN1' TEMPLATE template0",
		"CREATE DATABASE taken OWNER mira", "CREATE DATABASE mine OWNER mira", "CREATE DATABASE standby OWNER mira", "ALTER DATABASE standby SET default_transaction_read_only = on",
		"CREATE DATABASE crowded OWNER mira CONNECTION LIMIT 0")
	admin("taken", "CREATE TABLE records (id INT)")
	for name, c := range map[string]struct{ address, says string }{
		"a user who may not sign in":    {at("mine", "alex"), "look at its user and password"},
		"no such database":              {at("nowhere", "mira"), "create it with createdb"},
		"no TLS":                        {at("mine", "mira", "sslmode=require"), "speaks no TLS"},
		"a mode that there is not":      {at("mine", "mira", "sslmode=perhaps"), "sslmode, sslrootcert"},
		"no file of the authority":      {at("mine", "mira", "sslmode=verify-full", "sslrootcert=/nowhere/ca.pem"), "/nowhere/ca.pem"},
		"texts without an encoding":     {at("ascii", "mira"), "stores texts as SQL_ASCII"},
		"an encoding without Chinese":   {at("latin", "mira"), "stores texts as LATIN1"},
		"tables of another program":     {at("taken", "mira"), "tables of another program"},
		"a user without rights":         {at("mine", "bench"), "make it the owner"},
		"a server that takes no writes": {at("standby", "mira"), "takes no writes, as a standby does"},
		"no connection left":            {at("crowded", "mira"), "raise max_connections"},
	} {
		if _, err := db.OpenServer(t.Context(), c.address); err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}

	// What was taken away while the service runs is waited for: nothing fails for good by it.
	d, err := db.OpenServer(t.Context(), at("mine", "mira"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	add := func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO settings (key, value, updated_at) VALUES ('a', '1', 0) ON CONFLICT (key) DO NOTHING`)
		return err
	}
	defer func(trusted time.Duration) { *db.IdleTrusted = trusted }(*db.IdleTrusted)
	*db.IdleTrusted = 0 // as after a second in which nobody wrote
	const cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'mine'"
	for _, c := range []struct{ take, give, says string }{
		{"ALTER ROLE mira NOLOGIN", "ALTER ROLE mira LOGIN", "look at its user and password"},
		{"ALTER DATABASE mine CONNECTION LIMIT 0", "ALTER DATABASE mine CONNECTION LIMIT -1", "raise max_connections"},
		{"ALTER DATABASE mine RENAME TO moved", "ALTER DATABASE moved RENAME TO mine", "create it with createdb"},
	} {
		if strings.Contains(c.take, "RENAME") { // which nobody may be connected for
			admin("postgres", cut)
		}
		admin("postgres", c.take, cut)
		if err := d.WriteShared(t.Context(), add); !errors.Is(err, db.ErrStorage) || !strings.Contains(db.Problem(err), c.says) {
			t.Errorf("after %s: %v", c.take, err)
		}
		admin("postgres", c.give)
		if err := d.WriteShared(t.Context(), add); err != nil {
			t.Errorf("after %s: %v", c.give, err)
		}
	}
	admin("mine", "ALTER TABLE settings OWNER TO postgres")
	if err := d.Write(t.Context(), add); !errors.Is(err, db.ErrStorage) || !strings.Contains(db.Problem(err), "make it the owner") {
		t.Errorf("without rights to a table: %v", err)
	}
}
