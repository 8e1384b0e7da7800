package db

import (
	"context"
	"database/sql"
	"fmt"
)

// Snapshot has read see one state of the database, however long it reads and whatever others write meanwhile.
func (d *DB) Snapshot(ctx context.Context, read func(ctx context.Context, from Querier) error) error {
	return d.snapshot(ctx, read)
}

// oneState runs read in a transaction that is not committed.
func oneState(ctx context.Context, pool *sql.DB, read func(ctx context.Context, from Querier) error) error {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin to read: %w", explained(err))
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	return read(ctx, tx)
}

// Triggers are those of the schema. Who fills tables with what triggers have done already elsewhere drops them meanwhile.
func (d *DB) Triggers(ctx context.Context) ([]Trigger, error) {
	return All(ctx, d.reader, "read the triggers", func(row Row) (t Trigger, err error) {
		err = row.Scan(&t.Make, &t.Drop)
		return t, err
	}, d.triggers())
}

// ContinueIDs has rows that are inserted without an id get larger ones than all that are there, after rows were inserted with theirs.
func (d *DB) ContinueIDs(ctx context.Context, tx *sql.Tx) error { return d.continueIDs(ctx, tx) }
