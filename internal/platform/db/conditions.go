package db

import (
	"iter"
	"strings"
)

// In is the list behind IN for values, such as (?, ?), and its arguments; no values give a list
// that nothing is in. Lists come in few lengths, the last value again and again at their end,
// so that few statements are prepared.
func In[T any](values []T) (list string, args []any) {
	length := 1
	for length < len(values) {
		length *= 2
	}
	args = make([]any, length)
	for i := range args {
		if len(values) > 0 {
			args[i] = values[min(i, len(values)-1)]
		}
	}
	return "(?" + strings.Repeat(", ?", length-1) + ")", args
}

// Containing is the pattern behind LIKE ? ESCAPE '\' for what has text in it; upper and lower
// case are the same in ASCII.
func Containing(text string) string { return "%" + literal.Replace(text) + "%" }

// literal takes the meaning from what LIKE understands.
var literal = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// Groups are parts of all, for statements of several rows: few and of few lengths, so that few statements are prepared. Each is as long
// as a power of two, but the last is of any length up to 16: beside a distant database the number of statements is the time.
func Groups[T any](all []T) iter.Seq[[]T] {
	const most, anyUpTo = 64, 16
	return func(yield func([]T) bool) {
		for length := most; len(all) > 0; length /= 2 {
			if len(all) <= anyUpTo {
				yield(all)
				return
			}
			for len(all) >= length {
				if !yield(all[:length]) {
					return
				}
				all = all[length:]
			}
		}
	}
}

// Rows is the list behind VALUES for so many rows, each written as row.
func Rows(row string, count int) string { return row + strings.Repeat(", "+row, count-1) }
