package summary

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/tell/calendar"
	"watchmark/internal/tell/notify"
	"watchmark/internal/watch"
)

const (
	// linesMost is how many episodes are listed.
	linesMost = 50
	// againAfter is when a catalog that did not answer is asked again.
	againAfter = 30 * time.Minute
)

// Calendar knows what airs; *calendar.Service is one.
type Calendar interface {
	Today(ctx context.Context, a account.Account, now time.Time) (items []calendar.Item, unread, err error)
	Ready() calendar.Missing
}

// Reason is why nothing is listed.
type Reason string

// The reasons; empty while what airs is listed.
const (
	SwitchedOff    Reason = "off"
	ArchiveOff            = Reason(calendar.ArchiveOff)
	ArchiveMissing        = Reason(calendar.ArchiveMissing)
)

// AiringConfig is what an Airing is made of; every field must be set.
type AiringConfig struct {
	DB       *db.DB
	Accounts *account.Store
	Calendar Calendar
	Plan     func() schedule.Plan
	// Language is that of notifications: "en" or "zh-CN". It is asked at each use.
	Language func() bilingual.Language
	// Notify stores notices within tx; Wake is called after the commit.
	Notify func(ctx context.Context, tx *sql.Tx, notices ...notify.Notice) error
	Wake   func()
	Log    *slog.Logger
}

// Airing tells once a day, for each enabled account, which episodes of what is being watched air.
// What airs, the calendar says; while the catalog does not answer, it is asked again.
type Airing struct {
	AiringConfig

	mu sync.Mutex
	// again is when a catalog that did not answer is asked again.
	again time.Time
}

// NewAiring is an Airing; its Job tells.
func NewAiring(c AiringConfig) *Airing { return &Airing{AiringConfig: c} }

// AiringJob is the name of the job that tells what airs.
const AiringJob = "airing"

// Job sends the list to each account that did not get it yet, when it is time. A day that the service was off for at its time is made up for
// on that day, and so is one on which there was nothing to look into.
func (a *Airing) Job() schedule.Job {
	return schedule.Job{
		Name: AiringJob, Quiet: true, Plan: a.Plan,
		Look: func(ctx context.Context) (bool, error) { return a.due(ctx, time.Now()) },
		Run: func(ctx context.Context, run *schedule.Run) error {
			now := time.Now()
			if due, err := a.due(ctx, now); err != nil || !due && !run.Asked {
				return err
			}
			return a.tellAll(ctx, now)
		},
		Ready: func(context.Context) error {
			if a.Calendar.Ready() != "" {
				return errNoGuide
			}
			return nil
		},
	}
}

// due reports whether an account is to get its list now.
func (a *Airing) due(ctx context.Context, now time.Time) (bool, error) {
	slot := a.Plan().After(watch.DayStart(now, 0).Add(-time.Second))
	a.mu.Lock()
	again := a.again
	a.mu.Unlock()
	if slot.IsZero() || slot.After(now) || a.Calendar.Ready() != "" || again.After(now) && again.Before(now.Add(2*againAfter)) {
		return false, nil
	}
	waiting, err := a.waiting(ctx, now.Format(time.DateOnly))
	return len(waiting) > 0, err
}

// tellAll sends the list to each account that did not get it today.
func (a *Airing) tellAll(ctx context.Context, now time.Time) error {
	waiting, err := a.waiting(ctx, now.Format(time.DateOnly))
	if err != nil || len(waiting) == 0 || a.Calendar.Ready() != "" {
		return err
	}
	for _, one := range waiting {
		if err := a.tell(ctx, one, now); err != nil {
			return err
		}
	}
	return nil
}

// waiting are the accounts that did not get the list of a day.
func (a *Airing) waiting(ctx context.Context, day string) ([]account.Account, error) {
	all, err := a.Accounts.List(ctx)
	if err != nil {
		return nil, err
	}
	days, err := a.lastDays(ctx)
	return slices.DeleteFunc(all, func(one account.Account) bool {
		return !one.Enabled || !one.HasToken || days[one.ID].Day == day
	}), err
}

