package db

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

func (f *folder) tables(ctx context.Context) ([]Table, error) {
	const ours = ` WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\'`
	return schemaOf(ctx, f.reader, func(declared string) (Type, error) {
		switch strings.ToUpper(declared) {
		case "INTEGER", "BIGINT":
			return Integer, nil
		case "REAL", "DOUBLE PRECISION":
			return Real, nil
		case "TEXT":
			return Text, nil
		case "BLOB":
			return Bytes, nil
		}
		return "", fmt.Errorf("the type %q is not known", declared)
	}, `SELECT m.name, c.name, c.type, c.pk FROM sqlite_master m JOIN pragma_table_info(m.name) c`+ours+` ORDER BY m.name, c.cid`,
		`SELECT m.name, r."table" FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) r`+ours)
}

func (f *folder) triggers() string {
	return `SELECT sql, 'DROP TRIGGER ' || name FROM sqlite_master WHERE type = 'trigger' ORDER BY name`
}

// continueIDs has nothing to do: SQLite takes the id after the largest.
func (f *folder) continueIDs(context.Context, *sql.Tx) error { return nil }

func (f *folder) snapshot(ctx context.Context, read func(ctx context.Context, from Querier) error) error {
	return oneState(ctx, f.reader, read)
}
