package app

import (
	"context"
	"errors"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/watch"
)

// given are rules that do not change.
type given struct{ rules *mapping.Rules }

func (g given) Rules(context.Context) (*mapping.Rules, error) { return g.rules, nil }

// matchBy is what m finds by other mappings than those that are kept.
func matchBy(m *match.Matcher) func(context.Context, watch.Event, *mapping.Rules) match.Trace {
	return func(ctx context.Context, event watch.Event, rules *mapping.Rules) match.Trace {
		other := m.Config
		other.Rules = given{rules}
		return match.New(other).Match(ctx, event)
	}
}

// knowledge is what a person's choice is checked against: the catalog, which is never older, and where
// that does not answer or shows nothing the offline archive and then the preferred account, for the catalog hides adult
// titles from look-ups without one. Searches go to the catalog alone.
type knowledge struct {
	*Data
	client *account.Client
}

func (k knowledge) Search(ctx context.Context, q catalog.SearchQuery) ([]catalog.Subject, error) {
	return k.cached.Search(ctx, q)
}

func (k knowledge) Subject(ctx context.Context, id catalog.SubjectID) (catalog.Subject, error) {
	return anywhere(ctx, k, func(c witness) (catalog.Subject, error) { return c.Subject(ctx, id) })
}

func (k knowledge) Episode(ctx context.Context, id catalog.EpisodeID) (catalog.EpisodeInfo, error) {
	return anywhere(ctx, k, func(c witness) (catalog.EpisodeInfo, error) { return c.Episode(ctx, id) })
}

// witness is where a choice is looked up.
type witness interface {
	Subject(ctx context.Context, id catalog.SubjectID) (catalog.Subject, error)
	Episode(ctx context.Context, id catalog.EpisodeID) (catalog.EpisodeInfo, error)
}

func anywhere[T any](ctx context.Context, k knowledge, ask func(witness) (T, error)) (T, error) {
	found, err := ask(k.cached)
	if !errors.Is(err, catalog.ErrUnreachable) && !errors.Is(err, catalog.ErrNotFound) {
		return found, err
	}
	if archive, _ := k.archive(); archive != nil {
		if old, miss := ask(archive); miss == nil {
			return old, nil
		}
	}
	if !errors.Is(err, catalog.ErrNotFound) {
		return found, err
	}
	if by, none := k.Accounts.Preferred(ctx); none == nil {
		if seen, miss := ask(k.client.View(by)); miss == nil {
			return seen, nil
		}
	}
	return found, err
}
