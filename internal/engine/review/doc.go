// Package review carries out what people decide about titles. A decision is an answer to a question (an uncertain match
// asks one for each title and season) or the correction of a record. Both are the same four steps:
//
//  1. A rule is written: a mapping, or a blocked keyword (rule.go, answer.go).
//  2. Marks that the rule shows to be wrong are taken back from the lists (takeback.go).
//  3. The records run again by the new rule, and a task follows them (service.go, correcting.go).
//  4. The way back: undo (undo.go) takes the marks back first, then restores the rule, and runs the records again: those of
//     an answer ask anew, those of a correction come out as before.
//
// It promises: a title and season is one question, however many episodes wait for it, and of the specials each number; an
// answer and what it sets going are one transaction; a mark is taken back only where this service wrote it and nobody else
// relies on it; each step may be done twice, so what failed or was stopped is done by deciding once more; a record whose mark
// was taken back is never lost between the two.
//
// Begin with question.go and service.go.
package review
