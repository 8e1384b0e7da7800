package nas

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
)

// schema is what the library's tables turned out to have. The vendor publishes none, and
// it changes with releases, so every column is looked for (upstreams/nas.md, section 2).
type schema map[string][]string // lower-case names of columns by table

// tables are those that are looked at.
var tables = []string{"item_user_play", "item", "user", "media_stream", "item_media"}

// needed are the columns without which nothing can be told.
var needed = map[string][]string{
	"item_user_play": {"item_guid", "user_guid", "watched", "update_time"},
	"item":           {"guid", "title"},
}

// wanted are columns that reading gets along without, with what is lost.
var wanted = []struct {
	table, column string
	loss          *reason.Kind
}{
	{"item_user_play", "visible", hiddenToo},
	{"item_user_play", "ts", onlyMarked},
	{"item", "type", kindsByNumbers},
	{"item", "parent_guid", onlyFilms},
	{"item", "season_number", seasonsByNames},
	{"item", "episode_number", episodesByNames},
	{"user", "guid", usersByIDs},
	{"user", "username", usersByIDs},
	{"user", "status", usersOffToo},
}

// probe learns the tables. It returns a *Problem for a database that is no library.
func (l *library) probe(ctx context.Context) error {
	l.schema = schema{}
	// Only these: a virtual table of a module that SQLite does not have here cannot be looked at.
	query := `SELECT lower(m.name), lower(c.name) FROM sqlite_master m, pragma_table_info(m.name) c
		WHERE m.type IN ('table', 'view') AND lower(m.name) IN ('` + strings.Join(tables, "', '") + "')"
	err := db.Each(ctx, l, "look at the tables", func(row db.Row) error {
		var table, column string
		err := row.Scan(&table, &column)
		l.schema[table] = append(l.schema[table], column)
		return err
	}, query)
	if err != nil {
		return err
	}
	return l.schema.check(l.path)
}

// check returns a *Problem that names what is missing and needed.
func (s schema) check(path string) error {
	for _, table := range []string{"item_user_play", "item"} {
		if !s.has(table) {
			return problem(Strange, nil, noTable.With(path, table))
		}
		for _, column := range needed[table] {
			if !s.has(table, column) {
				return problem(Strange, nil, noColumn.With(path, column, table))
			}
		}
	}
	return nil
}

// has reports whether there is a table with all of columns.
func (s schema) has(table string, columns ...string) bool {
	there, is := s[table]
	for _, column := range columns {
		is = is && slices.Contains(there, column)
	}
	return is
}

// missing says for each wanted column that is not there what is lost.
func (s schema) missing() []reason.Reason {
	lost := []reason.Reason{}
	for _, w := range wanted {
		if w.column == "season_number" && s.first("item", seasonColumns...) != "" || w.column == "episode_number" && s.first("item", episodeColumns...) != "" {
			continue
		}
		if !s.has(w.table, w.column) {
			lost = append(lost, columnMissing.With(w.table, w.column, w.loss))
		}
	}
	return lost
}

// The names that older releases gave to the numbers.
var (
	seasonColumns  = []string{"season_number", "parent_index_number", "season_index"}
	episodeColumns = []string{"episode_number", "index_number", "episode_index", "sort_index"}
)

// first is the first of columns that a table has; empty when it has none.
func (s schema) first(table string, columns ...string) string {
	for _, column := range columns {
		if s.has(table, column) {
			return column
		}
	}
	return ""
}

// The expressions below read a column whatever it holds: any column of SQLite may hold
// anything. Texts are bounded. A column that is not there is NULL, or the empty text.

// text is the first of columns that holds a text.
func (s schema) text(table string, columns ...string) string {
	var alternatives []string
	for _, column := range columns {
		if s.has(table, column) {
			alternatives = append(alternatives, fmt.Sprintf("NULLIF(substr(CAST(%q AS TEXT), 1, %d), '')", column, watch.MaxText))
		}
	}
	return "COALESCE(" + strings.Join(append(alternatives, "''", "''"), ", ") + ")"
}

// whole is the number in the first of columns that there is. What begins with no digit, as
// a negative number, is NULL: cast, it would be 0, which is a season.
func (s schema) whole(table string, columns ...string) string {
	return s.cast("INTEGER", table, columns)
}

// number is the same for one that may have a fraction.
func (s schema) number(table string, columns ...string) string { return s.cast("REAL", table, columns) }

func (s schema) cast(to, table string, columns []string) string {
	column := s.first(table, columns...)
	if column == "" {
		return "NULL"
	}
	return fmt.Sprintf("CASE WHEN CAST(%q AS TEXT) GLOB '[0-9]*' THEN CAST(%q AS %s) END", column, column, to)
}
