package engine

import (
	"context"
	"errors"
	"strings"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
	"watchmark/internal/record"
)

// route is where an event goes: the accounts to mark, or why there is none.
type route struct {
	accounts []account.Account
	kind     record.ErrorKind
	message  reason.Reason
	disabled bool // accounts name the user, and none is enabled
	step     match.Step
}

// route finds the enabled accounts that name the media-server user exactly. With
// anyAccount, the preferred account stands in when none does.
func (e *Engine) route(ctx context.Context, user string, anyAccount bool) (route, error) {
	start := time.Now()
	r := route{step: match.Step{Name: match.StepRoute, Status: match.Miss, Input: map[string]any{"user_name": user}}}
	naming, err := e.Accounts.ForUser(ctx, user)
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
	names := []string{}
	for _, a := range r.accounts {
		names = append(names, a.Username)
	}
	r.step.Output = map[string]any{"accounts": names}
	if !r.message.IsZero() {
		r.step.Output["reason"] = r.message
	}
	r.step = r.step.Ended(start)
	return r, nil
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
