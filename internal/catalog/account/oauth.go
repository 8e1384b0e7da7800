package account

import (
	"context"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/secret"
)

const (
	// stateLife is how long a person may take to sign in at the catalog.
	stateLife = 10 * time.Minute
	// statesMost bounds how many sign-ins may be under way.
	statesMost = 100
)

// oauthState is one sign-in under way.
type oauthState struct {
	RedirectURI string
	Account     int64 // 0 = a new one
	// Person is who began it; 0 = the owner. Somebody else does not end it: they would get the account of whoever began it.
	Person int64
}

// StartOAuth is the address at the catalog where a person allows this service to
// write to their list. accountID 0 connects a new account. It returns
// ErrOAuthNotConfigured or ErrNotFound.
func (k *Client) StartOAuth(ctx context.Context, redirectURI string, accountID int64) (string, error) {
	app := k.App()
	if app.ClientID == "" {
		return "", ErrOAuthNotConfigured
	}
	if accountID != 0 {
		if _, err := k.Store.Get(ctx, accountID); err != nil {
			return "", err
		}
	}
	state, err := k.states.Give(ctx, oauthState{redirectURI, accountID, scope.From(ctx).Person()})
	if err != nil {
		return "", err
	}
	app.RedirectURL = redirectURI
	return k.Catalog.AuthorizeURL(app, state), nil
}

// FinishOAuth takes what the catalog sent back: it checks the state, trades the code
// for tokens, asks whose they are, and stores them with the account, a new one where
// none was named and none is that catalog user. Who ends it is who began it, and a new account is theirs; accounts are those in the scope
// of ctx. It returns ErrState, ErrOAuthNotConfigured,
// ErrOtherUser, ErrTaken when the user has another account than the one named, ErrNotFound
// when that one was deleted meanwhile, or an error of package catalog; nothing is stored then.
func (k *Client) FinishOAuth(ctx context.Context, state, code string) (Account, error) {
	person := scope.From(ctx).Person()
	s, found, err := k.states.Take(ctx, state, func(s oauthState) bool { return s.Person == person })
	if err != nil {
		return Account{}, err
	}
	if !found {
		return Account{}, ErrState
	}
	app := k.App()
	if app.ClientID == "" {
		return Account{}, ErrOAuthNotConfigured
	}
	app.RedirectURL = s.RedirectURI
	got, err := k.Catalog.Exchange(ctx, app, secret.Text(code))
	if err != nil {
		return Account{}, err
	}
	k.Masker.Add(got.Access.Reveal())
	k.Masker.Add(got.Refresh.Reveal())
	me, err := k.Catalog.As(got.Access).Me(ctx)
	if err != nil {
		return Account{}, err
	}
	tokens := Tokens{Access: got.Access, Refresh: got.Refresh, ExpiresAt: got.ExpiresAt, RedirectURL: s.RedirectURI}
	id := s.Account
	if id == 0 {
		if id, err = k.accountOf(ctx, me); err != nil {
			return Account{}, err
		}
	}
	if id == 0 {
		return k.Store.Create(ctx, Draft{
			PersonID: person, Username: me.Username, Nickname: me.Nickname, CatalogUserID: me.ID, Method: ByOAuth, Tokens: tokens,
			Enabled: true, CompleteFilms: true,
		})
	}
	if _, err := k.Store.Get(ctx, id); err != nil { // it may be somebody else's by now
		return Account{}, err
	}
	if err := k.Store.Connect(ctx, id, tokens, me); err != nil {
		return Account{}, err
	}
	return k.Store.Get(ctx, id)
}

// accountOf is the account that is the catalog user, or else the one that has their name
// and may be them; 0 = none.
func (k *Client) accountOf(ctx context.Context, user catalog.User) (id int64, err error) {
	accounts, err := k.Store.List(ctx)
	if err != nil {
		return 0, err
	}
	for _, a := range accounts {
		switch {
		case user.ID != 0 && a.CatalogUserID == user.ID:
			return a.ID, nil
		case a.Username == user.Username:
			id = a.ID
		}
	}
	return id, nil
}
