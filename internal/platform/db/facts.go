package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
)

// schemaFloor is the fact that migrations and RaiseFloor write.
const schemaFloor = "schema_floor"

// Fact is what holds for the whole database, by name; empty when nothing was said.
func (d *DB) Fact(ctx context.Context, name string) (value string, err error) {
	return Fact(ctx, d.Read(), name)
}

// Fact is DB.Fact, within a transaction for one.
func Fact(ctx context.Context, from Querier, name string) (value string, err error) {
	err = from.QueryRowContext(ctx, `SELECT value FROM facts WHERE name = ?`, name).Scan(&value)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read the fact %s: %w", name, explained(err))
	}
	return value, nil
}

// FactsTable is the name of their table.
const FactsTable = "facts"

// Facts are all facts by name.
func (d *DB) Facts(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	err := Each(ctx, d.Read(), "read the facts", func(row Row) error {
		var name, value string
		err := row.Scan(&name, &value)
		all[name] = value
		return err
	}, `SELECT name, value FROM facts`)
	return all, err
}

// SetFacts replaces all facts.
func SetFacts(ctx context.Context, tx *sql.Tx, all map[string]string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM facts`); err != nil {
		return fmt.Errorf("forget the facts: %w", err)
	}
	for name, value := range all {
		if err := SetFact(ctx, tx, name, value); err != nil {
			return err
		}
	}
	return nil
}

// SetFact says what holds for the whole database.
func SetFact(ctx context.Context, tx *sql.Tx, name, value string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
	if err != nil {
		return fmt.Errorf("store the fact %s: %w", name, err)
	}
	return nil
}

// SchemaFloor is the oldest schema version that a program may know to work on this database.
func (d *DB) SchemaFloor(ctx context.Context) (int64, error) { return floor(ctx, d.Read()) }

// RaiseFloor has only programs that know a schema version work on this database from now on.
func RaiseFloor(ctx context.Context, tx *sql.Tx, version int64) error {
	oldest, err := floor(ctx, tx)
	if err != nil || oldest >= version {
		return err
	}
	return SetFact(ctx, tx, schemaFloor, strconv.FormatInt(version, 10))
}

func floor(ctx context.Context, from Querier) (int64, error) {
	text, err := Fact(ctx, from, schemaFloor)
	if err != nil {
		return 0, err
	}
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the schema floor: %w", err)
	}
	return version, nil
}

// mayRun returns an error when a program that knows the schema up to knows must not work on a database that has a newer one.
func mayRun(ctx context.Context, from Querier, has, knows int64) error {
	oldest, err := floor(ctx, from)
	if err != nil {
		return err
	}
	if oldest > knows {
		return fmt.Errorf("the database has schema version %d, which programs from version %d on can use; this one knows up to %d: run the newer program", has, oldest, knows)
	}
	return nil
}
