package app

import (
	"time"

	cron "github.com/netresearch/go-cron"

	"watchmark/internal/source/nas"
)

// newNAS reads the library of a NAS as the settings say.
func (a *App) newNAS(dataDir string) *nas.Keeper {
	return nas.NewKeeper(nas.Config{
		DB: a.db, Folder: dataDir, Take: a.engine.Take, Next: a.nextNAS, Log: a.log,
		Options: func() nas.Options {
			s := a.Settings.Current().NAS
			return nas.Options{
				Enabled: s.Enabled, Path: s.DatabasePath, User: s.User, MinPercent: s.MinPercent, Range: nas.Range(s.Range), Limit: s.Limit,
			}
		},
	})
}

// nextNAS is when the library of the NAS is read after t.
func (a *App) nextNAS(t time.Time) time.Time {
	schedule, err := cron.ParseStandard(a.Settings.Current().NAS.Cron)
	if err != nil { // the settings hold what can be parsed
		return t.Add(time.Hour)
	}
	return schedule.Next(t)
}