// tell tells one account. The error is that of the database, or of ctx.
func (a *Airing) tell(ctx context.Context, one account.Account, now time.Time) error {
	mine, unread, err := a.Calendar.Today(ctx, one, now)
	if err != nil {
		return fmt.Errorf("look what airs: %w", err)
	}
	var problem reason.Reason
	switch {
	case errors.Is(unread, catalog.ErrUnreachable):
		a.Log.WarnContext(ctx, "the list of an account cannot be read; it is tried again in half an hour", "account", one.Username, "error", unread)
		a.mu.Lock()
		a.again = now.Add(againAfter)
		a.mu.Unlock()
		return nil
	case unread != nil:
		a.Log.WarnContext(ctx, "the list of an account cannot be read; what airs today is not listed", "account", one.Username, "error", unread)
		problem = listUnreadable.With()
	}
	day := now.Format(time.DateOnly)
	sent := false
	err = a.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `INSERT INTO airing_days (account_id, day, at, episodes, problem) SELECT ?, ?, ?, ?, ? WHERE `+account.Existing+` IS NOT NULL
			ON CONFLICT (account_id) DO UPDATE SET day = excluded.day, at = excluded.at, episodes = excluded.episodes, problem = excluded.problem WHERE airing_days.day <> excluded.day`,
			one.ID, day, now.UnixMilli(), len(mine), problem, one.ID)
		if err != nil {
			return fmt.Errorf("keep that account %d got the list of what airs: %w", one.ID, err)
		}
		// Another process may have been faster, or the account is gone.
		if n, err := result.RowsAffected(); err != nil || n == 0 || len(mine) == 0 {
			return err
		}
		sent = true
		n := AiringNotice(one)
		n.At, n.About = now, "airing "+day
		n.Facts = map[string]string{"airdate": day, "total": strconv.Itoa(len(mine)), "list": listOf(mine, wordsOf(a.Language()))}
		return a.Notify(ctx, tx, n)
	})
	if err != nil {
		return err
	}
	if sent {
		a.Wake()
	}
	a.Log.InfoContext(ctx, "looked what airs today", "account", one.Username, "episodes", len(mine))
	return nil
}

// AiringNotice is the notice of what airs for an account, without what airs: enough to see where it goes.
func AiringNotice(one account.Account) notify.Notice {
	return notify.Notice{Kind: notify.AiringToday, AccountID: one.ID, Account: one.Username}
}

// listOf is a line for each episode, and what is left out.
func listOf(airing []calendar.Item, w words) string {
	var lines []string
	for i, e := range airing {
		if i == linesMost {
			lines = append(lines, w.moreEpisodes(len(airing)-linesMost))
			break
		}
		line := "- "
		if !e.At.IsZero() {
			line += e.At.Local().Format("15:04") + " "
		}
		line += oneLine(e.Subject.DisplayName())
		if e.Subject.Name != "" && e.Subject.Name != e.Subject.DisplayName() {
			line += " (" + oneLine(e.Subject.Name) + ")"
		}
		label := w.episode(number(e.Episode.Sort), false)
		if e.Episode.Type == catalog.Special {
			label = "SP " + number(e.Episode.Sort)
		}
		line += w.colon + label
		if name := cmp.Or(e.Episode.NameCN, e.Episode.Name); name != "" {
			line += " " + oneLine(name)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// AiringDay is when what airs was last listed for an account.
type AiringDay struct {
	AccountID int64         `json:"account_id"`
	Account   string        `json:"account" doc:"The account's user name."`
	Day       string        `json:"day" doc:"The day it was listed for." example:"2026-05-31"`
	At        time.Time     `json:"at" doc:"When that was."`
	Episodes  int           `json:"episodes" doc:"How many episodes aired; no message is sent for 0."`
	Problem   reason.Reason `json:"problem_value,omitzero" doc:"Why it could not be listed; empty when it was."`
}

// MarshalJSON has the text of the problem beside it, as problem.
func (t AiringDay) MarshalJSON() ([]byte, error) {
	type plain AiringDay
	return reason.MarshalBeside((*plain)(&t))
}

func (a *Airing) lastDays(ctx context.Context) (map[int64]AiringDay, error) {
	days := map[int64]AiringDay{}
	err := db.Each(ctx, a.DB.Read(), "read who got the list of what airs", func(row db.Row) error {
		var t AiringDay
		var at int64
		err := row.Scan(&t.AccountID, &t.Account, &t.Day, &at, &t.Episodes, &t.Problem)
		t.At = time.UnixMilli(at)
		days[t.AccountID] = t
		return err
	}, `SELECT d.account_id, `+account.NameOf("d.account_id")+`, d.day, d.at, d.episodes, d.problem FROM airing_days d`)
	return days, err
}

// AiringStatus is where telling what airs stands.
type AiringStatus struct {
	Reason Reason `json:"reason" enum:",off,archive_off,archive_missing" doc:"Why nothing is listed: notification.airing_cron is empty, the offline data is switched off, or it is not imported yet. Empty while what airs is listed; whom that reaches is for the notification rules to say."`
	// NextRun is nil while nothing is planned.
	NextRun *time.Time  `json:"next_run" doc:"When it is listed next; null while it is not."`
	Told    []AiringDay `json:"told" doc:"When it was last listed for each account."`
}

// Status is where telling what airs stands now.
func (a *Airing) Status(ctx context.Context) (AiringStatus, error) {
	days, err := a.lastDays(ctx)
	if err != nil {
		return AiringStatus{}, err
	}
	s := AiringStatus{Told: []AiringDay{}}
	for _, t := range days {
		s.Told = append(s.Told, t)
	}
	slices.SortFunc(s.Told, func(x, y AiringDay) int { return strings.Compare(x.Account, y.Account) })
	next := a.Plan().After(time.Now())
	if s.Reason = Reason(a.Calendar.Ready()); next.IsZero() {
		s.Reason = SwitchedOff
	}
	if s.Reason == "" {
		next = next.UTC()
		s.NextRun = &next
	}
	return s, nil
}
