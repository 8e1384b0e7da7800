package app_test

import (
	"log/slog"
	"net/http"
	"regexp"
	"testing"

	"github.com/chromedp/chromedp"

	"watchmark/internal/testkit/browsertest"
)

// TestBrowserSettingsOfTheService changes settings of the running service on their page, with
// the answers of its own API.
func TestBrowserSettingsOfTheService(t *testing.T) {
	tab := browsertest.Start(t)
	s := startEmpty(t)
	browsertest.Run(t, tab, browsertest.Sized(1280, 900), chromedp.Navigate(regexp.MustCompile(`http://\S+/setup\?token=\S+`).FindString(s.logs.String())),
		browsertest.Type("#name", "admin"), browsertest.Type("#password", password), browsertest.Click("form[data-api] button"), browsertest.Until(browsertest.Listening),
		browsertest.Click(`#nav a[href="/settings"]`), browsertest.Until(browsertest.Says("h1", "Settings")), browsertest.Until(browsertest.Listening),
		browsertest.Until(`document.querySelector("#setting-catalog-api_url").disabled`),

		browsertest.Click("#section-nas summary"), browsertest.Type("#setting-nas-cron", "never"), browsertest.Until(browsertest.Says("#section-nas .runs", "not a valid schedule")),
		browsertest.Click("#section-nas .primary"), browsertest.Until(browsertest.Says("#section-nas .field-error", "is not a cron expression")),
		browsertest.Type("#setting-nas-cron", "0 8 * * 3"), browsertest.Until(`document.querySelectorAll("#section-nas .runs time").length === 3`),
		browsertest.Click("#section-nas [type=reset]"),

		browsertest.Click("#section-log summary"),
		chromedp.Evaluate[chromedp.Void](`for (const [name, value] of [["level", "debug"], ["format", "json"]]) {
			const field = document.querySelector("#setting-log-" + name);
			field.value = value;
			field.dispatchEvent(new Event("input", { bubbles: true }));
		}`),
		browsertest.Click("#section-log .primary"), browsertest.Until(browsertest.Says("#settings-notes", "Format")), browsertest.Until(browsertest.Says("#section-log summary", "2 changed")),
	)
	if got := s.app.Settings.Current(); got.Log.Level != slog.LevelDebug || got.Log.Format != "text" || got.NAS.Cron != "*/5 * * * *" {
		t.Errorf("in force is %+v, and the NAS is read at %s", got.Log, got.NAS.Cron)
	}
	browsertest.Run(t, tab, browsertest.Click("#section-log [data-back]"), browsertest.Click("#section-log .primary"), browsertest.Until(browsertest.Says("#section-log summary", "1 changed")),
		chromedp.Navigate(s.url+"/settings/access"), browsertest.Until(browsertest.Listening), browsertest.Until(browsertest.Says("main", "You sign in as admin.")),
		browsertest.Click("#password-change summary"), browsertest.Type("#old", "not "+password), browsertest.Type("#new", "as correct as before"), browsertest.Click("#password-change button"),
		browsertest.Until(browsertest.Says("#password-change .field-error", "the old password is wrong")),
		browsertest.Type("#old", password), browsertest.Click("#password-change button"), browsertest.Until(browsertest.Says("#toasts", "Password changed.")),
		browsertest.Type("#key-name", "home automation"), browsertest.Click(".key-form button"), browsertest.Until(browsertest.Says(".keys-list", "home automation")),
	)
	if got := s.app.Settings.Current().Log.Level; got != slog.LevelInfo {
		t.Errorf("back at its default the level is %s", got)
	}
	key, err := chromedp.Run(tab, chromedp.Evaluate[string](`document.querySelector("#new-key code").textContent`))
	if err != nil {
		t.Fatal(err)
	}
	s.key = key
	var who struct{ Name string }
	if s.api(http.MethodGet, "/api/session", "", http.StatusOK, &who); who.Name != "home automation" {
		t.Errorf("who has the new key is %q", who.Name)
	}
}
