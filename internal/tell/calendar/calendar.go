// Package calendar tells what airs: for the page and the API of the calendar, for the message of the day, and as a file that calendar programs
// fetch at a secret address.
//
// The offline archive says on which day an episode airs, a day in Japan, and the community table at what time. Which of it
// somebody follows, the lists of their accounts say: they are read by a job and kept, so that nobody who looks at the calendar waits for the catalog.
//
// What it promises: somebody is told of their own accounts alone, whatever they ask for; what is private on a list is not told as followed;
// adult entries are not told at all.
package calendar

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/match/idmap"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/db"
	"watchmark/internal/watch"
)

const (
	// DaysMost is how many days one question may be about.
	DaysMost = 62
	// AccountsMost is how many accounts are asked for at once; somebody with more chooses one.
	AccountsMost = 20
	// before is how long before it airs an episode may be marked: some are shown early.
	before = 14 * 24 * time.Hour
)

// Lists reads the lists of accounts; *account.Client is one.
type Lists interface {
	Following(ctx context.Context, a account.Account, read func(list []catalog.Collection, marks func(context.Context, catalog.SubjectID) ([]catalog.Mark, error)) error) error
}

// Guide knows what airs when; *archive.Archive is one.
type Guide interface {
	Airing(ctx context.Context, from, to watch.Date, of func(catalog.SubjectID) bool) ([]archive.Airing, error)
	OnAir(ctx context.Context, from, to watch.Date) ([]catalog.Subject, error)
	// Made is when what it knows was published.
	Made() time.Time
}

// Missing is why nothing is known of what airs; empty while something is.
type Missing string

// The reasons.
const (
	ArchiveOff     Missing = "archive_off"
	ArchiveMissing Missing = "archive_missing"
)

// Table knows the times of broadcasts; *idmap.Table is one.
type Table interface {
	Broadcast(catalog.SubjectID) (idmap.Broadcast, bool)
}

// Sealer seals addresses at rest; *secret.Box is one.
type Sealer interface {
	Seal(plain, place string) string
	Open(sealed, place string) (string, error)
}

// Config is what a Service is made of; every field must be set.
type Config struct {
	DB       *db.DB
	Box      Sealer
	Accounts *account.Store
	Lists    Lists
	// Guide is the offline archive, or why there is none.
	Guide func() (Guide, Missing)
	// Table is nil while there is none.
	Table func() Table
	// Written is what this service wrote to a list in a span of time: the episodes of each subject, 0 for the entry itself.
	Written func(ctx context.Context, accountID int64, from, to time.Time) (map[catalog.SubjectID][]catalog.EpisodeID, error)
	// Language is that of the file for calendar programs, SubjectURL the address of the catalog's page of a subject.
	Language   func() bilingual.Language
	SubjectURL func(catalog.SubjectID) string
	Log        *slog.Logger
}

// Service knows what airs.
type Service struct{ Config }

// New is a Service; its Job reads lists.
func New(c Config) *Service { return &Service{c} }

// Query is what is asked for.
type Query struct {
	// From and To are the first and the last day, in Zone.
	From, To watch.Date
	Zone     *time.Location
	// Mine leaves what is followed by the reader's accounts.
	Mine bool
	// Account is the one of the reader's accounts to look at; 0 is all of them.
	Account int64
}

// Item is an episode that airs.
type Item struct {
	Subject catalog.Subject
	Episode catalog.EpisodeInfo
	// At is when it airs; zero when only the day is known.
	At time.Time
	// Day is that of At in the zone that was asked for; where only a day is known, it is the one in Japan.
	Day watch.Date
	// On are the reader's accounts that follow it.
	On []Follower
}

// Watched reports whether the episode is marked on one of the lists that follow it.
func (i Item) Watched() bool {
	return slices.ContainsFunc(i.On, func(f Follower) bool { return f.Watched })
}

// Follower is an account whose list has a subject.
type Follower struct {
	AccountID int64
	Account   string
	State     catalog.CollectionType
	Watched   bool
}

// Result is what airs.
type Result struct {
	// Missing is why Items is empty.
	Missing Missing
	Items   []Item
	// Lists are how the lists of all of the reader's accounts stand, without those beyond AccountsMost; More is set when there are such.
	Lists []ListState
	More  bool
}

// ZoneOf is a time zone by its IANA name.
func ZoneOf(name string) (zone *time.Location, ok bool) {
	if name == "" || name == "Local" || len(name) > 64 {
		return nil, false
	}
	zone, err := time.LoadLocation(name)
	return zone, err == nil
}

