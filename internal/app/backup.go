package app

import (
	"context"
	"errors"
	"path/filepath"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/settings"
	"watchmark/internal/upkeep/backup"
	"watchmark/internal/upkeep/movedb"
)

// backupDir is the folder of the backups. The default follows the data folder.
func backupDir(dataDir string, s settings.Settings) string {
	if s.Backup.Dir == settings.DefaultBackupDir {
		return filepath.Join(dataDir, "backups")
	}
	return s.Backup.Dir
}

// newBackups makes backups as the settings say. The caller registers its job.
func (d *Data) newBackups(o Options) *backup.Service {
	return backup.NewService(backup.Config{
		DataDir: o.DataDir, Dir: backupDir(o.DataDir, d.Settings.Current()), Schedule: d.jobs, Log: d.log,
		Keep:       func() int { return d.Settings.Current().Backup.Keep },
		Plan:       d.plan("backup.cron", func(s settings.Settings) string { return s.Backup.Cron }),
		OnServer:   !d.db.Alone(),
		KeyOutside: givenKey(o) != "",
	})
}

// Backup writes a backup of the data of o to file, as backup.Create does, from a server too.
func Backup(ctx context.Context, o Options, file string) (with []string, err error) {
	address, err := databaseURL(o)
	if err != nil {
		return nil, err
	}
	if address == "" {
		return backup.Create(ctx, o.DataDir, file)
	}
	d, err := db.OpenServer(ctx, address)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := movedb.Refusal(ctx, d); err != nil {
		return nil, err
	}
	return backup.CreateFrom(ctx, d, o.DataDir, file)
}

// Restore puts a backup in place of what the data folder of o holds, as backup.Restore does.
func Restore(ctx context.Context, o Options, file string) (backup.Restored, error) {
	address, err := databaseURL(o)
	if err != nil {
		return backup.Restored{}, err
	}
	if address != "" {
		return backup.Restored{}, errors.New("database.url names a PostgreSQL database, into which nothing is restored: restore into an empty folder, without database.url and WATCHMARK_DATABASE_URL, " +
			"then move that to an empty database with watchmark move-database --to URL; or use PostgreSQL's own tools")
	}
	return backup.Restore(ctx, o.DataDir, file)
}
