package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"watchmark/internal/catalog"
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
	lost, err := a.snapshots.Shrunk(ctx)
	problems := []error{err, a.failedJob(ctx, snapshot.JobName, job.LastProblem)}
	for _, s := range lost {
		by, err := a.Accounts.Get(ctx, s.AccountID)
		problems = append(problems, err)
		n := notify.Notice{Kind: notify.ListShrunk, AccountID: s.AccountID, Account: by.Username, About: strconv.FormatInt(s.ID, 10),
			Facts: map[string]string{"before": strconv.Itoa(s.Before), "now": strconv.Itoa(s.Entries)}}
		problems = append(problems, a.tell(ctx, fmt.Sprintf("list of %d", s.AccountID), n.About, n))
	}
	return errors.Join(problems...)
}
