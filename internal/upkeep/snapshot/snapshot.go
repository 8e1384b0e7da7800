// Package snapshot keeps the lists of people: it reads a whole list again and again, and stores what has changed since the
// last time, so that any two readings can be compared, and any of them taken out.
//
// An entry is stored as one row for as long as it stays the same. A reading that is cut off goes on where it was; until it has come to
// its end no other reading knows of it.
package snapshot

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/entries"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/hold"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/task"
)

// The kinds of the tasks: the reading of one list, and of all by the clock.
const (
	TaskKind = "snapshot"
	JobName  = "snapshots"
)

// wholeEvery is how often all marks are read: a mark may change without the entry telling so (upstreams/list.md section 6).
const wholeEvery = 30 * 24 * time.Hour

// Lists reads and writes what an account's list has; *account.Client is one.
type Lists interface {
	// ReadList hands the whole list to read, with a function for the marks of its entries.
	ReadList(ctx context.Context, a account.Account, progress func(read, of int),
		read func(list catalog.List, marks func(context.Context, catalog.SubjectID) ([]catalog.Mark, error)) error) error
	// Put has an entry become what is wanted, PreviewPut tells what that would write.
	Put(ctx context.Context, a account.Account, subject catalog.SubjectID, w catalog.Wanted, begin func(context.Context, catalog.Change) error) (catalog.PutResult, error)
	PreviewPut(ctx context.Context, a account.Account, subject catalog.SubjectID, now catalog.Entry, w catalog.Wanted) (catalog.Change, error)
}

// Config is what a Service is made of; every field must be set.
type Config struct {
	DB       *db.DB
	Accounts *account.Store
	Lists    Lists
	Tasks    *task.Registry
	// Holds gives the reading of a list to one replica at a time.
	Holds *hold.Holds
	// Plan is when all lists are read; the zero Plan is never.
	Plan func() schedule.Plan
	// Keep is how many snapshots of a list are kept beside the first of each month.
	Keep func() int
	// Written is what this service wrote to a list in a span of time: the episodes of each subject, 0 for the entry itself.
	Written func(ctx context.Context, accountID int64, from, to time.Time) (map[catalog.SubjectID][]catalog.EpisodeID, error)
	// Entries are the list entries that one replica at a time writes to.
	Entries *entries.Entries
	// Resumed notes within a transaction that an entry was given another state: it was not left by this service any more.
	Resumed func(ctx context.Context, tx *sql.Tx, accountID int64, subject catalog.SubjectID) error
	// Seen is told what a list had that was read whole.
	Seen func(ctx context.Context, accountID int64, list []catalog.Entry) error
	// Code is what the catalog's entry is at MyAnimeList; 0 when that is not known.
	Code func(catalog.SubjectID) int
	Log  *slog.Logger
}

// Service reads and keeps lists.
type Service struct {
	Config
	store store

	mu      sync.Mutex
	reading map[int64]bool
}

// NewService is a Service; its Job reads all lists by the clock.
func NewService(c Config) *Service {
	return &Service{Config: c, store: store{c.DB}, reading: map[int64]bool{}}
}

// Snapshot is one reading of a list.
type Snapshot struct {
	ID        int64     `json:"id"`
	AccountID int64     `json:"account_id"`
	TakenAt   time.Time `json:"taken_at"`
	Entries   int       `json:"entries"`
	Marks     int       `json:"marks" doc:"Marked episodes in them."`
	// Total is what the catalog counts.
	Total int  `json:"total" doc:"Entries as Bangumi counts them: those whose subject is gone among them, which it does not show."`
	Whole bool `json:"whole" doc:"All marks were read; else only those of entries that had changed."`
	// Source is where it is from.
	Source Source `json:"source" enum:"list,file" doc:"file is one that was taken out before and brought in again."`
}

// Source is where a snapshot is from.
type Source string

// The sources.
const (
	FromList Source = "list"
	FromFile Source = "file"
)

// Job reads the lists of all enabled accounts.
func (k *Service) Job() schedule.Job {
	return schedule.Job{Name: JobName, Plan: k.Plan, Run: k.takeAll}
}

