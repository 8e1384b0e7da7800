package app_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rooms are the folders of internal, from the ground up: a room uses itself and those before it. Tests may use any.
var rooms = []string{"platform", "watch", "catalog", "match", "record", "source", "tell", "engine", "upkeep", "door", "app", "testkit"}

// tools are the folders whose programs build the service and are no part of it; gen are such programs beside what they make.
const tools, gen = "tools", "gen"

// simulators are the only parts of the program that may use testkit.
var simulators = []string{"internal/app/demo", "cmd/watchmark/simulate.go"}

func TestRoomsUseWhatIsBelow(t *testing.T) {
	top := filepath.Join("..", "..")
	err := filepath.WalkDir(top, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		file, err = filepath.Rel(top, file)
		if err != nil {
			return err
		}
		file = filepath.ToSlash(file)
		parts := strings.Split(file, "/")
		place := len(rooms) // outside of internal everything may be used
		if parts[0] == "internal" && parts[1] != tools {
			if place = slices.Index(rooms, parts[1]); place < 0 {
				t.Errorf("%s stands in no room: the rooms are %v", file, rooms)
				return nil
			}
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(top, file), nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			name, ours := strings.CutPrefix(name, "watchmark/internal/")
			room, _, _ := strings.Cut(name, "/")
			simulates := slices.ContainsFunc(simulators, func(s string) bool { return strings.HasPrefix(file, s) }) ||
				strings.HasPrefix(file, "internal/testkit/")
			switch {
			case !ours:
			case room == tools && parts[1] != tools && !slices.Contains(parts, gen):
				t.Errorf("%s imports %s: the program uses no tools", file, name)
			case room == "testkit" && !simulates:
				t.Errorf("%s imports %s: only tests and %v may use testkit", file, name, simulators)
			case slices.Index(rooms, room) > place && !simulates:
				t.Errorf("%s imports %s: a room uses those before it in %v", file, name, rooms)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
