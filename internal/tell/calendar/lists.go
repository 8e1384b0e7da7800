package calendar

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/watch"
)

// Job is the name of the job that reads lists.
const Job = "calendar"

const (
	// readEvery is how often a list is read, freshFor how old one may be for the message of the day, and againAfter when one that
	// could not be read is tried again.
	readEvery  = 6 * time.Hour
	freshFor   = time.Hour
	againAfter = 30 * time.Minute
	// marksAround is how far from today an episode airs for the marks of its entry to be read, marksMost of how many entries at once.
	marksAround = 31
	marksMost   = 50
	// entriesMost bounds a kept list: what is being watched comes first.
	entriesMost = 5000
)

// entry is an entry of a list as it is kept.
type entry struct {
	Subject catalog.SubjectID      `json:"subject"`
	State   catalog.CollectionType `json:"state"`
	Private bool                   `json:"private,omitempty"`
	// Marked and Changed are as catalog.Collection has them, the time in unix seconds. Marks is set when Watched is what they tell of.
	Marked  int                 `json:"marked,omitempty"`
	Changed int64               `json:"changed,omitempty"`
	Marks   bool                `json:"marks,omitempty"`
	Watched []catalog.EpisodeID `json:"watched,omitempty"`
}

// told reports whether it may be told that an account follows an entry: a person may have hidden it, which says nothing where the account makes
// every entry private.
func (e entry) told(a account.Account) bool { return !e.Private || a.Private }

// list is a list as it is kept. read and tried are zero when that never was.
type list struct {
	entries     []entry
	read, tried time.Time
	problem     reason.Reason
}

// ListState is how the list of an account stands.
type ListState struct {
	AccountID int64
	Account   string
	HasToken  bool
	// Entries is how many entries it has that may air, ReadAt when it was read; zero when it never was.
	Entries int
	ReadAt  time.Time
	// Problem is why the last try failed; zero when it did not.
	Problem reason.Reason
}

func states(accounts []account.Account, lists map[int64]list) []ListState {
	all := []ListState{}
	for _, a := range accounts {
		l, n := lists[a.ID], 0
		for _, e := range l.entries {
			if e.told(a) {
				n++
			}
		}
		all = append(all, ListState{AccountID: a.ID, Account: a.Username, HasToken: a.HasToken, Entries: n, ReadAt: l.read, Problem: l.problem})
	}
	return all
}

// kept are the lists of some accounts as they were read last, by the ids of the accounts.
func (s *Service) kept(ctx context.Context, accounts []account.Account) (map[int64]list, error) {
	lists := map[int64]list{}
	if len(accounts) == 0 {
		return lists, nil
	}
	ids := make([]int64, len(accounts))
	for i, a := range accounts {
		ids[i] = a.ID
	}
	in, args := db.In(ids)
	within, whose := account.Within(ctx, `account_id`)
	err := db.Each(ctx, s.DB.Read(), "read the lists of the calendar", func(row db.Row) error {
		var id, read, tried int64
		var text []byte
		var l list
		err := row.Scan(&id, &read, &tried, &l.problem, &text)
		if err == nil {
			err = json.Unmarshal(text, &l.entries)
		}
		if read != 0 {
			l.read = time.UnixMilli(read)
		}
		l.tried = time.UnixMilli(tried)
		lists[id] = l
		return err
	}, `SELECT account_id, read_at, tried_at, problem, entries FROM calendar_lists WHERE account_id IN `+in+` AND `+within, append(args, whose...)...)
	return lists, err
}

// Job reads the lists of enabled accounts again and again, and that of a new account at once. While there is no archive, nobody needs them.
func (s *Service) Job() schedule.Job {
	return schedule.Job{
		Name: Job, Quiet: true, Plan: func() schedule.Plan { return schedule.Every(time.Hour) },
		Look: func(ctx context.Context) (bool, error) {
			if s.Ready() != "" {
				return false, nil
			}
			waiting, err := s.waiting(ctx, time.Now(), 0)
			return len(waiting) > 0, err
		},
		Run: func(ctx context.Context, run *schedule.Run) error {
			if s.Ready() != "" {
				return nil
			}
			age := readEvery
			if run.Asked {
				age = 0
			}
			return s.readAll(ctx, time.Now(), max(age, time.Second))
		},
		Ready: func(context.Context) error {
			if s.Ready() != "" {
				return ErrNoArchive
			}
			return nil
		},
	}
}

// waiting are the accounts whose list is older than age, or was never read; with age 0 the latter alone. Those that were tried a short time
// ago are left out.
func (s *Service) waiting(ctx context.Context, now time.Time, age time.Duration) ([]account.Account, error) {
	all, err := s.Accounts.List(ctx)
	if err != nil {
		return nil, err
	}
	type stand struct{ read, tried int64 }
	stands := map[int64]stand{}
	err = db.Each(ctx, s.DB.Read(), "read which lists of the calendar are old", func(row db.Row) error {
		var id int64
		var at stand
		err := row.Scan(&id, &at.read, &at.tried)
		stands[id] = at
		return err
	}, `SELECT account_id, read_at, tried_at FROM calendar_lists`)
	return slices.DeleteFunc(all, func(a account.Account) bool {
		at := stands[a.ID]
		old := at.read == 0 || age > 0 && now.Sub(time.UnixMilli(at.read)) >= age
		rests := at.tried > at.read && now.Sub(time.UnixMilli(at.tried)) < againAfter && now.UnixMilli() >= at.tried
		return !a.Enabled || !a.HasToken || !old || rests
	}), err
}

