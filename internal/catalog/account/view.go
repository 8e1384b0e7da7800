package account

import (
	"context"
	"errors"
	"fmt"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/replica"
)

// View is the catalog as an account sees it: with adult titles, where the account may see them.
// Nothing of it is kept, but what searches find, and that for the account alone.
type View struct {
	client  *Client
	account Account
}

// View is what a sees.
func (k *Client) View(a Account) View { return View{k, a} }

// as asks as the account. What fails because of the service's own database, or because the replica is not live, says nothing about
// what the account sees: it is told as a catalog that does not answer, so that what is looked for waits.
func (v View) as(ctx context.Context, fn func(catalog.Session) error) error {
	err := v.client.as(ctx, v.account, fn)
	if errors.Is(err, db.ErrStorage) || errors.Is(err, db.ErrEvicted) || errors.Is(err, replica.ErrNotLive) {
		return &catalog.Error{Op: opToken.With(), Kind: catalog.ErrUnreachable, Err: err}
	}
	return err
}

// Subject reads one subject. Errors are those of Check.
func (v View) Subject(ctx context.Context, id catalog.SubjectID) (found catalog.Subject, err error) {
	err = v.as(ctx, func(s catalog.Session) (err error) {
		found, err = s.Subject(ctx, id)
		return err
	})
	return found, err
}

// Episode reads one episode. Errors are those of Check.
func (v View) Episode(ctx context.Context, id catalog.EpisodeID) (found catalog.EpisodeInfo, err error) {
	err = v.as(ctx, func(s catalog.Session) (err error) {
		found, err = s.Episode(ctx, id)
		return err
	})
	return found, err
}

// Episodes reads the episodes of a subject, of all types, from the account's own list of marks. Errors are those of Check.
func (v View) Episodes(ctx context.Context, id catalog.SubjectID) (found []catalog.EpisodeInfo, err error) {
	err = v.as(ctx, func(s catalog.Session) (err error) {
		found, err = s.Episodes(ctx, id)
		return err
	})
	return found, err
}

// Relations reads the neighbours of a subject. Errors are those of Check.
func (v View) Relations(ctx context.Context, id catalog.SubjectID) (found []catalog.Relation, err error) {
	err = v.as(ctx, func(s catalog.Session) (err error) {
		found, err = s.Relations(ctx, id)
		return err
	})
	return found, err
}

// AdultTitles searches for what searches without an account do not find. Errors are those of Check.
func (v View) AdultTitles(ctx context.Context, q catalog.SearchQuery) ([]catalog.Subject, error) {
	// Another token, or another account that takes the number of one that is gone, changes the time.
	viewer := fmt.Sprint(v.account.ID, v.account.UpdatedAt.UnixMilli())
	return v.client.Subjects.AdultTitles(ctx, viewer, q, func() (found []catalog.Subject, err error) {
		err = v.as(ctx, func(s catalog.Session) (err error) {
			found, err = s.AdultTitles(ctx, q)
			return err
		})
		return found, err
	})
}
