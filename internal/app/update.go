package app

import "watchmark/internal/upkeep/update"

// newUpdates looks for newer versions of the program, while the settings say so.
func (a *App) newUpdates() *update.Checker {
	return update.New(update.Config{
		HTTP: a.http, Version: Version(),
		URL: func() string {
			if s := a.Settings.Current().Server; s.UpdateCheck {
				return s.UpdateURL
			}
			return ""
		},
	})
}