// takeAll is the work of the job. What is wrong with one account does not keep it from the others.
func (k *Service) takeAll(ctx context.Context, run *schedule.Run) error {
	accounts, err := k.Accounts.List(ctx)
	if err != nil {
		return err
	}
	var problems []error
	for i, a := range accounts {
		if !a.Enabled || !a.HasToken {
			continue
		}
		run.Progress(i, len(accounts), readingListOf.With(a.Username))
		_, err := k.take(ctx, a, func(int, int, reason.Reason) {})
		if errors.Is(err, ErrRunning) {
			continue
		}
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			problems = append(problems, listOf.With(a.Username, err))
		}
	}
	return errors.Join(problems...)
}

// Take starts a task that reads the list of an account; its result is a Snapshot. Errors: account.ErrNotFound, ErrRunning, task.ErrStopping.
func (k *Service) Take(ctx context.Context, accountID int64) (*task.Task, error) {
	a, err := k.Accounts.Get(ctx, accountID)
	if err != nil {
		return nil, err
	}
	if !a.HasToken {
		return nil, account.ErrNoToken
	}
	t, err := k.Tasks.Start(ctx, task.Spec{Kind: TaskKind, About: accountID, Alone: listOfAccount(accountID)}, func(ctx context.Context, t *task.Task) error {
		s, err := k.take(ctx, a, t.Progress)
		if err == nil {
			t.SetResult(s)
		}
		return err
	})
	if err != nil {
		return nil, alone(err)
	}
	return t, nil
}

// take is read, after which old snapshots are forgotten.
func (k *Service) take(ctx context.Context, a account.Account, progress func(done, total int, message reason.Reason)) (Snapshot, error) {
	s, err := k.read(ctx, a, progress)
	if err == nil {
		k.prune(ctx, a)
	}
	return s, err
}

func (k *Service) prune(ctx context.Context, a account.Account) {
	if err := k.store.prune(ctx, a.ID, k.Keep()); err != nil {
		k.Log.WarnContext(ctx, "old snapshots cannot be removed", "account", a.Username, "error", err)
	}
}

// read reads the list of an account and stores what has changed. It returns ErrRunning while the list is being read already, here or at
// another replica.
func (k *Service) read(ctx context.Context, a account.Account, progress func(done, total int, message reason.Reason)) (s Snapshot, err error) {
	k.mu.Lock()
	busy := k.reading[a.ID]
	k.reading[a.ID] = true
	k.mu.Unlock()
	if busy {
		return s, ErrRunning
	}
	defer func() {
		k.mu.Lock()
		delete(k.reading, a.ID)
		k.mu.Unlock()
	}()
	name := "reading of " + listOfAccount(a.ID)
	got, err := k.Holds.Take(ctx, name)
	if err != nil {
		return s, err
	}
	if !got {
		return s, ErrRunning
	}
	defer k.Holds.Give(ctx, name)
	ctx = catalog.InTurn(ctx, a.ID, true)
	listed := func(read, of int) { progress(read, of, listRead.With(read, of)) }
	err = k.Lists.ReadList(ctx, a, listed, func(list catalog.List, marks func(context.Context, catalog.SubjectID) ([]catalog.Mark, error)) error {
		if s, err = k.keep(ctx, a, list, marks, progress); err == nil {
			err = k.Seen(ctx, a.ID, list.Entries)
		}
		return err
	})
	if err != nil {
		return s, err
	}
	k.Log.InfoContext(ctx, "a list was read", "account", a.Username, "entries", s.Entries, "marks", s.Marks)
	return s, nil
}

const (
	// storedAtOnce is how many entries one transaction takes that need no request, askedAtOnce how many that did.
	storedAtOnce, askedAtOnce = 200, 10
)

