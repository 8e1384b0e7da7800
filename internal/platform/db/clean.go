package db

import (
	"database/sql/driver"
	"strings"
	"unicode/utf8"
)

// Clean replaces in a text what PostgreSQL cannot store, so that both engines store the same: NUL and what is no UTF-8 become U+FFFD.
func Clean(text string) string {
	if strings.IndexByte(text, 0) < 0 && utf8.ValidString(text) {
		return text
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// clean cleans the texts among the arguments of a statement.
func clean(args []driver.NamedValue) {
	for i := range args {
		if text, is := args[i].Value.(string); is {
			args[i].Value = Clean(text)
		}
	}
}