// Find tells what airs, by day; on a day, what has a time by that, then the rest. It looks at the accounts of whom the scope of ctx is of,
// and returns account.ErrNotFound for an account of somebody else.
func (s *Service) Find(ctx context.Context, q Query) (Result, error) {
	if days, ok := q.To.DaysFrom(q.From); !ok || days < 0 || days >= DaysMost {
		return Result{}, ErrDays.With(DaysMost)
	}
	own, more, err := s.own(ctx)
	if err != nil {
		return Result{}, err
	}
	asked := own
	if q.Account != 0 {
		if asked, err = s.Accounts.Find(ctx, account.Filter{Own: true, Enabled: true, IDs: []int64{q.Account}}, 0, 1); err != nil {
			return Result{}, err
		}
		if len(asked) == 0 {
			return Result{}, account.ErrNotFound
		}
	}
	lists, err := s.kept(ctx, slices.Concat(own, asked))
	if err != nil {
		return Result{}, err
	}
	result := Result{Items: []Item{}, Lists: states(own, lists), More: more}
	guide, missing := s.Guide()
	if missing != "" {
		result.Missing = missing
		return result, nil
	}
	result.Items, err = s.items(ctx, guide, q, asked, lists)
	return result, err
}

// own are the enabled accounts of whom the scope of ctx is of, AccountsMost of them.
func (s *Service) own(ctx context.Context) (own []account.Account, more bool, err error) {
	own, err = s.Accounts.Find(ctx, account.Filter{Own: true, Enabled: true}, 0, AccountsMost+1)
	if len(own) > AccountsMost {
		return own[:AccountsMost], true, err
	}
	return own, false, err
}

// items are what airs, with the accounts that follow it.
func (s *Service) items(ctx context.Context, guide Guide, q Query, accounts []account.Account, lists map[int64]list) ([]Item, error) {
	followed := map[catalog.SubjectID][]Follower{}
	watched := map[int64]map[catalog.EpisodeID]bool{}
	for _, a := range accounts {
		marks := map[catalog.EpisodeID]bool{}
		for _, e := range lists[a.ID].entries {
			if !e.told(a) {
				continue
			}
			followed[e.Subject] = append(followed[e.Subject], Follower{AccountID: a.ID, Account: a.Username, State: e.State})
			for _, id := range e.Watched {
				marks[id] = true
			}
		}
		// What this service marked since the list was read is not in it yet.
		written, err := s.Written(ctx, a.ID, q.From.Time().Add(-before), time.Now())
		if err != nil {
			return nil, err
		}
		for _, episodes := range written {
			for _, id := range episodes {
				marks[id] = true
			}
		}
		watched[a.ID] = marks
	}
	var of func(catalog.SubjectID) bool
	if q.Mine {
		of = func(id catalog.SubjectID) bool { return followed[id] != nil }
	}
	// A day in Japan is at most two days elsewhere, one before it and one after it.
	airing, err := guide.Airing(ctx, dayAfter(q.From, -1), dayAfter(q.To, 1), of)
	if err != nil {
		return nil, err
	}
	table := s.Table()
	items := []Item{}
	for _, a := range airing {
		if a.Subject.NSFW || a.Episode.Type != catalog.Main && a.Episode.Type != catalog.Special {
			continue
		}
		i := Item{Subject: a.Subject, Episode: a.Episode, Day: a.Episode.AirDate}
		if table != nil {
			if rule, known := table.Broadcast(a.Subject.ID); known && a.Episode.Type == catalog.Main { // a special is not on at the time of the show
				if at, certain := rule.On(a.Episode.AirDate); certain {
					i.At, i.Day = at, watch.DateOf(at.In(q.Zone))
				}
			}
		}
		if n, ok := i.Day.DaysFrom(q.From); !ok || n < 0 {
			continue
		}
		if n, _ := q.To.DaysFrom(i.Day); n < 0 {
			continue
		}
		for _, f := range followed[a.Subject.ID] {
			f.Watched = watched[f.AccountID][a.Episode.ID]
			i.On = append(i.On, f)
		}
		items = append(items, i)
	}
	slices.SortStableFunc(items, func(a, b Item) int {
		days, _ := a.Day.DaysFrom(b.Day)
		return cmp.Or(days, order(a.At.IsZero(), b.At.IsZero()), a.At.Compare(b.At))
	})
	return items, nil
}

// dayAfter is the day so many days after another one.
func dayAfter(d watch.Date, days int) watch.Date { return watch.DateOf(d.Time().AddDate(0, 0, days)) }

// order is that of two truths, what is false first.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Today is what airs for one account on the day of now, in the zone of now, of what is being watched. The list is read when it is older than an
// hour; unread is why it could not be. It asks for whatever account, as the service itself.
func (s *Service) Today(ctx context.Context, a account.Account, now time.Time) (items []Item, unread, err error) {
	guide, missing := s.Guide()
	if missing != "" {
		return nil, nil, ErrNoArchive
	}
	of, unread, err := s.fresh(ctx, a, now)
	if unread != nil || err != nil {
		return nil, unread, err
	}
	day := watch.DateOf(now)
	items, err = s.items(ctx, guide, Query{From: day, To: day, Zone: now.Location(), Mine: true}, []account.Account{a}, map[int64]list{a.ID: of})
	return slices.DeleteFunc(items, func(i Item) bool {
		return !slices.ContainsFunc(i.On, func(f Follower) bool { return f.State == catalog.Doing })
	}), nil, err
}

// Ready is why nothing is known of what airs; empty while something is.
func (s *Service) Ready() Missing {
	_, missing := s.Guide()
	return missing
}
