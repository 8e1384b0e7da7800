package account

import (
	"errors"
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

// Rewatch is what is done when an episode that is marked already is watched once more; empty, for an account, is as the settings say.
type Rewatch string

// What is done about a re-watch: nothing, the record notes it, or besides that the entry of the list that is done becomes doing until the last
// episode.
const (
	IgnoreRewatch Rewatch = "ignore"
	NoteRewatch   Rewatch = "note"
	DoingRewatch  Rewatch = "doing"
)

// Unwatched is what is done when something was set back to unwatched on a media server; empty, for an account, is as the settings say.
type Unwatched string

// What is done about what was set back to unwatched: nothing, the mark is taken back, or a person is asked.
const (
	IgnoreUnwatched Unwatched = "ignore"
	TakeBack        Unwatched = "take_back"
	AskUnwatched    Unwatched = "ask"
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

// checkRules checks all rules of an account.
func checkRules(adult Adult, unwatched Unwatched, rewatch Rewatch) error {
	return errors.Join(checkRule("unwatched", unwatched, IgnoreUnwatched, TakeBack, AskUnwatched),
		checkRule("adult", adult, MarkAdult, PrivateAdult, SkipAdult), checkRule("rewatch", rewatch, IgnoreRewatch, NoteRewatch, DoingRewatch))
}
