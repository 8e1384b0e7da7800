package api

import (
	"context"
	"errors"
	"slices"
	"strings"

	"watchmark/internal/catalog"
	"watchmark/internal/door/auth"
	"watchmark/internal/platform/secret"
)

// personOf is the person who is calling; false where it is the owner.
func personOf(ctx context.Context) (id int64, is bool) {
	who, known := auth.IdentityOf(ctx)
	if known && who.Role == auth.RoleOwner {
		return 0, false
	}
	return who.Person, true
}

// ownNames are the media-server users that a person names in an account: all that the owner gave to the person where nil, otherwise
// some of them, or of those that the account has already. With anybody else's, a person would read on their own list what that one watches.
func (as Accounts) ownNames(ctx context.Context, person int64, names, already []string) ([]string, error) {
	who, err := as.People.Person(ctx, person)
	if err != nil {
		return nil, err
	}
	if names == nil {
		return who.MediaUserNames, nil
	}
	for _, name := range names {
		if !slices.Contains(who.MediaUserNames, name) && !slices.Contains(already, name) {
			return nil, fieldProblem("body.media_user_names", foreignMediaUser.With(name))
		}
	}
	return names, nil
}

// proven is the catalog's user behind a token, which must be of that name, or of that id where it is known. So nobody learns whether an
// account is here that they have no token of, and nobody is kept from adding theirs.
func (as Accounts) proven(ctx context.Context, token secret.Text, username string, id int) (catalog.User, error) {
	if token == "" {
		return catalog.User{}, fieldProblem("body.access_token", tokenMissing)
	}
	bounded, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	whose, err := as.Client.Whose(bounded, token)
	var refused *catalog.Error
	switch {
	case errors.As(err, &refused) && errors.Is(err, catalog.ErrUnauthorized):
		return catalog.User{}, fieldProblem("body.access_token", catalogUnauthorized)
	case err != nil:
		return catalog.User{}, err
	case id != 0 && whose.ID != id, id == 0 && !strings.EqualFold(whose.Username, username):
		return catalog.User{}, fieldProblem("body.access_token", tokenOfOther)
	}
	return whose, nil
}

// mayChange returns what the caller may not change of an account.
func (as Accounts) mayChange(ctx context.Context, id int64, change accountChange) error {
	who, is := personOf(ctx)
	if !is {
		if change.PersonID == nil || *change.PersonID == 0 {
			return nil
		}
		to, err := as.People.Person(ctx, *change.PersonID)
		if errors.Is(err, auth.ErrPersonNotFound) || err == nil && to.Role != auth.RolePerson {
			return fieldProblem("body.person_id", noAccountHolder)
		}
		return err
	}
	if change.PersonID != nil {
		return fieldProblem("body.person_id", auth.OwnerOnly)
	}
	if change.Username != nil {
		return fieldProblem("body.username", accountNameStays)
	}
	now, err := as.Store.Get(ctx, id)
	if err != nil {
		return err
	}
	if change.MediaUserNames != nil {
		if _, err := as.ownNames(ctx, who, *change.MediaUserNames, now.MediaUserNames); err != nil {
			return err
		}
	}
	if change.AccessToken != nil && *change.AccessToken != "" {
		_, err = as.proven(ctx, *change.AccessToken, now.Username, now.CatalogUserID)
	}
	return err
}
