package catalog

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	keepFor = 10 * time.Minute
	// keepEmptyFor is for "no hits" and "no episodes", which volunteers may just be mending.
	keepEmptyFor = time.Minute
	// maxCached is how many subjects, episodes and relations are kept in all. At
	// 300 to 500 bytes each, that is some 10 MB.
	maxCached = 20_000
)

// Cached is the anonymous look-ups of a Client with a short memory: answers are
// kept ten minutes, empty ones one minute, errors never; what is asked for by
// several at once is asked once. It keeps at most 20 000 items, about 10 MB, and
// drops what was not used longest. What it returns is shared: do not change the
// elements. It may be used by several goroutines.
type Cached struct {
	client *Client
	found  func([]Subject) // nil when nobody wants to know
	flight singleflight.Group

	mu     sync.Mutex
	era    int // counts Forget, so that an answer under way is not kept
	items  int
	byKey  map[string]*list.Element
	recent *list.List // of *kept, the last used first
	// doubted is since when subjects show no episodes that should have some.
	doubted map[SubjectID]time.Time
}

type kept struct {
	key    string
	value  any
	weight int
	until  time.Time
}

// NewCached is c with a memory.
func NewCached(c *Client) *Cached {
	return &Cached{client: c, byKey: map[string]*list.Element{}, recent: list.New(), doubted: map[SubjectID]time.Time{}}
}

// OnFound has fn told what searches find, as often as the catalog is asked. fn must not block
// nor change what it is told. Call it before c is used.
func (c *Cached) OnFound(fn func([]Subject)) { c.found = fn }

// Forget drops everything, so that the next look-ups ask the catalog.
func (c *Cached) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.era++
	c.items = 0
	clear(c.byKey)
	clear(c.doubted)
	c.recent.Init()
}

// Search is Client.Search.
func (c *Cached) Search(ctx context.Context, q SearchQuery) ([]Subject, error) {
	return cachedList(ctx, c, fmt.Sprintf("search %q %v %v %v %d", q.Keyword, q.Types, q.From, q.To, q.Limit),
		func() ([]Subject, error) {
			_, era, _ := c.get("")
			subjects, err := c.client.Search(ctx, q)
			if err == nil && c.found != nil {
				c.found(subjects)
			}
			c.putHits(era, subjects)
			return subjects, err
		})
}

// AdultTitles is what ask finds in the name of one person, kept for whom viewer names alone.
func (c *Cached) AdultTitles(ctx context.Context, viewer string, q SearchQuery, ask func() ([]Subject, error)) ([]Subject, error) {
	return cachedList(ctx, c, fmt.Sprintf("adult titles for %s %q %v %v %v %d", viewer, q.Keyword, q.Types, q.From, q.To, q.Limit), ask)
}

// putHits keeps subjects as a search shows them, which is whole, but for hits of the legacy search: these
// have no platform. What was read of the subject itself stays, for the search lags behind.
func (c *Cached) putHits(era int, hits []Subject) {
	for _, s := range hits {
		key := c.key(subjectKey(s.ID))
		if _, _, known := c.get(key); !known && s.Platform != "" {
			c.put(key, era, s, 1)
		}
	}
}

func subjectKey(id SubjectID) string { return fmt.Sprintf("subject %d", id) }

// key is the key of a look-up at the catalog of now.
func (c *Cached) key(lookUp string) string { return c.client.cfg.Load().APIURL + " " + lookUp }

// Subject is Client.Subject, or what a search showed of it.
func (c *Cached) Subject(ctx context.Context, id SubjectID) (Subject, error) {
	return cached(ctx, c, subjectKey(id), func() (Subject, error) { return c.client.Subject(ctx, id) },
		func(Subject) int { return 1 })
}

// Relations is Client.Relations.
func (c *Cached) Relations(ctx context.Context, id SubjectID) ([]Relation, error) {
	return cachedList(ctx, c, fmt.Sprintf("relations %d", id), func() ([]Relation, error) { return c.client.Relations(ctx, id) })
}

// Episodes is Client.Episodes, but that an empty list is not believed at once for a subject that should have one.
func (c *Cached) Episodes(ctx context.Context, id SubjectID) ([]EpisodeInfo, error) {
	return cachedList(ctx, c, fmt.Sprintf("episodes %d", id), func() ([]EpisodeInfo, error) {
		rows, err := c.client.Episodes(ctx, id)
		if err == nil && len(rows) == 0 {
			return c.emptyList(ctx, id)
		}
		return rows, err
	})
}

// Episode is Client.Episode.
func (c *Cached) Episode(ctx context.Context, id EpisodeID) (EpisodeInfo, error) {
	return cached(ctx, c, fmt.Sprintf("episode %d", id), func() (EpisodeInfo, error) { return c.client.Episode(ctx, id) },
		func(EpisodeInfo) int { return 1 })
}

func cachedList[T any](ctx context.Context, c *Cached, key string, ask func() ([]T, error)) ([]T, error) {
	rows, err := cached(ctx, c, key, ask, func(rows []T) int { return len(rows) })
	return slices.Clone(rows), err // a caller may sort or append
}

// cached answers from memory, or asks; size is how many items a value holds.
// One caller asks with its own context for all who want the same, in the background or not; when that one
// gives up, another one asks again.
func cached[T any](ctx context.Context, c *Cached, key string, ask func() (T, error), size func(T) int) (T, error) {
	key = c.key(key)
	for {
		value, era, ok := c.get(key)
		if ok {
			return value.(T), nil
		}
		mine := false
		result, err, _ := c.flight.Do(fmt.Sprint(era, " ", turnOf(ctx).Background, " ", key), func() (any, error) {
			mine = true
			if value, _, ok := c.get(key); ok { // the one before came in between
				return value, nil
			}
			value, err := ask()
			switch {
			case err != nil && ctx.Err() != nil:
				return nil, &gaveUp{err}
			case err != nil:
				return nil, err
			}
			c.put(key, era, value, size(value))
			return value, nil
		})
		if err == nil {
			return result.(T), nil
		}
		var none T
		var gone *gaveUp
		switch {
		case !errors.As(err, &gone):
			return none, err
		case mine || ctx.Err() != nil:
			return none, gone.err
		}
	}
}

// gaveUp is the error of the caller that asked for all, when its own context ended.
type gaveUp struct{ err error }

func (g *gaveUp) Error() string { return g.err.Error() }

func (c *Cached) get(key string) (value any, era int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element := c.byKey[key]
	if element == nil {
		return nil, c.era, false
	}
	k := element.Value.(*kept)
	if !time.Now().Before(k.until) {
		c.drop(element)
		return nil, c.era, false
	}
	c.recent.MoveToFront(element)
	return k.value, c.era, true
}

func (c *Cached) put(key string, era int, value any, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	weight := size + 1 // the key counts too
	if era != c.era || weight > maxCached {
		return
	}
	if old := c.byKey[key]; old != nil {
		c.drop(old)
	}
	life := keepFor
	if size == 0 {
		life = keepEmptyFor
	}
	c.byKey[key] = c.recent.PushFront(&kept{key: key, value: value, weight: weight, until: time.Now().Add(life)})
	c.items += weight
	for c.items > maxCached {
		c.drop(c.recent.Back())
	}
}

// drop removes one entry. The caller holds mu.
func (c *Cached) drop(element *list.Element) {
	k := c.recent.Remove(element).(*kept)
	delete(c.byKey, k.key)
	c.items -= k.weight
}
