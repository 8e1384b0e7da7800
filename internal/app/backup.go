package app

import (
	"path/filepath"

	"watchmark/internal/platform/settings"
	"watchmark/internal/upkeep/backup"
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
		KeyOutside: givenKey(o) != "",
	})
}
