package movein

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestFile bounds config.ini and the mapping file, in bytes.
const longestFile = 8 << 20

// ini is a file as Python's configparser reads it with its defaults: options in lower case, parted from values by
// = or :, comments on lines of their own, values that go on in lines indented deeper, %(other)s for the value of
// another option and %% for a percent sign. Of an option that is there twice the last one counts.
type ini struct {
	names    []string // of the sections, in the order of the file
	sections map[string]map[string]string
}

// defaults is the section whose options every other one has.
const defaults = "DEFAULT"

// readINI reads a file. Its errors name the file and the line, and quote nothing: lines may hold secrets.
func readINI(path string) (*ini, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	file, err := parseINI(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// readFile reads a text file of at most longestFile bytes.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", path, err)
	}
	if info.Size() > longestFile || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file of at most %d MiB", path, longestFile>>20)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%s is no UTF-8 text: save it as UTF-8", path)
	}
	return text, nil
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func parseINI(text []byte) (*ini, error) {
	file := &ini{sections: map[string]map[string]string{}}
	var options map[string]string // of the section
	var values []string           // lines of the value that a deeper line goes on with
	option, indent := "", 0
	end := func() {
		if option != "" {
			options[option] = strings.TrimRight(strings.Join(values, "\n"), "\n")
		}
		option = ""
	}
	number := 0
	for line := range strings.SplitSeq(lineEnds.Replace(string(text)), "\n") {
		number++
		value := strings.TrimSpace(line)
		deep := len(line) - len(strings.TrimLeftFunc(line, unicode.IsSpace))
		switch {
		case value == "":
			values = append(values, "") // it may stand within a value
		case value[0] == '#' || value[0] == ';':
		case option != "" && deep > indent:
			values = append(values, value)
		case value[0] == '[' && strings.LastIndexByte(value, ']') > 1:
			end()
			name := value[1:strings.LastIndexByte(value, ']')]
			if file.sections[name] == nil {
				file.sections[name] = map[string]string{}
				file.names = append(file.names, name)
			}
			options = file.sections[name]
		case options == nil:
			return nil, fmt.Errorf("line %d: stands before the first [section]", number)
		default:
			end()
			at := strings.IndexAny(value, "=:")
			if at < 1 {
				return nil, fmt.Errorf("line %d: is no section, no option = value and no comment", number)
			}
			option, indent = strings.ToLower(strings.TrimSpace(value[:at])), deep
			values = append(values[:0], strings.TrimSpace(value[at+1:]))
		}
	}
	end()
	return file, nil
}

// has reports whether the file has the section.
func (f *ini) has(section string) bool { return f.sections[section] != nil }

// options are the options of a section itself, with their values as written.
func (f *ini) options(section string) map[string]string { return f.sections[section] }

// get is the value of an option; empty when it is not there. What refers to something that is not there, or goes round in
// circles, stays as written.
func (f *ini) get(section, option string) string {
	budget := mostReferences
	return f.expand(section, option, &budget)
}

// mostReferences bounds what one value may refer to, directly or not, and longestValue what comes of it, in bytes.
const (
	mostReferences = 100
	longestValue   = 64 << 10
)

var reference = regexp.MustCompile(`%%|%\(([^()]+)\)s`)

func (f *ini) expand(section, option string, budget *int) string {
	value, found := f.sections[section][option]
	if !found {
		value = f.sections[defaults][option]
	}
	if len(value) > longestValue {
		return value
	}
	return reference.ReplaceAllStringFunc(value, func(found string) string {
		if found == "%%" {
			return "%"
		}
		if *budget--; *budget < 0 {
			return found
		}
		other := f.expand(section, strings.ToLower(found[2:len(found)-2]), budget)
		if other == "" || len(other) > longestValue {
			return found
		}
		return other
	})
}
