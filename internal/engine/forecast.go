package engine

import (
	"context"
	"errors"
	"slices"
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
	return names(r.accounts), r.message, err
}

// Forecast tells what would become of events, and what of it is on the lists of the accounts that name their users
// already. Each account is matched by the rules of its own person. It remembers what it read of lists, so one serves one table. The error of
// the function it returns is that of the database, or of its context.
func (e *Engine) Forecast() preview.Of {
	f := &forecaster{e, map[listed]read{}}
	return func(ctx context.Context, event watch.Event) ([]preview.Verdict, error) {
		r, err := e.route(ctx, event, false)
		if err != nil {
			return nil, err
		}
		return f.of(ctx, event, r)
	}
}

// ForecastFor is Forecast for the list of one account, whoever watched. The error may also be account.ErrNotFound.
func (e *Engine) ForecastFor(id int64) preview.OfList {
	f := &forecaster{e, map[listed]read{}}
	return func(ctx context.Context, event watch.Event) (preview.Verdict, error) {
		a, err := e.Accounts.Get(ctx, id)
		if err != nil {
			return preview.Verdict{}, err
		}
		return f.on(ctx, f.match(ctx, event, a), a)
	}
}

type (
	forecaster struct {
		e     *Engine
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

// of tells what becomes of an event where it goes. Accounts that it matches alike for have one verdict.
func (f *forecaster) of(ctx context.Context, event watch.Event, r route) ([]preview.Verdict, error) {
	if len(r.accounts) == 0 {
		if trace, stops := f.e.Matcher.Blocked(ctx, event); stops {
			return []preview.Verdict{{Status: preview.Blocked, Reason: trace.Result.Reason}}, nil
		}
		return []preview.Verdict{{Status: preview.NoAccount, Reason: r.message}}, nil
	}
	type found struct {
		result   match.Result
		accounts []account.Account
	}
	var alike []found
	for _, a := range r.accounts {
		result := f.match(ctx, event, a)
		i := slices.IndexFunc(alike, func(other found) bool {
			return other.result.Status == result.Status && other.result.SubjectID == result.SubjectID && other.result.EpisodeID == result.EpisodeID
		})
		if i < 0 {
			i, alike = len(alike), append(alike, found{result: result})
		}
		alike[i].accounts = append(alike[i].accounts, a)
	}
	var verdicts []preview.Verdict
	for _, one := range alike {
		v, err := f.on(ctx, one.result, one.accounts...)
		if err != nil {
			return nil, err
		}
		if len(alike) > 1 {
			v.Accounts = names(one.accounts)
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

// match is what an event comes out as for an account.
func (f *forecaster) match(ctx context.Context, event watch.Event, a account.Account) match.Result {
	return f.e.Matcher.Match(f.e.in(catalog.InTurn(ctx, a.ID, true), a), event).Result
}

// on tells what becomes of a match on the lists of accounts.
func (f *forecaster) on(ctx context.Context, result match.Result, accounts ...account.Account) (preview.Verdict, error) {
	if ctx.Err() != nil {
		return preview.Verdict{}, ctx.Err()
	}
	v := preview.Verdict{Status: preview.Status(result.Status), SubjectID: result.SubjectID, SubjectName: result.SubjectName, Reason: result.Reason}
	if result.Status != match.Matched {
		return v, nil
	}
	v.Status = preview.Marked
	onList, skipped := false, reason.Reason{}
	for _, a := range accounts {
		ctx := catalog.InTurn(ctx, a.ID, true)
		on, since, err := f.listed(ctx, a, result)
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

// listed reports whether what an event matched is on the list of an account, and since when.
func (f *forecaster) listed(ctx context.Context, a account.Account, result match.Result) (on bool, since time.Time, err error) {
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
