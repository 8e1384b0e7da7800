package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"watchmark/internal/platform/reason"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// largestFile bounds watchmark.toml, in bytes; the example file has about 16,000.
const largestFile = 256 << 10

// readFile reads the file at path, within largestFile.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read from
	doc, err := io.ReadAll(io.LimitReader(f, largestFile+1))
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	if len(doc) > largestFile {
		return nil, fmt.Errorf("read settings: %s is larger than %d KiB", path, largestFile>>10)
	}
	return doc, nil
}

// parseFile reads the keys set in doc, which messages call by name.
func parseFile(name string, doc []byte) (map[string]any, Errors) {
	doc = bytes.TrimPrefix(doc, []byte("\xef\xbb\xbf")) // some editors write a byte order mark
	var tree map[string]any
	if err := toml.Unmarshal(doc, &tree); err != nil {
		e := &reason.FieldError{Field: "file", Where: name, What: reason.Text(strings.TrimPrefix(err.Error(), "toml: "))}
		var decode *toml.DecodeError
		if errors.As(err, &decode) {
			row, column := decode.Position()
			e.Where = fmt.Sprintf("%s line %d, column %d", name, row, column)
		}
		return nil, Errors{e}
	}

	known := options()
	line := keyLines(doc)
	values := map[string]any{}
	var errs Errors
	report := func(path string, e *reason.FieldError) {
		e.Where = fmt.Sprintf("%s line %d", name, line[path])
		errs = append(errs, e)
	}
	for section, inside := range tree {
		keys, isSection := inside.(map[string]any)
		if !isSection {
			report(section, outsideSections(section))
			continue
		}
		if !isSectionName(section) {
			report(section, unknownSection(section))
			continue
		}
		for key, raw := range keys {
			path := section + "." + key
			o, ok := known[path]
			if !ok {
				report(path, unknownKey(section, key))
				continue
			}
			value, err := o.parse(raw)
			if err != nil {
				report(path, &reason.FieldError{Field: path, What: reason.Of(err)})
				continue
			}
			values[path] = value
		}
	}
	return values, errs.byKey()
}

// keyLines tells on which line each section and each section.key of doc, which
// is valid TOML, is first written.
func keyLines(doc []byte) map[string]int {
	lines := map[string]int{}
	line, offset := 1, 0
	var p unstable.Parser
	p.Reset(doc)
	var header []string
	for p.NextExpression() {
		e := p.Expression()
		isHeader := e.Kind == unstable.Table || e.Kind == unstable.ArrayTable
		if !isHeader && e.Kind != unstable.KeyValue {
			continue
		}
		var names []string
		if !isHeader {
			names = append(names, header...)
		}
		start := -1
		for key := e.Key(); key.Next(); {
			if start < 0 {
				start = int(key.Node().Raw.Offset)
			}
			names = append(names, string(key.Node().Data))
		}
		line += bytes.Count(doc[offset:start], []byte("\n"))
		offset = start
		if isHeader {
			header = names
		}
		noteLine(lines, names, line)
		if v := e.Value(); !isHeader && v.Kind == unstable.InlineTable {
			for pairs := v.Children(); pairs.Next(); {
				inner := slices.Clone(names)
				for key := pairs.Node().Key(); key.Next(); {
					inner = append(inner, string(key.Node().Data))
				}
				noteLine(lines, inner, line)
			}
		}
	}
	return lines
}

// noteLine keeps the line of a key and of its section, where they are new.
func noteLine(lines map[string]int, names []string, line int) {
	for depth := 1; depth <= min(len(names), 2); depth++ {
		path := strings.Join(names[:depth], ".")
		if _, known := lines[path]; !known {
			lines[path] = line
		}
	}
}
