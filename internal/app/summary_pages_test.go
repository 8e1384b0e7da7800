package app_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"

	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/llmtest"
)

// TestBrowserHasTheDayTold sets up a language model, is refused with a wrong key, makes a first summary, tries it, and sends it.
func TestBrowserHasTheDayTold(t *testing.T) {
	const key = "sk-of-the-language-model-0123456789"
	tab := browsertest.Start(t)
	remote, base := llmtest.Start(t, llmtest.Config{Key: key, Models: []string{"qwen"}})
	s := start(t, "WATCHMARK_AUTH_ENABLED=false")
	s.settled(s.custom(`{"title":"灯塔守望者","season":1,"episode":5,"user_name":"Mira"}`))
	browsertest.Complaints(t, tab)
	save, test := browsertest.Click("#llm-settings button.primary"), browsertest.Click("form[data-url$='/llm/test'] button")
	browsertest.Run(t, tab, browsertest.Sized(390, 844), chromedp.Navigate(s.url+"/messages/llm"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("#llm", "Summaries work without a language model")),
		browsertest.Type("#llm-url", base), browsertest.Type("#llm-model", "qwen"), browsertest.Type("#llm-key", "sk-that-is-a-wrong-one"), save,
		browsertest.Until(browsertest.Says("#llm", "Uses qwen at")),
		browsertest.Until(browsertest.Says("#llm-told", "The service of the language model refuses the key")), browsertest.Until(browsertest.Says("#llm-told", "Check llm.api_key")),
		browsertest.Until(browsertest.Says("#llm", "Last problem")),
		browsertest.Type("#llm-key", key), save, browsertest.Until(browsertest.Says("#llm-told", "qwen answers.")), browsertest.Until(`document.getElementById("llm-key").value === ""`),
		test, browsertest.Until(browsertest.Says("#llm-usage", "3 requests")),
		browsertest.Until(`document.documentElement.scrollWidth <= 390`),

		chromedp.Navigate(s.url+"/messages/summaries"), browsertest.Until(browsertest.Listening), browsertest.Until(browsertest.Says("#airing", "Offline data are switched off")),
		browsertest.Click("#jobs .empty form button"), browsertest.Until(browsertest.Says("#jobs", "Every day at 21:00")),
	)
	written := make(chan struct{})
	remote.Next(llmtest.Reply{Wait: written, Body: `{"model":"qwen","choices":[{"message":{"role":"assistant","content":"Mira watched <b>the lighthouse</b>.\n\nA fine day."},"finish_reason":"stop"}],"usage":{"prompt_tokens":90,"completion_tokens":12}}`})
	try, send := browsertest.Click(".job form[data-url$='/test'] button"), browsertest.Click(".job form[data-url$='/trigger'] button")
	// While one is being written another press does nothing.
	browsertest.Run(t, tab, try, browsertest.Until(browsertest.Says(".job .told", "Writing; nothing is sent.")), send)
	close(written)
	browsertest.Run(t, tab, browsertest.Until(browsertest.Says(".job .told", "Mira watched <b>the lighthouse</b>.\n\nA fine day.")), browsertest.Until(browsertest.Says(".job .told", "Nothing was saved or sent.")),
		browsertest.Until(browsertest.Says(".job .told", "written by qwen")), browsertest.Until(browsertest.Says(".job", "Not yet")),
		send, browsertest.Until(browsertest.Says(".job .told", "Summary saved. It was not sent, because no channel gets it.")),
		browsertest.Until(`!document.querySelector(".job").innerText.includes("Not yet")`),
		browsertest.Click(".job h3 a"), browsertest.Until(browsertest.Says("#results", "A quiet day with good episodes.")), browsertest.Until(browsertest.Says("#results", "by hand")),
	)
	if n := len(remote.Requests()); n != 5 {
		t.Errorf("the model was asked %d times, want 5: three tests, a try, and a run", n)
	}
	var inbox struct{ Items []struct{ Kind string } }
	s.api(http.MethodGet, "/api/notification/inbox?kind=summary_ready", "", http.StatusOK, &inbox)
	if len(inbox.Items) != 1 {
		t.Errorf("%d summaries stand in the inbox", len(inbox.Items))
	}
}

// TestBrowserSaysWhomASummaryReaches: a page promises to tell only where a rule and a channel carry it.
func TestBrowserSaysWhomASummaryReaches(t *testing.T) {
	tab := browsertest.Start(t)
	s := withArchive(t)
	s.again("WATCHMARK_AUTH_ENABLED=false")
	s.settled(s.custom(`{"title":"灯塔守望者","season":1,"episode":5,"user_name":"Mira"}`))
	s.api(http.MethodPost, "/api/summary/jobs", `{"name":"daily"}`, http.StatusCreated, nil)
	s.api(http.MethodPatch, "/api/settings", `{"notification":{"airing_cron":"0 9 * * *"}}`, http.StatusOK, nil)
	browsertest.Complaints(t, tab)
	send := browsertest.Click(".job form[data-url$='/trigger'] button")
	browsertest.Run(t, tab, browsertest.Sized(390, 844), chromedp.Navigate(s.url+"/messages/summaries"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says(".job", "Not sent to anybody")), browsertest.Until(browsertest.Says(".job", "No channel is switched on")),
		browsertest.Until(browsertest.Says("#airing", "Only in the inbox")), browsertest.Until(browsertest.Says("#airing", "No channel is switched on")),
		browsertest.Until(`!document.querySelector("#airing").innerText.includes("Sent every day")`),
		send, browsertest.Until(browsertest.Says(".job .told", "Summary saved. It was not sent, because no channel gets it.")),
		browsertest.Until(`document.documentElement.scrollWidth <= 390`))
	s.api(http.MethodPost, "/api/notification/webhooks", `{"name":"phone","config":{"url":"http://127.0.0.1:9/x"}}`, http.StatusCreated, nil)
	browsertest.Run(t, tab, chromedp.Navigate(s.url+"/messages/summaries"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says(".job", "No notification rule covers this")), browsertest.Until(browsertest.Says("#airing", "No notification rule covers this")),
		browsertest.Click(".job form[data-url$='/rules'] button"), browsertest.Until(browsertest.Says(".job .facts", "phone")),
		browsertest.Until(`!document.querySelector(".job").innerText.includes("Not sent to anybody")`),
		send, browsertest.Until(browsertest.Says(".job .told", "Summary saved and sent.")),
		browsertest.Click("#airing form[data-url$='/rules'] button"), browsertest.Until(browsertest.Says("#airing", "Sent every day")), browsertest.Until(browsertest.Says("#airing", "phone")),
		browsertest.Until(`document.documentElement.scrollWidth <= 390`))
	if rules := list[struct{ Kinds []string }](s, "/api/notification/rules"); len(rules) != 3 {
		t.Errorf("the rules are %+v", rules)
	}
	// A job that names its own channel, which is then switched off.
	s.api(http.MethodPut, "/api/summary/jobs/daily", `{"name":"daily","channels":[1]}`, http.StatusOK, nil)
	s.api(http.MethodPut, "/api/notification/webhooks/1", `{"name":"phone","enabled":false,"config":{"url":"http://127.0.0.1:9/x"}}`, http.StatusOK, nil)
	browsertest.Run(t, tab, chromedp.Navigate(s.url+"/messages/summaries/daily"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says(".job", "The chosen channels are switched off or deleted")))
}
