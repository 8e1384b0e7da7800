package db_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// firstShared is the schema version from which on replicas of two programs may work on one database.
const firstShared = 38

// contracts reports what in the SQL of a migration a program from before it cannot live with; empty when it only adds.
func contracts(up string) string {
	up = regexp.MustCompile(`(?m)--.*$`).ReplaceAllString(up, "")
	if found := regexp.MustCompile(`(?i)\b(DROP\s+(TABLE|COLUMN|TRIGGER|FUNCTION)|RENAME|ALTER\s+COLUMN)\b`).FindString(up); found != "" {
		return found
	}
	for _, column := range regexp.MustCompile(`(?is)ADD\s+COLUMN[^;]*`).FindAllString(up, -1) {
		if upper := strings.ToUpper(column); strings.Contains(upper, "NOT NULL") && !strings.Contains(upper, "DEFAULT") {
			return column
		}
	}
	for _, index := range regexp.MustCompile(`(?is)CREATE\s+UNIQUE\s+INDEX\s+(?:CONCURRENTLY\s+|IF\s+NOT\s+EXISTS\s+)*\w+\s+ON\s+(\w+)`).FindAllStringSubmatch(up, -1) {
		if !regexp.MustCompile(`(?i)CREATE\s+TABLE\s+` + index[1] + `\b`).MatchString(up) {
			return index[0]
		}
	}
	return ""
}

// raises finds the floor that a migration sets.
var raises = regexp.MustCompile(`(?i)UPDATE\s+facts\s+SET\s+value\s*=\s*'(\d+)'\s+WHERE\s+name\s*=\s*'schema_floor'`)

func TestMigrationsTakeAwayOnlyWhereTheyRaiseTheFloor(t *testing.T) {
	var files []string
	for _, pattern := range []string{"migrations/*.sql", "migrations/*/*.sql"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatal("no migrations")
	}
	for _, file := range files {
		number, err := strconv.Atoi(filepath.Base(file)[:5])
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		raised := raises.FindStringSubmatch(up)
		what := contracts(up)
		switch {
		case number <= firstShared:
		case what != "" && raised == nil:
			t.Errorf("%s takes away what programs before it use (%s): leave that to the release after, and raise schema_floor there (CONTRIBUTING, \"A migration\")", file, what)
		case raised != nil:
			if floor, err := strconv.Atoi(raised[1]); err != nil || floor > number || floor <= firstShared {
				t.Errorf("%s raises schema_floor to %s, which is no version after %d and up to its own", file, raised[1], firstShared)
			}
		}
	}
}

func TestWhatAMigrationTakesAway(t *testing.T) {
	for name, c := range map[string]struct {
		up    string
		takes bool
	}{
		"a new table":                 {"CREATE TABLE a (b TEXT NOT NULL); CREATE UNIQUE INDEX a_b ON a (b);", false},
		"a column with a default":     {"ALTER TABLE a ADD COLUMN b BIGINT NOT NULL DEFAULT 0;", false},
		"a column that may be empty":  {"ALTER TABLE a ADD COLUMN b TEXT;", false},
		"another index":               {"DROP INDEX a_b; CREATE INDEX a_c ON a (c);", false},
		"a comment":                   {"-- DROP TABLE a\nCREATE TABLE b (c TEXT);", false},
		"a table":                     {"DROP TABLE a;", true},
		"a column":                    {"ALTER TABLE a DROP COLUMN b;", true},
		"a name":                      {"ALTER TABLE a RENAME COLUMN b TO c;", true},
		"a column without a default":  {"ALTER TABLE a ADD COLUMN b BIGINT NOT NULL;", true},
		"room for two of the same":    {"CREATE UNIQUE INDEX a_b ON a (b);", true},
		"a trigger that others count": {"drop trigger a_added;", true},
	} {
		if got := contracts(c.up); (got != "") != c.takes {
			t.Errorf("%s: found %q", name, got)
		}
	}
}
