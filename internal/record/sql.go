package record

import (
	"context"
	"database/sql"
	"fmt"
)

// SQL about records for the statements of those who keep other tables: id and question are expressions of such a statement.

// StatusOf is the status of a record.
func StatusOf(id string) string {
	return `(SELECT records.status FROM records WHERE records.id = ` + id + `)`
}

// UserOf is the media-server user of a record.
func UserOf(id string) string {
	return `(SELECT records.user_name FROM records WHERE records.id = ` + id + `)`
}

// IsAwaited holds for a question that a record waits for.
func IsAwaited(question string) string {
	return `EXISTS (SELECT 1 FROM records WHERE records.question_id = ` + question + ` AND records.status = 'review')`
}

// querier is the database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// idsOf are the ids that a query selects.
func idsOf(ctx context.Context, from querier, query string, args ...any) ([]int64, error) {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	defer func() { _ = rows.Close() }() // its error is that of rows.Err
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("list records: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}
