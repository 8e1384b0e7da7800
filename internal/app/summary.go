package app

import (
	"encoding/json"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/settings"
	"watchmark/internal/tell/calendar"
	"watchmark/internal/tell/llm"
	"watchmark/internal/tell/summary"
)

// buildSummaries makes what writes summaries and tells what airs today.
func (a *App) buildSummaries() error {
	models, err := a.newWay(a.outboundModel)
	if err != nil {
		return err
	}
	a.llm = llm.New(llm.Config{
		HTTP: models, Usage: llm.NewUsage(a.db), Log: a.log,
		Options: func() llm.Options {
			s := a.Settings.Current().LLM
			return llm.Options{BaseURL: s.BaseURL, APIKey: s.APIKey, Model: s.Model, MaxTokens: s.MaxTokens, Temperature: json.Number(s.Temperature)}
		},
	})
	language := func() bilingual.Language { return bilingual.Language(a.Settings.Current().Notification.Language) }
	a.summaries = summary.NewService(summary.Config{
		DB: a.db, Records: a.Records, Model: a.llm, Language: language, Next: settings.NextRun, Schedule: a.jobs, Tasks: a.tasks, Holds: a.holds, Notify: a.Notices.AddTx, Wake: a.Notices.Wake, MayTry: a.Notices.MayTry, Log: a.log,
	})
	a.calendar = a.newCalendar()
	a.airing = summary.NewAiring(summary.AiringConfig{
		DB: a.db, Accounts: a.Accounts, Calendar: a.calendar, Language: language, Notify: a.Notices.AddTx, Wake: a.Notices.Wake, Log: a.log,
		Plan: a.plan("notification.airing_cron", func(s settings.Settings) string { return s.Notification.AiringCron }),
	})
	return nil
}

// newCalendar knows what airs.
func (a *App) newCalendar() *calendar.Service {
	return calendar.New(calendar.Config{
		DB: a.db, Box: a.box, Accounts: a.Accounts, Lists: a.clients, Written: a.Records.Written, Log: a.log, SubjectURL: a.subjectURL,
		Language: func() bilingual.Language { return bilingual.Language(a.Settings.Current().Notification.Language) },
		Guide: func() (calendar.Guide, calendar.Missing) {
			switch {
			case !a.Settings.Current().CatalogArchive.Enabled:
				return nil, calendar.ArchiveOff
			case !a.Archive.Ready():
				return nil, calendar.ArchiveMissing
			}
			return a.Archive, ""
		},
		Table: func() calendar.Table {
			if table, _ := a.Dataset.Table(); table != nil {
				return table
			}
			return nil
		},
	})
}
