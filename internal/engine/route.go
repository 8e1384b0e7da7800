package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// route is where an event goes: the accounts to mark, or why there is none.
type route struct {
	accounts []account.Account
	kind     record.ErrorKind
	message  reason.Reason
	disabled bool // accounts name the user, and none is enabled
	step     match.Step
}

// route finds the enabled accounts that name the media-server user of an event exactly, or those of the person whose API key brought it.
// With anyAccount, the preferred account stands in when none does.
func (e *Engine) route(ctx context.Context, event watch.Event, anyAccount bool) (route, error) {
	start, user := time.Now(), event.UserName
	r := route{step: match.Step{Name: match.StepRoute, Status: match.Miss, Input: map[string]any{"user_name": user}}}
	naming, err := e.naming(ctx, event)
	if err != nil {
		return r, err
	}
	var disabled []string
	for _, a := range naming {
		if a.Enabled {
			r.accounts = append(r.accounts, a)
		} else {
			disabled = append(disabled, a.Username)
		}
	}
	several := event.PersonID != nil && *event.PersonID == 0 && len(r.accounts) > 1
	if several { // those of a household without people: nobody but the preferred one is meant
		r.accounts = slices.DeleteFunc(r.accounts, func(a account.Account) bool { return !a.Preferred })
	}
	if len(r.accounts) == 0 && anyAccount {
		preferred, err := e.Accounts.Preferred(ctx)
		if err != nil && !errors.Is(err, account.ErrNotFound) {
			return r, err
		}
		if err == nil {
			r.accounts = []account.Account{preferred}
		}
	}
	switch {
	case len(r.accounts) > 0:
		r.step.Status = match.Hit
	case several:
		r.kind, r.message = record.NoAccount, keyOfSeveral.With()
	case event.PersonID != nil:
		r.kind, r.message = record.NoAccount, keyWithoutAccount.With(user)
	case strings.TrimSpace(user) == "":
		r.kind = record.UserNameMissing
		r.message = userNameMissing.With()
	case len(disabled) > 0:
		r.kind, r.disabled = record.NoAccount, true
		r.message = accountDisabled.With(strings.Join(disabled, ", "), user)
	default:
		ignored := false
		if scope.From(ctx).Whole() { // a person is not told who else is known here
			if ignored, err = e.Accounts.IsIgnored(ctx, user); err != nil {
				return r, err
			}
		}
		r.kind, r.message = record.NoAccount, noAccount.With(user)
		if ignored {
			r.kind, r.message = record.UserIgnored, userIgnored.With(user)
		}
	}
	r.step.Output = map[string]any{"accounts": names(r.accounts)}
	if !r.message.IsZero() {
		r.step.Output["reason"] = r.message
	}
	r.step = r.step.Ended(start)
	return r, nil
}

// names are the names of accounts.
func names(accounts []account.Account) []string {
	all := []string{}
	for _, a := range accounts {
		all = append(all, a.Username)
	}
	return all
}

// naming are the accounts that an event may go to, disabled ones included.
func (e *Engine) naming(ctx context.Context, event watch.Event) ([]account.Account, error) {
	if event.PersonID != nil {
		return e.Accounts.ForPerson(ctx, *event.PersonID)
	}
	return e.Accounts.ForUser(ctx, event.UserName)
}

// in has a match look by the eyes of an account, and by the rules of the person whose list that is.
func (e *Engine) in(ctx context.Context, a account.Account) context.Context {
	return mapping.For(match.SeenBy(ctx, e.View(a)), a.PersonID)
}

// own is the account of r with the id the record was given to earlier, if it is still there.
func (r route) own(id int64) (account.Account, bool) {
	for _, a := range r.accounts {
		if a.ID == id {
			return a, true
		}
	}
	return account.Account{}, false
}