// readAll reads the lists that are older than age. What is wrong with one account does not keep it from the others; while the catalog does not
// answer, it asks for no more.
func (s *Service) readAll(ctx context.Context, now time.Time, age time.Duration) error {
	accounts, err := s.waiting(ctx, now, age)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		_, unread, err := s.read(ctx, a, now)
		switch {
		case err != nil:
			return err
		case errors.Is(unread, catalog.ErrUnreachable):
			s.Log.WarnContext(ctx, "lists cannot be read for the calendar; it is tried again later", "account", a.Username, "error", unread)
			return nil
		case unread != nil:
			s.Log.WarnContext(ctx, "the list of an account cannot be read for the calendar", "account", a.Username, "error", unread)
		}
	}
	return nil
}

// fresh is the list of an account, read when the one that is kept is older than freshFor; errors as of read.
func (s *Service) fresh(ctx context.Context, a account.Account, now time.Time) (l list, unread, err error) {
	kept, err := s.kept(ctx, []account.Account{a})
	if err != nil {
		return list{}, nil, err
	}
	if age := now.Sub(kept[a.ID].read); !kept[a.ID].read.IsZero() && age >= 0 && age < freshFor {
		return kept[a.ID], nil, nil
	}
	return s.read(ctx, a, now)
}

// read reads the list of an account, and the marks of what changed and airs these days; it keeps both, or why that failed: unread. err is
// that of the database, of the archive or of ctx.
func (s *Service) read(ctx context.Context, a account.Account, now time.Time) (next list, unread, err error) {
	kept, err := s.kept(ctx, []account.Account{a})
	if err != nil {
		return list{}, nil, err
	}
	airs, err := s.airsAround(ctx, now)
	if err != nil {
		return list{}, nil, err
	}
	known := map[catalog.SubjectID]entry{}
	for _, e := range kept[a.ID].entries {
		known[e.Subject] = e
	}
	next = list{read: now, tried: now}
	unread = s.Lists.Following(catalog.InTurn(ctx, a.ID, true), a, func(rows []catalog.Collection, marks func(context.Context, catalog.SubjectID) ([]catalog.Mark, error)) error {
		next.entries = entriesOf(rows, known)
		return addMarks(ctx, next.entries, airs, marks)
	})
	if ctx.Err() != nil {
		return list{}, nil, ctx.Err()
	}
	if unread != nil {
		next = kept[a.ID]
		next.tried, next.problem = now, reason.Of(unread)
	}
	return next, unread, s.keep(ctx, a.ID, next)
}

// airsAround tells of what an episode airs these days.
func (s *Service) airsAround(ctx context.Context, now time.Time) (map[catalog.SubjectID]bool, error) {
	airs := map[catalog.SubjectID]bool{}
	guide, missing := s.Guide()
	if missing != "" {
		return airs, nil
	}
	today := watch.DateOf(now)
	subjects, err := guide.OnAir(ctx, dayAfter(today, -marksAround), dayAfter(today, marksAround))
	for _, subject := range subjects {
		airs[subject.ID] = true
	}
	return airs, err
}

// entriesOf are the entries to keep of what a list has, with the marks that are known.
func entriesOf(rows []catalog.Collection, known map[catalog.SubjectID]entry) []entry {
	entries := []entry{}
	seen := map[catalog.SubjectID]bool{}
	for _, row := range rows {
		if seen[row.Subject] || len(entries) == entriesMost {
			continue
		}
		seen[row.Subject] = true
		e := entry{Subject: row.Subject, State: row.Type, Private: row.Private, Marked: row.Marked}
		if !row.Changed.IsZero() {
			e.Changed = row.Changed.Unix()
		}
		if old := known[row.Subject]; e.Marked != 0 {
			e.Watched = old.Watched
			e.Marks = old.Marks && old.Marked == e.Marked && old.Changed == e.Changed
		} else {
			e.Marks = true
		}
		entries = append(entries, e)
	}
	return entries
}

// addMarks reads the marks of entries whose marks are not known and that air these days, marksMost of them: the next reading goes on.
func addMarks(ctx context.Context, entries []entry, airs map[catalog.SubjectID]bool, marks func(context.Context, catalog.SubjectID) ([]catalog.Mark, error)) error {
	asked := 0
	for i := range entries {
		e := &entries[i]
		if e.Marks || !airs[e.Subject] || asked == marksMost {
			continue
		}
		asked++
		all, err := marks(ctx, e.Subject)
		if err != nil && !errors.Is(err, catalog.ErrNotFound) { // of a subject that is hidden from the owner the list shows the entry alone
			return err
		}
		e.Marks, e.Watched = true, nil
		for _, m := range all {
			if m.State == catalog.EpisodeWatched {
				e.Watched = append(e.Watched, m.Episode)
			}
		}
	}
	return nil
}

// keep stores a list, unless its account is gone.
func (s *Service) keep(ctx context.Context, id int64, l list) error {
	if l.entries == nil {
		l.entries = []entry{}
	}
	text, err := json.Marshal(l.entries)
	if err != nil {
		return err
	}
	var read int64
	if !l.read.IsZero() {
		read = l.read.UnixMilli()
	}
	return s.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO calendar_lists (account_id, read_at, tried_at, problem, entries) SELECT ?, ?, ?, ?, ? WHERE `+account.Existing+` IS NOT NULL
			ON CONFLICT (account_id) DO UPDATE SET read_at = excluded.read_at, tried_at = excluded.tried_at, problem = excluded.problem, entries = excluded.entries`,
			id, read, l.tried.UnixMilli(), l.problem, string(text), id)
		if err != nil {
			return fmt.Errorf("keep the list of account %d: %w", id, err)
		}
		return nil
	})
}
