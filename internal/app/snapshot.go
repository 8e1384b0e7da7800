package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/schedule"
	"watchmark/internal/platform/settings"
	"watchmark/internal/record"
	"watchmark/internal/tell/notify"
	"watchmark/internal/upkeep/snapshot"
)

// newSnapshots keeps the lists of the accounts. The catalog's clients are built before it.
func (a *App) newSnapshots() *snapshot.Service {
	plan := a.plan("snapshot.cron", func(s settings.Settings) string { return s.Snapshot.Cron })
	return snapshot.NewService(snapshot.Config{
		DB: a.db, Accounts: a.Accounts, Lists: a.clients, Tasks: a.tasks, Holds: a.holds, Log: a.log,
		Plan: func() schedule.Plan {
			if !a.Settings.Current().Snapshot.Enabled {
				return schedule.Plan{}
			}
			return plan()
		},
		Keep:    func() int { return a.Settings.Current().Snapshot.Keep },
		Written: a.Records.Written,
		Entries: a.entries,
		Resumed: record.ResumedTx,
		Seen:    a.words.Seen,
		Code: func(id catalog.SubjectID) int {
			table, _ := a.Dataset.Table()
			if table == nil {
				return 0
			}
			entry, _ := table.Entry(id)
			return int(entry.MAL)
		},
	})
}

// lookAtSnapshots tells of a list that lost much of what it had, and of lists that cannot be read: nobody looks at backups.
func (a *App) lookAtSnapshots(ctx context.Context) error {
	job := a.jobs.Now(snapshot.JobName)
	if job.Running || job.LastRun == nil {
		return nil
	}
	if !a.Settings.Current().Snapshot.Enabled {
		job.LastProblem = reason.Reason{}
	}
	lost, err := a.snapshots.Shrunk(ctx)
	problems := []error{err, a.failedJob(ctx, snapshot.JobName, job.LastProblem), a.lookWhatCameBack(ctx)}
	for _, s := range lost {
		by, err := a.Accounts.Get(ctx, s.AccountID)
		problems = append(problems, err)
		key, at := fmt.Sprintf("%s%d", shrunkOf, s.AccountID), strconv.FormatInt(s.ID, 10)
		problems = append(problems, a.Notices.Once(ctx, key, fmt.Sprintf("%s of %d", at, s.Before), func(before string) []notify.Notice {
			if before == at { // told by an older version
				return nil
			}
			return []notify.Notice{{Kind: notify.ListShrunk, AccountID: s.AccountID, Account: by.Username, Facts: map[string]string{"before": strconv.Itoa(s.Before), "now": strconv.Itoa(s.Entries)}}}
		}))
	}
	return errors.Join(problems...)
}

// shrunkOf begins the keys of lists that lost much, before the account.
const shrunkOf = "list of "

// lookWhatCameBack tells that the matter of a list that lost much is over, once its newest snapshot has more than half of it again.
func (a *App) lookWhatCameBack(ctx context.Context) error {
	told, err := a.Notices.Told(ctx, shrunkOf)
	problems := []error{err}
	for key, state := range told {
		var id, accountID int64
		var before int
		if _, err := fmt.Sscanf(state, "%d of %d", &id, &before); err != nil {
			continue // told by an older version, which kept no number
		}
		if _, err := fmt.Sscanf(key, shrunkOf+"%d", &accountID); err != nil {
			continue
		}
		newest, err := a.snapshots.Newest(ctx, accountID)
		switch {
		case errors.Is(err, snapshot.ErrNone), errors.Is(err, account.ErrNotFound), err == nil && newest.ID != id && newest.Entries*2 >= before:
			problems = append(problems, a.tell(ctx, key, "", notify.Notice{Kind: notify.ListShrunk, AccountID: accountID}))
		case err != nil:
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}
