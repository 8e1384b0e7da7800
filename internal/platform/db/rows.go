package db

import (
	"context"
	"database/sql"
	"fmt"
)

// Querier is what reads: the pool of readers, or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Row is a row of an answer.
type Row interface{ Scan(into ...any) error }

// Each hands the rows that a query answers to read. what says in an error what was done, such as "list records".
func Each(ctx context.Context, from Querier, what string, read func(Row) error, query string, args ...any) error {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer func() { _ = rows.Close() }() // its error is that of rows.Err
	for rows.Next() {
		if err := read(rows); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// All are the rows that a query answers, each as read makes it, and never nil without an error. It is Each otherwise.
func All[T any](ctx context.Context, from Querier, what string, read func(Row) (T, error), query string, args ...any) ([]T, error) {
	all := []T{}
	err := Each(ctx, from, what, func(row Row) error {
		one, err := read(row)
		all = append(all, one)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Values are the rows of a query of one column.
func Values[T any](ctx context.Context, from Querier, what, query string, args ...any) ([]T, error) {
	return All(ctx, from, what, func(row Row) (value T, err error) {
		err = row.Scan(&value)
		return value, err
	}, query, args...)
}
