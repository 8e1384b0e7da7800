package engine

import (
	"context"
	"errors"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/match"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/source/preview"
	"watchmark/internal/watch"
)

// Routed is the enabled accounts that name a media-server user, or what to do when there is none.
func (e *Engine) Routed(ctx context.Context, user string) (accounts []string, problem reason.Reason, err error) {
	r, err := e.route(ctx, watch.Event{UserName: user}, false)
	for _, a := range r.accounts {
		accounts = append(accounts, a.Username)
	}
	return accounts, r.message, err
}

// Forecast tells what would become of events, as Preview does, and what of it is on the lists of the accounts that name
// their users already. It remembers what it read of lists, so one serves one table. The error of the function it returns
// is that of the database, or of its context.
func (e *Engine) Forecast() preview.Of {
	return (&forecaster{e, func(ctx context.Context, event watch.Event) (route, error) {
		return e.route(ctx, event, false)
	}, map[listed]read{}}).of
}

// ForecastFor is Forecast for the list of one account, whoever watched. The error may also be account.ErrNotFound.
func (e *Engine) ForecastFor(id int64) preview.Of {
	return (&forecaster{e, func(ctx context.Context, _ watch.Event) (route, error) {
		a, err := e.Accounts.Get(ctx, id)
		return route{accounts: []account.Account{a}}, err
	}, map[listed]read{}}).of
}

type (
	forecaster struct {
		e     *Engine
		to    func(ctx context.Context, event watch.Event) (route, error)
		lists map[listed]read
	}
	listed struct {
		account int64
		subject catalog.SubjectID
	}
	read struct {
		watched catalog.Watched
		err     error
	}
)

func (f *forecaster) of(ctx context.Context, event watch.Event) (preview.Verdict, error) {
	r, err := f.to(ctx, event)
	if err != nil {
		return preview.Verdict{}, err
	}
	if len(r.accounts) == 0 {
		if trace, stops := f.e.Matcher.Blocked(ctx, event); stops {
			return preview.Verdict{Status: preview.Blocked, Reason: trace.Result.Reason}, nil
		}
		return preview.Verdict{Status: preview.NoAccount, Reason: r.message}, nil
	}
	ctx = catalog.InTurn(ctx, r.accounts[0].ID, true)
	result := f.e.Matcher.Match(f.e.in(ctx, r.accounts[0]), event).Result
	if ctx.Err() != nil {
		return preview.Verdict{}, ctx.Err()
	}
	v := preview.Verdict{Status: preview.Status(result.Status), SubjectID: result.SubjectID, SubjectName: result.SubjectName, Reason: result.Reason}
	if result.Status != match.Matched {
		return v, nil
	}
	v.Status = preview.Marked
	onList, skipped := false, reason.Reason{}
	for _, a := range r.accounts {
		on, since, err := f.on(ctx, a, result)
		skips := false
		if err == nil && !on && f.e.adultRule(a) == account.SkipAdult {
			skips, err = f.e.isAdult(ctx, a, result)
		}
		switch {
		case ctx.Err() != nil:
			return preview.Verdict{}, ctx.Err()
		case errors.Is(err, db.ErrStorage):
			return preview.Verdict{}, err
		case errors.Is(err, catalog.ErrUnreachable):
			v.Status, v.Reason = preview.Unreachable, listUnknown.With(a.Username)
			return v, nil
		case err != nil:
			v.Status, v.Reason = preview.Refused, markFailure(a, err).Message
			return v, nil
		case on:
			onList, v.Since = true, since
		case skips:
			skipped = adultSkipped.With(a.Username)
		case a.DryRun && v.Status == preview.Marked:
			v.Status = preview.DryRun
		case !a.DryRun:
			v.Status = preview.Mark
		}
	}
	if v.Status == preview.Marked && !onList { // all accounts skip it
		v.Status, v.Reason = preview.Blocked, skipped
	}
	return v, nil
}

// on reports whether what an event matched is on the list of an account, and since when.
func (f *forecaster) on(ctx context.Context, a account.Account, result match.Result) (on bool, since time.Time, err error) {
	key := listed{a.ID, result.SubjectID}
	known, asked := f.lists[key]
	if !asked {
		known.watched, known.err = f.e.Lists.Watched(ctx, a, result.SubjectID)
		if ctx.Err() == nil {
			f.lists[key] = known
		}
	}
	on, since = known.watched.Has(result.EpisodeID)
	return on, since, known.err
}
