package db_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	added := map[string]bool{}
	for _, column := range regexp.MustCompile(`(?i)ADD\s+COLUMN\s+(\w+)`).FindAllStringSubmatch(up, -1) {
		added[column[1]] = true
	}
	for _, index := range regexp.MustCompile(`(?is)CREATE\s+UNIQUE\s+INDEX\s+(?:CONCURRENTLY\s+|IF\s+NOT\s+EXISTS\s+)*\w+\s+ON\s+(\w+)\s+\(([^;]*)\)`).FindAllStringSubmatch(up, -1) {
		// What was unique already stays so when the constraint goes for an index with columns more.
		var before []string
		for column := range strings.SplitSeq(regexp.MustCompile(`(?i)COALESCE\s*\(\s*(\w+)[^)]*\)`).ReplaceAllString(index[2], "$1"), ",") {
			if column = strings.TrimSpace(column); !added[column] {
				before = append(before, column)
			}
		}
		wider := regexp.MustCompile(`(?i)ALTER\s+TABLE\s+` + index[1] + `\s+DROP\s+CONSTRAINT\s+` + index[1] + "_" + strings.Join(before, "_") + `_key\b`).MatchString(up)
		if !wider && !regexp.MustCompile(`(?i)CREATE\s+TABLE\s+`+index[1]+`\b`).MatchString(up) {
			return index[0]
		}
	}
	return ""
}

// raises finds the floor that a migration sets.
var raises = regexp.MustCompile(`(?i)UPDATE\s+facts\s+SET\s+value\s*=\s*'(\d+)'\s+WHERE\s+name\s*=\s*'schema_floor'`)

// reads is what a file does, and how it raises the floor.
func reads(t *testing.T, file string) (up string, raised []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	up, _, _ = strings.Cut(string(text), "-- +goose Down")
	return up, raises.FindStringSubmatch(up)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func TestMigrationsTakeAwayOnlyWhereTheyRaiseTheFloor(t *testing.T) {
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal("no migrations", err)
	}
	for _, file := range files {
		number, err := strconv.Atoi(filepath.Base(file)[:5])
		if err != nil {
			t.Fatal(err)
		}
		up, raised := reads(t, file)
		// Two programs are only ever on a server, where a file of its own takes the place of this one.
		if own := filepath.Join("migrations", "postgres", filepath.Base(file)); exists(own) {
			inFolder := raised
			if up, raised = reads(t, own); !slices.Equal(raised, inFolder) {
				t.Errorf("%s raises schema_floor as %s does not: a database may move", file, own)
			}
		}
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
		"room for more of the same":   {"ALTER TABLE a ADD COLUMN c BIGINT; ALTER TABLE a DROP CONSTRAINT a_b_key; CREATE UNIQUE INDEX a_b ON a (COALESCE(c, 0), b);", false},
		"another constraint":          {"ALTER TABLE a ADD COLUMN c BIGINT; ALTER TABLE a DROP CONSTRAINT a_d_key; CREATE UNIQUE INDEX a_b ON a (COALESCE(c, 0), b);", true},
		"a constraint with more":      {"ALTER TABLE a ADD COLUMN c BIGINT; ALTER TABLE a DROP CONSTRAINT a_b_d_key; CREATE UNIQUE INDEX a_b ON a (COALESCE(c, 0), b);", true},
		"no constraint before":        {"ALTER TABLE a ADD COLUMN c BIGINT; CREATE UNIQUE INDEX a_b ON a (COALESCE(c, 0), b);", true},
	} {
		if got := contracts(c.up); (got != "") != c.takes {
			t.Errorf("%s: found %q", name, got)
		}
	}
}
