package account

import (
	"slices"
	"strings"

	"watchmark/internal/platform/reason"
)

// Adult is what is done with adult titles; empty, for an account, is as the settings say.
type Adult string

// What is done with adult titles: they are marked as all others are, their new entries are visible to their owner only, or
// nothing is written for them.
const (
	MarkAdult    Adult = "mark"
	PrivateAdult Adult = "private"
	SkipAdult    Adult = "skip"
)

// checkRule returns a *reason.FieldError for a value that is neither empty nor one of those given.
func checkRule[R ~string](field string, value R, of ...R) error {
	if value == "" || slices.Contains(of, value) {
		return nil
	}
	names := make([]string, len(of))
	for i, one := range of {
		names[i] = string(one)
	}
	return reason.At(field, badRule.With(strings.Join(names, ", ")))
}

func checkAdult(value Adult) error {
	return checkRule("adult", value, MarkAdult, PrivateAdult, SkipAdult)
}
