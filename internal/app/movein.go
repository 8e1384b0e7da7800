package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"watchmark/internal/upkeep/movein"
)

// MoveIn takes over what Bangumi-syncer left in a folder, where agree, which is shown what would be taken, says so.
// The report is that of the preview when it does not. It returns db.ErrLocked while a service runs on the data folder, for
// that would know nothing of what comes behind its back.
func MoveIn(ctx context.Context, o Options, folder string, agree func(files []string, preview movein.Report) (bool, error)) (report movein.Report, err error) {
	address, err := databaseURL(o)
	if err != nil {
		return report, err
	}
	if address != "" {
		return report, errors.New("database.url names a PostgreSQL database, which others may use meanwhile: move into an empty folder, without database.url and WATCHMARK_DATABASE_URL, " +
			"and move that to an empty database with watchmark move-database --to URL")
	}
	a, err := New(ctx, o)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	// Nobody else uses the data folder, so these are of a run that was cut off.
	left, err := filepath.Glob(filepath.Join(o.DataDir, movein.CopyPattern))
	if err != nil { // the pattern can be read
		return report, err
	}
	for _, copied := range left {
		if err := os.RemoveAll(copied); err != nil {
			return report, fmt.Errorf("remove an old copy: %w", err)
		}
	}
	plan, err := movein.Open(ctx, folder, o.DataDir)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, plan.Close()) }()
	home := movein.Home{
		DB: a.db, Settings: a.Settings, Accounts: a.Accounts, Mappings: a.Mappings, Notices: a.Notices, Summaries: a.summaries, Tracker: a.tracker,
	}
	if report, err = plan.Preview(ctx, home); err != nil {
		return report, err
	}
	if yes, err := agree(plan.Files, report); err != nil || !yes {
		return report, err
	}
	return plan.Apply(ctx, home)
}
