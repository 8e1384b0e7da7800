package catalog

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"watchmark/internal/platform/reason"
)

// Said is what a person says of a subject on the list.
type Said struct {
	Rate    int // 1 to 10; 0 for none
	Comment string
}

// same reports whether both say the same, as the server compares.
func (s Said) same(other Said) bool {
	return s.Rate == other.Rate && sameText(s.Comment, other.Comment)
}

// SayRequest asks for an entry to get the rating and the comment of a person who saw what it had.
type SayRequest struct {
	ListEntry
	Shown, Wanted Said
}

// SayResult is the entry as it is on the list after that.
type SayResult struct {
	Entry Entry
	// Username is the owner's name, read again when the one in the request was not found. Keep it.
	Username string
	// Hidden: others do not see the entry any more, by the catalog's word filter.
	Hidden bool
}

// CommentMost is how many characters (code points) a comment may have (upstreams/list.md section 4).
const CommentMost = commentMost

// Comment is a comment as the server takes it. Spaces of other kinds than the usual one are not printable to it. It returns a
// *reason.FieldError for what it refuses.
func Comment(text string) (string, error) {
	text = plainText(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Zs, r) {
			return ' '
		}
		return r
	}, text))
	if n := utf8.RuneCountInString(text); n > commentMost {
		return "", reason.At("comment", longComment.With(n, commentMost))
	}
	for _, r := range text {
		if !unicode.IsPrint(r) && !strings.ContainsRune("\n\t\r", r) {
			return "", reason.At("comment", unseenCharacter.With(fmt.Sprintf("U+%04X", r)))
		}
	}
	return text, nil
}

// Say writes a rating and a comment, unless the entry says something else than was shown: then it returns ErrSaidOtherwise with the entry.
// Nobody is told of it in public, and nothing but what differs is sent. Errors, besides those of the calls: ErrNotListed.
func (m *Marker) Say(ctx context.Context, req SayRequest) (result SayResult, err error) {
	ctx = forMark(ctx)
	err = m.turn(ctx, &req.ListEntry, func() (err error) {
		result, err = req.say(ctx)
		return err
	})
	result.Username = req.Username
	return result, err
}

func (req *SayRequest) say(ctx context.Context) (SayResult, error) {
	now, err := req.whole(ctx)
	if err != nil {
		return SayResult{}, err
	}
	if now.Type == 0 {
		return SayResult{}, ErrNotListed
	}
	has := Said{now.Rate, now.Comment}
	if has.same(req.Wanted) { // a repeated request writes nothing
		return SayResult{Entry: now}, nil
	}
	if !has.same(req.Shown) {
		return SayResult{Entry: now}, ErrSaidOtherwise
	}
	var b entryBody
	if has.Rate != req.Wanted.Rate {
		b.Rate = &req.Wanted.Rate
	}
	if !sameText(has.Comment, req.Wanted.Comment) {
		b.Comment = &req.Wanted.Comment
	}
	err = req.sendEntry(ctx, false, b)
	if isLocked(err) || Hides(err) {
		return SayResult{}, errEntryLocked
	}
	if err != nil {
		return SayResult{}, err
	}
	shown, err := req.whole(ctx)
	if err != nil {
		return SayResult{}, err
	}
	result := SayResult{Entry: shown, Hidden: shown.Private && !now.Private}
	if !b.isOn(shown) {
		return result, errNotShown
	}
	return result, nil
}

// Read is the entry as it is now, with all that the catalog tells; its Type is 0 when it is not on the list. Errors are those of the calls.
func (e *ListEntry) Read(ctx context.Context) (Entry, error) { return e.whole(ctx) }
