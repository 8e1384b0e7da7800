package app_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"

	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/channeltest"
)

// TestBrowserTellsTheHousehold goes the way from a failure to a telephone: a channel is added and tested, a wrong key is mended, a
// rule is added, and the inbox shows what went where.
func TestBrowserTellsTheHousehold(t *testing.T) {
	tab := browsertest.Start(t)
	s := start(t, "WATCHMARK_AUTH_ENABLED=false")
	hook, robot := channeltest.NewHook(t), channeltest.NewWeCom(t)
	browsertest.Run(t, tab, browsertest.Sized(1280, 900), chromedp.Navigate(s.url+"/messages"), browsertest.Until(browsertest.Listening),
		browsertest.Until(browsertest.Says("main", "No channel yet")),
		browsertest.Click(".add-types a[href$='type=webhook']"), browsertest.Until(browsertest.Says("h1", "Add a webhook")), browsertest.Until(browsertest.Listening),
		browsertest.Type("#name", "phone"), browsertest.Type("#url", "no address"), browsertest.Click("#channel-form button.primary"),
		browsertest.Until(browsertest.Says(".field-error", "http://")), browsertest.Until(`document.activeElement.id === "url"`),
		browsertest.Type("#url", hook.URL), browsertest.Type("#headers", "X-Key: home-key-4711"), browsertest.Click("#channel-form button.primary"),
		browsertest.Until(browsertest.Says("#channel-tried", "this channel works.")), browsertest.Until(`location.pathname === "/messages/channels/1"`),

		chromedp.Navigate(s.url+"/messages/channels/new?type=wecom"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#name", "group"), browsertest.Type("#key", "00000000-wrong-key-of-the-robot"), browsertest.Type("#url", robot.Address[:len(robot.Address)-len("?key=")-36]),
		browsertest.Click("#channel-form button.primary"), browsertest.Until(browsertest.Says("#channel-tried", "does not know this robot (code 93000)")),
		chromedp.Navigate(s.url+"/"), browsertest.Until(browsertest.Says("main", "Channel group is paused")),
		chromedp.Navigate(s.url+"/messages"), browsertest.Until(browsertest.Listening), browsertest.Until(browsertest.Says("#standing-2", "Paused")),
		browsertest.Click("#channel-2 a[href$='/channels/2']"), browsertest.Until(browsertest.Says("h1", "group")), browsertest.Until(browsertest.Listening),
		browsertest.Type("#key", robot.Address), browsertest.Click("#channel-form button.primary"), browsertest.Until(browsertest.Says("#channel-tried", "this channel works.")),
		// What was stored of the first stays when its name changes.
		chromedp.Navigate(s.url+"/messages/channels/1"), browsertest.Until(browsertest.Listening), browsertest.Until(`document.getElementById("url").value === "***"`),
		browsertest.Type("#name", "phone of Mira"), browsertest.Click("#channel-form button.primary"), browsertest.Until(browsertest.Says("#channel-tried", "this channel works.")),

		chromedp.Navigate(s.url+"/messages"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#channel-2 form[data-api=PUT] button"), browsertest.Click("#confirm [value=yes]"), browsertest.Until(browsertest.Says("#standing-2", "Switched off")),
		browsertest.Click("#rule-1 form[data-api=PUT] button"), browsertest.Until(browsertest.Says("#rule-1", "Switched off")),
		chromedp.Navigate(s.url+"/messages/rules/new"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#name", "For Mira"), browsertest.Click("[name=channels][value='1']"), browsertest.Click(`[data-name="Mira"]`), browsertest.Type("#title", "{anime}!"),
		browsertest.Click("[name=kinds][value=marked]"), browsertest.Click("#rule-form button.primary"),
		browsertest.Until(browsertest.Says("#rule-2", "For Mira")), browsertest.Until(browsertest.Says("#rule-2", "phone of Mira")),
	)
	tested := hook.Requests()
	if len(tested) != 2 || tested[1].Header.Get("X-Key") != "home-key-4711" {
		t.Fatalf("%d tests came, the last with %v", len(tested), tested[len(tested)-1].Header)
	}
	s.custom(`{"title":"灯塔守望者","ori_title":"灯台守のうた","season":2,"episode":7,"release_date":"2025-02-19","user_name":"Mira"}`)
	hook.Wait(t, 3)
	s.custom(`{"title":"No Such Show At All","season":1,"episode":1,"user_name":"Mira"}`)
	hook.Wait(t, 4)
	s.settled(s.custom(`{"title":"Nor This One","season":1,"episode":1,"user_name":"nobody"}`))
	var inbox struct{ Items []struct{ ID int64 } }
	s.api(http.MethodGet, "/api/notification/inbox?kind=not_matched", "", http.StatusOK, &inbox)
	if len(inbox.Items) != 1 {
		t.Fatalf("%d notices tell that nothing was found", len(inbox.Items))
	}
	browsertest.Run(t, tab, chromedp.Navigate(s.url+"/inbox"), browsertest.Until(browsertest.Listening),
		// What failed is counted once, among the records.
		browsertest.Until(browsertest.Says(`#nav a[href="/records"] .badge`, "2")), browsertest.Until(`!document.querySelector("#nav .badge.notice")`),
		browsertest.Click(fmt.Sprintf("#notice-%d a.name", inbox.Items[0].ID)), browsertest.Until(browsertest.Says("#deliveries", "Sent")),
		chromedp.Navigate(s.url+"/inbox"), browsertest.Until(browsertest.Listening),
		browsertest.Click(fmt.Sprintf("#notice-%d form[data-api=DELETE] button", inbox.Items[0].ID)), browsertest.Click("#confirm [value=yes]"),
		browsertest.Until(fmt.Sprintf(`!document.querySelector("#notice-%d")`, inbox.Items[0].ID)),
		browsertest.Click("#inbox-head form button"), browsertest.Until(`!document.querySelector(".tag.new")`),
		chromedp.Navigate(s.url+"/settings/tools/notifications"), browsertest.Until(browsertest.Listening), browsertest.Click("form[data-url$='/notification/test'] button"),
		browsertest.Until(browsertest.Says("#tested-1", "The receiver accepted it")),
		chromedp.Navigate(s.url+"/messages"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#channel-1 form[data-api=DELETE] button"), browsertest.Click("#confirm [value=yes]"), browsertest.Until(`!document.querySelector("#channel-1")`),
		browsertest.Until(browsertest.Says("#rule-2", "Switched off")),
	)
}
