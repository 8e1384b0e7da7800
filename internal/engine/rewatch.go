package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/record"
	"watchmark/internal/source"
	"watchmark/internal/watch"
)

const (
	// onePlay is how long after a play the same episode is no other play.
	onePlay = 6 * time.Hour
	// rewatchNews is how long after a play it may be told and still set an entry back to doing, or have people asked for a rating: what a
	// history brings is over.
	rewatchNews = 48 * time.Hour
	// rewatchMost is how long a re-watch lasts at most: one that was not finished by then keeps no other one from beginning.
	rewatchMost = 90 * 24 * time.Hour
	// watchesMost is how many other records of an episode are looked at, the newest.
	watchesMost = 20
)

// rewatchRule is what an account wants done about a re-watch.
func (e *Engine) rewatchRule(a account.Account) account.Rewatch {
	return cmp.Or(a.Rewatch, e.Options().Rewatch, account.IgnoreRewatch)
}

// followRewatch notes which records of a batch that found their episode marked are of an episode that was watched once more, and has the
// entry follow where the account wants that. What the catalog refuses changes nothing; other errors are as those of Mark.
func (e *Engine) followRewatch(ctx context.Context, a account.Account, subject catalog.SubjectID, batch []settled) error {
	rule := e.rewatchRule(a)
	if rule == account.IgnoreRewatch {
		return nil
	}
	err := e.follow(ctx, a, subject, batch, rule)
	if err == nil || isOwn(ctx, err) || errors.Is(err, catalog.ErrUnreachable) {
		return err
	}
	e.Log.WarnContext(ctx, "cannot have an entry follow a re-watch", "account", a.Username, "subject_id", subject, "error", err)
	return nil
}

func (e *Engine) follow(ctx context.Context, a account.Account, subject catalog.SubjectID, batch []settled, rule account.Rewatch) error {
	first, err := e.noteRewatches(ctx, a, subject, batch)
	if err != nil || rule != account.DoingRewatch {
		return err
	}
	open, begun, err := e.Records.Rewatching(ctx, a.ID, subject)
	if err != nil || !begun && first < 0 {
		return err
	}
	again := catalog.Rewatch{Episodes: episodesOf(batch), Begun: begun}
	if first >= 0 && (!begun || open.RecordID == batch[first].work.ID || time.Since(open.Written) > rewatchMost) {
		again.Begin = func(ctx context.Context) error { return e.Records.BeginRewatch(ctx, batch[first].work, a.ID, subject) }
	}
	result, err := e.Lists.Rewatch(ctx, a, subject, again)
	if err != nil {
		return err
	}
	last := max(first, 0)
	batch[last].rewatchOver = result.Over
	switch {
	case result.Began && !result.Over:
		batch[last].outcome.Message = rewatchBegan.With()
	case result.Ended:
		batch[last].outcome.Message = rewatchEnded.With()
	}
	return nil
}

// noteRewatches notes which records of a batch are of an episode that was watched once more. first is the first of them that is news, -1 for none.
func (e *Engine) noteRewatches(ctx context.Context, a account.Account, subject catalog.SubjectID, batch []settled) (first int, err error) {
	first = -1
	if !slices.ContainsFunc(batch, func(s settled) bool { return s.found }) {
		return first, nil
	}
	seen := map[catalog.EpisodeID]bool{}
	for i := range batch {
		s := &batch[i]
		episode, at := s.trace.Result.EpisodeID, playedAt(s.work)
		if !s.found || at.IsZero() || seen[episode] {
			continue
		}
		same, before, err := e.otherPlays(ctx, s.work, a.ID, subject, episode, at)
		if err != nil {
			return first, err
		}
		if !same && !before {
			since, err := e.Lists.MarkedAt(ctx, a, subject, episode)
			if err != nil {
				return first, err
			}
			before = !since.IsZero() && at.Sub(since) >= onePlay
		}
		if same || !before {
			continue
		}
		seen[episode] = true
		s.outcome.Rewatch, s.outcome.Message = true, rewatched.With()
		if first < 0 && s.work.CreatedAt.Sub(at) < rewatchNews {
			first = i
		}
	}
	return first, nil
}

// otherPlays reports whether another record tells of the same play of an episode, and whether one tells of a play before.
func (e *Engine) otherPlays(ctx context.Context, w record.Work, account int64, subject catalog.SubjectID, episode catalog.EpisodeID, at time.Time) (same, before bool, err error) {
	others, err := e.Records.Watches(ctx, w.ID, account, subject, episode, watchesMost)
	for _, one := range others {
		played := playedAt(one)
		same = same || at.Sub(cmp.Or(played, one.CreatedAt)).Abs() < onePlay
		before = before || !played.IsZero() && at.Sub(played) >= onePlay
	}
	return same, before, err
}

// isLive reports whether a record is of something that was watched just now, as far as is known: no test, and nothing of the past.
func isLive(w record.Work) bool {
	at := playedAt(w)
	return !w.Test && !at.IsZero() && w.CreatedAt.Sub(at) < rewatchNews
}

// playedAt is when a record's play was, as far as is known; zero when it is not. A webhook is sent when something was watched, unless it
// says otherwise.
func playedAt(w record.Work) time.Time {
	at := w.Event.OccurredAt
	switch {
	case w.Event.Action != watch.Watched:
		return time.Time{}
	case at.After(w.CreatedAt), at.IsZero() && slices.Contains(source.Push, w.Source) && w.Event.RawEvent != watch.FromHistory:
		return w.CreatedAt
	}
	return at
}
