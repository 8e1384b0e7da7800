package app

import (
	"encoding/json"
	"fmt"
	"net/url"

	"watchmark/internal/httpx"
	"watchmark/internal/lan"
	"watchmark/internal/llm"
	"watchmark/internal/settings"
	"watchmark/internal/summary"
)

// buildSummaries makes what writes summaries and tells what airs today.
func (a *App) buildSummaries() error {
	var err error
	if a.models, err = httpx.New(a.outboundModel(a.Settings.Current()), a.masker, a.log); err != nil {
		return fmt.Errorf("setting network.proxy: %w", err)
	}
	a.Settings.OnChange(func(_, now settings.Settings) {
		if err := a.models.Apply(a.outboundModel(now)); err != nil {
			a.log.Error("the proxy cannot be used; the language model is asked the old way", "error", err)
		}
	})
	a.llm = llm.New(llm.Config{
		HTTP: a.models, Usage: llm.NewUsage(a.db), Log: a.log,
		Options: func() llm.Options {
			s := a.Settings.Current().LLM
			return llm.Options{BaseURL: s.BaseURL, APIKey: s.APIKey, Model: s.Model, MaxTokens: s.MaxTokens, Temperature: json.Number(s.Temperature)}
		},
	})
	language := func() string { return a.Settings.Current().Notification.Language }
	a.summaries = summary.NewKeeper(summary.Config{
		DB: a.db, Records: a.Records, Model: a.llm, Language: language, Next: settings.NextRun, Notify: a.Notices.AddTx, Wake: a.Notices.Wake, Log: a.log,
	})
	a.airing = summary.NewAiring(summary.AiringConfig{
		DB: a.db, Accounts: a.Accounts, Lists: a.keeper, Language: language, Notify: a.Notices.AddTx, Wake: a.Notices.Wake, Log: a.log,
		Next: a.schedule("notification.airing_cron", func(s settings.Settings) string { return s.Notification.AiringCron }),
		Guide: func() (summary.Guide, summary.Reason) {
			switch {
			case !a.Settings.Current().CatalogArchive.Enabled:
				return nil, summary.ArchiveOff
			case !a.Archive.Ready():
				return nil, summary.ArchiveMissing
			}
			return a.Archive, ""
		},
	})
	a.Settings.OnChange(func(settings.Settings, settings.Settings) { a.airing.Kick() })
	return nil
}

// outboundModel is for the language model, which has a timeout of its own. One at home is not asked
// by way of the proxy, which need not know the way back.
func (d *Data) outboundModel(s settings.Settings) httpx.Config {
	c := d.outbound(s)
	c.Ended = d.countCallsOf("language_model")
	c.PerMinute, c.Burst, c.Retries, c.MaxBody, c.Timeout = 60, 10, 0, llm.MaxBody, s.LLM.Timeout
	if base, err := url.Parse(s.LLM.BaseURL); err == nil {
		c.Direct = lan.IsHome(base.Hostname())
	}
	return c
}
