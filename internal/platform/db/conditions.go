package db

import "strings"

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
