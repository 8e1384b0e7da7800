package catalog

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

// ListEntry says whose entry for which subject is to be changed.
type ListEntry struct {
	// AccountKey names the account; writes of one key on one subject never overlap.
	AccountKey string
	Session    Session
	// Username is the owner's name as the catalog's user paths want it.
	Username string
	// Private makes a new entry visible to its owner only. An existing entry keeps what it has.
	Private bool
	Subject SubjectID
	// Known reports whether the entry was on the list before, as far as the caller knows. It is asked when
	// the catalog says that there is none. nil knows of none.
	Known func(ctx context.Context) bool
	// Left reports whether it was this service that dropped the entry, by Leave. It is asked when the entry is dropped,
	// which is otherwise the person's word and stays. nil dropped none.
	Left func(ctx context.Context) (bool, error)
	// Intents are told of what is about to be written; nil has no need to know.
	Intents Intents

	wrote bool // something was written, or may have been
}

// The things that a 404 of an entry may say are missing (upstreams/catalog.md section 9).
type missing int

const (
	somethingElse missing = iota
	theEntry
	theUser
	theSubject
)

// missingIn is what the words of a 404 say is missing. The status alone does not tell, and no other answer does.
func missingIn(err error) missing {
	var failure *Error
	if !errors.As(err, &failure) {
		return somethingElse
	}
	words := strings.ToLower(failure.Description.Text)
	switch {
	case strings.Contains(words, "not collected"):
		return theEntry
	case strings.Contains(words, "user doesn't exist"), strings.Contains(words, "user not found"):
		return theUser
	case strings.Contains(words, "resource can't be found"), strings.Contains(words, "subject not found"):
		return theSubject
	}
	return somethingElse
}

// isLocked reports whether a write of an entry was refused because its subject takes none any more.
func isLocked(err error) bool {
	var failure *Error
	return errors.As(err, &failure) && errors.Is(err, ErrNotFound) && strings.Contains(strings.ToLower(failure.Description.Text), "locked")
}

// Hides reports whether the catalog says that it does not have a subject. It hides adult titles from accounts
// that may not see them by the same words (upstreams/catalog.md section 7).
func Hides(err error) bool { return errors.Is(err, ErrNotFound) && missingIn(err) == theSubject }

// entry is the entry as it is now; its zero is "not collected". Creating an entry that is there after all would overwrite its state,
// so what contradicts what is known is asked twice. People may change their name once, so the name is read
// again when the catalog knows nobody of that name, or does not say what is missing.
func (e *ListEntry) entry(ctx context.Context) (listed, error) {
	return readEntry(ctx, e, e.Session.collection)
}

// whole is entry with all that the catalog tells.
func (e *ListEntry) whole(ctx context.Context) (Entry, error) {
	return readEntry(ctx, e, e.Session.wholeEntry)
}

func readEntry[T any](ctx context.Context, e *ListEntry, read func(ctx context.Context, username string, subject SubjectID) (T, error)) (now T, err error) {
	var missing T
	now, err = read(ctx, e.Username, e.Subject)
	if !errors.Is(err, ErrNotFound) {
		return now, err
	}
	switch missingIn(err) {
	case theSubject:
		return missing, err
	case theEntry:
		if e.Known == nil || !e.Known(ctx) {
			return missing, nil
		}
	default:
		me, err := e.Session.Me(ctx)
		if err != nil {
			return missing, err
		}
		e.Username = me.Username
	}
	now, err = read(ctx, e.Username, e.Subject)
	if !errors.Is(err, ErrNotFound) {
		return now, err
	}
	switch missingIn(err) {
	case theSubject:
		return missing, err
	case theUser:
		return missing, &Error{Op: opReadEntry.With(e.Subject), Kind: ErrUnreachable, Status: http.StatusNotFound, Err: errNoOwner}
	}
	return missing, nil
}

// resume is the entry as it is now. One that this service had left is doing, and resumes says that it is to be taken up again.
func (e *ListEntry) resume(ctx context.Context) (now listed, resumes bool, err error) {
	now, err = e.entry(ctx)
	if err != nil || now.Type != Dropped || e.Left == nil {
		return now, false, err
	}
	if resumes, err = e.Left(ctx); err != nil || !resumes {
		return now, false, err
	}
	now.Type = Doing
	return now, true, nil
}
