package db

import (
	"database/sql/driver"
	"strings"
	"unicode/utf8"
)

// clean replaces in texts what PostgreSQL cannot store, so that both engines store the same: NUL and what is no UTF-8 become U+FFFD.
func clean(args []driver.NamedValue) {
	for i := range args {
		if text, is := args[i].Value.(string); is && (strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text)) {
			args[i].Value = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
		}
	}
}
