package dbtest

import (
	"context"
	"io/fs"
	"os"
	"testing"
)

// Kept is all that a data folder and its database keep, by place: the files, and the rows of the tables of a server. It is for
// tests of what must not stand there.
func Kept(t testing.TB, dir string) map[string]string {
	t.Helper()
	kept := map[string]string{}
	files := os.DirFS(dir)
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, path)
		kept["file "+entry.Name()] = string(content)
		return err
	})
	if err == nil && OnServer() {
		address(t, dir)
		err = ours.rows(dir, kept)
	}
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// rows adds the rows of the tables that stand for a data folder.
func (s *schemas) rows(dir string, kept map[string]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := s.used[dir]
	tables, err := s.column("SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = '" + name + "'::regnamespace")
	if err != nil {
		return err
	}
	for _, table := range tables {
		rows, err := s.column("SELECT string_agg(CAST(held AS TEXT), ' ') FROM " + name + "." + table + " AS held")
		if err != nil {
			return err
		}
		kept["table "+table] = rows[0]
	}
	return nil
}

// column is the first column of what a statement answers.
func (s *schemas) column(statement string) (values []string, err error) {
	answers, err := s.conn.Exec(context.Background(), statement).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, row := range answers[0].Rows {
		values = append(values, string(row[0]))
	}
	return values, nil
}
