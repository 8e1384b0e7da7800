package app

import (
	"watchmark/internal/platform/settings"
	"watchmark/internal/source/nas"
)

// newNAS reads the library of a NAS as the settings say.
func (a *App) newNAS(dataDir string) *nas.Reader {
	return nas.NewReader(nas.Config{
		DB: a.db, Folder: dataDir, Take: a.engine.Take, Schedule: a.jobs, Plan: a.plan("nas.cron", func(s settings.Settings) string { return s.NAS.Cron }), Log: a.log,
		Options: func() nas.Options {
			s := a.Settings.Current().NAS
			return nas.Options{
				Enabled: s.Enabled, Path: s.DatabasePath, User: s.User, MinPercent: s.MinPercent, Range: nas.Range(s.Range), Limit: s.Limit,
			}
		},
	})
}
