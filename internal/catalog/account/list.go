package account

import (
	"context"
	"errors"

	"watchmark/internal/catalog"
)

// Following reads what the account's list has as being watched, and then as wished: anime and live action. It hands them to read, with a
// function for the marks of an entry. A token that is refused meanwhile is renewed, and all of it read once more. Errors as Mark's, and
// those of read.
func (k *Client) Following(ctx context.Context, a Account, read func(list []catalog.Collection, marks func(context.Context, catalog.SubjectID) ([]catalog.Mark, error)) error) (err error) {
	if a, err = k.checked(ctx, a); err != nil {
		return err
	}
	username := a.Username
	err = k.as(ctx, a, func(s catalog.Session) error {
		entries, err := followedBy(ctx, s, username)
		if errors.Is(err, catalog.ErrNotFound) { // the person may have another name now
			me, failed := s.Me(ctx)
			if failed != nil {
				return failed
			}
			if username = me.Username; username != a.Username {
				entries, err = followedBy(ctx, s, username)
			}
		}
		if err != nil {
			return err
		}
		return read(entries, s.Marks)
	})
	k.rename(ctx, a, username)
	return err
}

// ReadList reads the whole list of the account, and hands it to read with what reads the marks of its entries. progress is told how much of the list was
// read. A token that is refused meanwhile is renewed, and all of it read once more. Errors as Mark's, and those of read.
func (k *Client) ReadList(ctx context.Context, a Account, progress func(read, of int),
	read func(list catalog.List, marks func(context.Context, catalog.SubjectID) ([]catalog.Mark, error)) error,
) (err error) {
	if a, err = k.checked(ctx, a); err != nil {
		return err
	}
	username := a.Username
	err = k.as(ctx, a, func(s catalog.Session) error {
		// Without its owner's own name the list is that of a stranger, whose private entries are left out without a word (upstreams/list.md section 2).
		me, err := s.Me(ctx)
		if err != nil {
			return err
		}
		if a.CatalogUserID != 0 && me.ID != a.CatalogUserID {
			return ErrOtherUser
		}
		username = me.Username
		list, err := s.List(ctx, username, progress)
		if err != nil {
			return err
		}
		return read(list, s.Marks)
	})
	k.rename(ctx, a, username)
	return err
}

func followedBy(ctx context.Context, s catalog.Session, username string) (all []catalog.Collection, err error) {
	for _, state := range []catalog.CollectionType{catalog.Doing, catalog.Wish} {
		for _, kind := range []catalog.SubjectType{catalog.Anime, catalog.Real} {
			some, err := s.Collections(ctx, username, kind, state)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
	}
	return all, nil
}

// Put has an entry of the account's list become what is wanted; see catalog.Marker. begin is told what is to be written before anything is.
// Errors as Mark's, and that of begin.
func (k *Client) Put(ctx context.Context, a Account, subject catalog.SubjectID, w catalog.Wanted, begin func(context.Context, catalog.Change) error) (result catalog.PutResult, err error) {
	if a, err = k.checked(ctx, a); err != nil {
		return catalog.PutResult{}, err
	}
	err = k.as(ctx, a, func(s catalog.Session) (err error) {
		result, err = k.Marker.Put(ctx, catalog.PutRequest{ListEntry: k.entry(a, s, subject), Wanted: w, Begin: begin})
		return err
	})
	k.rename(ctx, a, result.Username)
	return result, err
}

// PreviewPut is what Put would write of an entry that is now on the account's list; its Type is 0 where it is not. Errors as Mark's.
func (k *Client) PreviewPut(ctx context.Context, a Account, subject catalog.SubjectID, now catalog.Entry, w catalog.Wanted) (c catalog.Change, err error) {
	if a, err = k.checked(ctx, a); err != nil {
		return catalog.Change{}, err
	}
	e := k.entry(a, catalog.Session{}, subject)
	err = k.as(ctx, a, func(s catalog.Session) (err error) {
		e.Session = s
		c, err = e.Preview(ctx, now, w)
		return err
	})
	if err != nil || c.Empty() {
		return c, err
	}
	about, err := k.Subjects.Subject(ctx, subject)
	switch {
	case errors.Is(err, catalog.ErrNotFound): // hidden from look-ups, perhaps not from the account
		return c, nil
	case err != nil:
		return c, err
	case about.Locked:
		c.Lock()
	}
	return c, nil
}

// Entry is an entry of the account's list as it is now; its Type is 0 where it is not there. Errors as Mark's.
func (k *Client) Entry(ctx context.Context, a Account, subject catalog.SubjectID) (now catalog.Entry, err error) {
	if a, err = k.checked(ctx, a); err != nil {
		return catalog.Entry{}, err
	}
	e := k.entry(a, catalog.Session{}, subject)
	err = k.as(ctx, a, func(s catalog.Session) (err error) {
		e.Session = s
		now, err = e.Read(ctx)
		return err
	})
	k.rename(ctx, a, e.Username)
	return now, err
}

// Say gives an entry of the account's list a rating and a comment; see catalog.Marker. Errors as Mark's, and those of Marker.Say.
func (k *Client) Say(ctx context.Context, a Account, subject catalog.SubjectID, shown, wanted catalog.Said) (result catalog.SayResult, err error) {
	if a, err = k.checked(ctx, a); err != nil {
		return catalog.SayResult{}, err
	}
	err = k.as(ctx, a, func(s catalog.Session) (err error) {
		result, err = k.Marker.Say(ctx, catalog.SayRequest{ListEntry: k.entry(a, s, subject), Shown: shown, Wanted: wanted})
		return err
	})
	k.rename(ctx, a, result.Username)
	return result, err
}
