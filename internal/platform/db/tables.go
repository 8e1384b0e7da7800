package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Table is a table of the schema, for who copies a database whole.
type Table struct {
	Name    string
	Columns []Column
	// Key are the columns of its primary key.
	Key []string
	// refers are the tables that its foreign keys lead to.
	refers []string
}

// Column is a column of a table.
type Column struct {
	Name string
	Type Type
}

// Type is what a column holds.
type Type string

// The types.
const (
	Integer Type = "integer" // int64
	Real    Type = "real"    // float64
	Text    Type = "text"
	Bytes   Type = "bytes"
)

// Trigger is a trigger of the schema, as the statements that make it and drop it.
type Trigger struct{ Make, Drop string }

// Tables are the tables of the schema, but for that of the migrations, by name, each behind those that its foreign keys lead to.
func (d *DB) Tables(ctx context.Context) ([]Table, error) {
	left, err := d.tables(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", explained(err))
	}
	slices.SortFunc(left, func(a, b Table) int { return strings.Compare(a.Name, b.Name) })
	var ordered []Table
	for len(left) > 0 {
		ready := slices.IndexFunc(left, func(t Table) bool {
			return !slices.ContainsFunc(left, func(other Table) bool { return other.Name != t.Name && slices.Contains(t.refers, other.Name) })
		})
		if ready < 0 {
			return nil, fmt.Errorf("the foreign keys of the table %s lead back to it", left[0].Name)
		}
		if len(left[ready].Key) == 0 {
			return nil, fmt.Errorf("the table %s has no primary key", left[ready].Name)
		}
		ordered = append(ordered, left[ready])
		left = slices.Delete(left, ready, ready+1)
	}
	return ordered, nil
}

// schemaOf gathers tables from the rows of two queries: columns in their order (table, column, type, place in the key or 0), and foreign
// keys (table, the one it leads to).
func schemaOf(ctx context.Context, from Querier, types func(declared string) (Type, error), columns, references string) ([]Table, error) {
	byName := map[string]*Table{}
	keys := map[string]map[int]string{}
	var names []string
	err := Each(ctx, from, "read the columns", func(row Row) error {
		var table, declared string
		var c Column
		var place int
		if err := row.Scan(&table, &c.Name, &declared, &place); err != nil {
			return err
		}
		if strings.HasPrefix(table, "goose_") { // of the migrations
			return nil
		}
		var err error
		if c.Type, err = types(declared); err != nil {
			return fmt.Errorf("column %s of %s: %w", c.Name, table, err)
		}
		if byName[table] == nil {
			byName[table], keys[table] = &Table{Name: table}, map[int]string{}
			names = append(names, table)
		}
		byName[table].Columns = append(byName[table].Columns, c)
		if place > 0 {
			keys[table][place] = c.Name
		}
		return nil
	}, columns)
	if err != nil {
		return nil, err
	}
	err = Each(ctx, from, "read the foreign keys", func(row Row) error {
		var table, other string
		if err := row.Scan(&table, &other); err != nil {
			return err
		}
		byName[table].refers = append(byName[table].refers, other)
		return nil
	}, references)
	if err != nil {
		return nil, err
	}
	all := make([]Table, len(names))
	for i, name := range names {
		all[i] = *byName[name]
		for place := 1; place <= len(keys[name]); place++ {
			all[i].Key = append(all[i].Key, keys[name][place])
		}
	}
	return all, nil
}
