package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

func (s *server) tables(ctx context.Context) ([]Table, error) {
	const ours = ` WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind = 'r'`
	return schemaOf(ctx, s.reader, func(declared string) (Type, error) {
		switch declared {
		case "int8":
			return Integer, nil
		case "float8":
			return Real, nil
		case "text":
			return Text, nil
		case "bytea":
			return Bytes, nil
		}
		return "", fmt.Errorf("the type %q is not known", declared)
	}, `SELECT CAST(c.relname AS TEXT), CAST(a.attname AS TEXT), CAST(t.typname AS TEXT), CAST(COALESCE(array_position(string_to_array(CAST(k.indkey AS TEXT), ' '), CAST(a.attnum AS TEXT)), 0) AS BIGINT)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped JOIN pg_type t ON t.oid = a.atttypid
		LEFT JOIN pg_index k ON k.indrelid = c.oid AND k.indisprimary`+ours+` ORDER BY c.relname, a.attnum`,
		`SELECT CAST(c.relname AS TEXT), CAST(o.relname AS TEXT) FROM pg_class c JOIN pg_constraint r ON r.conrelid = c.oid AND r.contype = 'f' JOIN pg_class o ON o.oid = r.confrelid`+ours)
}

func (s *server) triggers() string {
	return `SELECT pg_get_triggerdef(g.oid), 'DROP TRIGGER ' || g.tgname || ' ON ' || c.relname FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
		WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND NOT g.tgisinternal ORDER BY g.tgname`
}

// continueIDs has every table give the id after its largest.
func (s *server) continueIDs(ctx context.Context, tx *sql.Tx) error {
	type identity struct{ table, column string }
	all, err := All(ctx, tx, "read the identities", func(row Row) (one identity, err error) {
		err = row.Scan(&one.table, &one.column)
		return one, err
	}, `SELECT CAST(c.relname AS TEXT), CAST(a.attname AS TEXT) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attidentity <> ''
		WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind = 'r'`)
	if err != nil {
		return err
	}
	for _, one := range all {
		_, err := tx.ExecContext(ctx, `SELECT setval(pg_get_serial_sequence('`+one.table+`', '`+one.column+`'), COALESCE((SELECT MAX(`+one.column+`) FROM `+one.table+`), 0) + 1, false)`)
		if err != nil {
			return fmt.Errorf("continue the ids of %s: %w", one.table, err)
		}
	}
	return nil
}

func (s *server) snapshot(ctx context.Context, read func(ctx context.Context, from Querier) error) error {
	pool := s.dial.pool(1, begins{reads: true, snapshot: true})
	return errors.Join(oneState(ctx, pool, read), pool.Close())
}

// LookAtServer opens a database on a server to be read, and leaves it as it is: its SchemaVersion may be that of another program, and is 0
// where none has made anything yet.
func LookAtServer(ctx context.Context, address string) (d *DB, err error) {
	to, err := dialTo(address)
	if err != nil {
		return nil, err
	}
	s := &server{dial: to}
	s.closing, s.end = context.WithCancel(context.Background())
	d = s.opened(0)
	var there bool
	err = d.reader.QueryRowContext(ctx, `SELECT to_regclass('goose_db_version') IS NOT NULL`).Scan(&there)
	if err == nil && there {
		err = d.reader.QueryRowContext(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version`).Scan(&d.schema)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("look at the database server: %w", err), d.Close())
	}
	return d, nil
}
