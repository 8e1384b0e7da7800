package match

import (
	"context"
	"errors"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/reason"
)

// Viewer looks things up in the name of an account. Adult titles do not exist for look-ups without one,
// nor for some accounts (upstreams/catalog.md section 7). Errors are those of a Catalog.
type Viewer interface {
	Subject(ctx context.Context, id catalog.SubjectID) (catalog.Subject, error)
	Relations(ctx context.Context, id catalog.SubjectID) ([]catalog.Relation, error)
	Episodes(ctx context.Context, id catalog.SubjectID) ([]catalog.EpisodeInfo, error)
	// AdultTitles is the adult titles among the hits of a search.
	AdultTitles(ctx context.Context, q catalog.SearchQuery) ([]catalog.Subject, error)
}

type viewerKey struct{}

// SeenBy has matches with ctx ask by what is hidden from look-ups without an account.
func SeenBy(ctx context.Context, by Viewer) context.Context {
	return context.WithValue(ctx, viewerKey{}, by)
}

func viewerOf(ctx context.Context) Viewer {
	by, _ := ctx.Value(viewerKey{}).(Viewer)
	return by
}

// orSeen is what a look-up found or, where it is hidden, what the account finds. An account that cannot
// ask, because its token is refused, sees nothing more, which l remembers.
func orSeen[T any](ctx context.Context, l *cachedCatalog, found T, err error, ask func(Viewer) (T, error)) (T, error) {
	by := viewerOf(ctx)
	if by == nil || !errors.Is(err, catalog.ErrNotFound) {
		return found, err
	}
	seen, failure := ask(by)
	if failure == nil || isAway(failure) {
		return seen, failure
	}
	l.noteRefusal(failure)
	return found, err
}

// noteRefusal remembers that the catalog refused the token of the account that was asked by.
func (l *cachedCatalog) noteRefusal(failure error) {
	if errors.Is(failure, catalog.ErrUnauthorized) {
		l.refused = failure
	}
}

// isAway reports whether what an account asked failed because the catalog does not answer, and not because the account cannot ask.
func isAway(failure error) bool {
	return errors.Is(failure, catalog.ErrUnreachable) && !errors.Is(failure, catalog.ErrUnauthorized)
}

// renew takes the account's own list of episodes for an adult title of the archive, whose list lacks what is
// looked for: the catalog itself is asked in vain. It reports whether that list has more.
func (l *cachedCatalog) renew(ctx context.Context, subject catalog.Subject) bool {
	by := viewerOf(ctx)
	if !l.archived || !subject.NSFW || by == nil || l.renewed[subject.ID] {
		return false
	}
	l.renewed[subject.ID] = true
	l.lookUps++
	rows, err := by.Episodes(ctx, subject.ID)
	l.unseen[subject.ID] = errors.Is(err, catalog.ErrNotFound)
	l.noteRefusal(err)
	if err != nil || len(rows) <= len(l.episodes[subject.ID]) {
		return false // the catalog is asked next, and tells why
	}
	l.episodes[subject.ID] = rows
	return true
}

// noRows is why there is no episode list of a subject.
func (l *cachedCatalog) noRows(ctx context.Context, id catalog.SubjectID) reason.Reason {
	switch {
	case !l.unseen[id]:
		return noEpisodeList.With()
	case viewerOf(ctx) == nil:
		return hiddenList.With()
	}
	return hiddenAccount.With()
}
