// Package watch is the vocabulary: an Event says who watched what, and when; dates, IDs and kinds of media belong to
// it. Every source makes Events, and everything after the intake works on Events alone. The package title below it
// folds, parses and compares titles.
//
// It promises to be pure: no database, no network, no clock of its own. Of the platform it uses reason alone.
// Begin with event.go.
package watch