// keep stores a list that was read, with the marks of what has changed.
func (k *Service) keep(ctx context.Context, a account.Account, list catalog.List, marks func(context.Context, catalog.SubjectID) ([]catalog.Mark, error),
	progress func(done, total int, message reason.Reason),
) (Snapshot, error) {
	s, err := k.store.begin(ctx, a.ID, time.Now())
	if err != nil {
		return Snapshot{}, err
	}
	known, err := k.store.now(ctx, a.ID)
	if err != nil {
		return Snapshot{}, err
	}
	s.Total = list.Total
	var plain, asked []version
	for _, e := range list.Entries {
		old, there := known[e.Subject]
		delete(known, e.Subject)
		switch {
		case there && !changed(old.Entry, e) && (old.since == s.ID || !s.Whole || !hasMarks(e)):
			continue
		case !hasMarks(e):
			plain = append(plain, version{Entry: e, Marks: []catalog.Mark{}})
		case there && !s.Whole && !moved(old.Entry, e):
			plain = append(plain, version{Entry: e, Marks: nil}) // as they were
		default:
			asked = append(asked, version{Entry: e})
		}
	}
	for len(plain) > 0 {
		n := min(storedAtOnce, len(plain))
		if err := k.store.put(ctx, a.ID, s.ID, plain[:n]); err != nil {
			return s, err
		}
		plain = plain[n:]
	}
	for done := 0; done < len(asked); {
		page := asked[done:min(done+askedAtOnce, len(asked))]
		for i := range page {
			page[i].Marks, err = marks(ctx, page[i].Entry.Subject)
			switch {
			case errors.Is(err, catalog.ErrNotFound): // of a subject that is hidden from the owner the list shows the entry alone
				page[i].Marks = nil
			case err != nil:
				return s, errors.Join(err, k.store.put(context.WithoutCancel(ctx), a.ID, s.ID, page[:i]))
			}
			progress(done+i+1, len(asked), marksRead.With(done+i+1, len(asked)))
		}
		if err := k.store.put(ctx, a.ID, s.ID, page); err != nil {
			return s, err
		}
		done += len(page)
	}
	gone := make([]catalog.SubjectID, 0, len(known))
	for subject := range known {
		gone = append(gone, subject)
	}
	return k.store.end(ctx, s, gone, time.Now())
}

// hasMarks reports whether episodes of an entry may be marked.
func hasMarks(e catalog.Entry) bool {
	return e.Marked > 0 && (e.SubjectType == catalog.Anime || e.SubjectType == catalog.Real)
}

// moved reports whether an entry was written to since, as far as it tells.
func moved(old, now catalog.Entry) bool {
	return !old.Changed.Equal(now.Changed) || old.Marked != now.Marked || old.Type != now.Type
}

// changed reports whether an entry is not what it was. What the catalog tells of the subject is none of the person's.
func changed(old, now catalog.Entry) bool { return moved(old, now) || len(differences(old, now)) > 0 }

// Lost is a snapshot of a list that had more than twice as many entries in the one before.
type Lost struct {
	Snapshot
	Before int
}

// Shrunk are the newest snapshots of accounts that are so.
func (k *Service) Shrunk(ctx context.Context) ([]Lost, error) {
	return db.All(ctx, k.DB.Read(), "look for lists that shrank", func(row db.Row) (l Lost, err error) {
		err = row.Scan(&l.ID, &l.AccountID, &l.Entries, &l.Before)
		return l, err
	}, `SELECT s.id, s.account_id, s.entries, b.entries FROM (SELECT account_id, MAX(id) AS id FROM snapshots WHERE taken_at <> 0 AND source = 'list' GROUP BY account_id) newest
		JOIN snapshots s ON s.id = newest.id
		JOIN snapshots b ON b.id = (SELECT MAX(o.id) FROM snapshots o WHERE o.account_id = s.account_id AND o.taken_at <> 0 AND o.source = 'list' AND o.id < s.id)
		WHERE s.entries * 2 < b.entries`)
}

// List are the snapshots of an account, the newest first.
func (k *Service) List(ctx context.Context, accountID int64) ([]Snapshot, error) {
	if _, err := k.Accounts.Get(ctx, accountID); err != nil {
		return nil, err
	}
	return k.store.list(ctx, accountID)
}

// Get is a snapshot, or ErrNotFound.
func (k *Service) Get(ctx context.Context, id int64) (Snapshot, error) { return k.store.get(ctx, id) }

// Delete forgets a snapshot, or returns ErrNotFound.
func (k *Service) Delete(ctx context.Context, id int64) error {
	s, err := k.store.get(ctx, id)
	if err != nil {
		return err
	}
	return k.store.remove(ctx, s.AccountID, []int64{id})
}

// Newest is the newest snapshot of an account, or ErrNone.
func (k *Service) Newest(ctx context.Context, accountID int64) (Snapshot, error) {
	if _, err := k.Accounts.Get(ctx, accountID); err != nil {
		return Snapshot{}, err
	}
	s, err := k.store.newest(ctx, accountID)
	if err != nil {
		return s, fmt.Errorf("find the newest snapshot: %w", err)
	}
	if s.ID == 0 {
		return s, ErrNone
	}
	return s, nil
}
