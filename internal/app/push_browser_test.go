package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"

	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/testkit/channeltest"
)

// TestBrowserAsAnApp installs the pages as an app, subscribes, shows what is pushed, answers from a notification, and is without the service.
func TestBrowserAsAnApp(t *testing.T) {
	tab := browsertest.Start(t)
	s := start(t, trustsPush(t)...)
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	push := channeltest.NewPush(t)
	_, err := chromedp.CallBrowser(tab, browser.SetPermission, browser.SetPermissionParams{
		Permission: &browser.PermissionDescriptor{Name: "notifications"}, Setting: browser.PermissionSettingGranted, Origin: s.url, BrowserContextID: chromedp.FromContext(tab).BrowserContextID,
	})
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Run(t, tab, browsertest.Sized(390, 844), chromedp.Navigate(s.url+"/login"), browsertest.Type("#name", "bench"), browsertest.Type("#password", password),
		browsertest.Click("#login button.primary"), browsertest.Until(browsertest.Listening))

	manifest, err := chromedp.Call(tab, page.GetAppManifest, page.GetAppManifestParams{})
	if err != nil || len(manifest.Errors) > 0 || !strings.Contains(manifest.Data, `"display":"standalone"`) {
		t.Errorf("the manifest is %+v (%v)", manifest, err)
	}
	problems, err := chromedp.Call(tab, page.GetInstallabilityErrors, cdp.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems.InstallabilityErrors {
		if p.ErrorID != "in-incognito" { // as each tab of a test is
			t.Errorf("it cannot be installed: %s", p.ErrorID)
		}
	}
	var registration atomic.Value
	if err := chromedp.Listen(tab, func(event any) {
		if e, is := event.(*serviceworker.EventWorkerRegistrationUpdated); is {
			for _, r := range e.Registrations {
				registration.Store(r.RegistrationID)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	browsertest.Run(t, tab, browsertest.Send(serviceworker.Enable, cdp.Empty{}),
		// Nobody but who asks for it has a worker.
		browsertest.Until(`navigator.serviceWorker.controller === null`),
		chromedp.Navigate(s.url+subscribePage), browsertest.Until(`document.querySelector("button[data-is=off]")?.hidden === false`))

	// This browser has no push service: the page says that it waits, and that there is none, and goes on with a simulated one.
	b := push.Subscribe(pushKey.FindStringSubmatch(s.get(subscribePage).body)[1])
	told, err := json.Marshal(map[string]any{"endpoint": b.Endpoint, "expirationTime": nil, "keys": map[string]string{"p256dh": b.P256dh, "auth": b.Auth}})
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Run(t, tab,
		chromedp.Evaluate[chromedp.Void](`(() => {
			const later = setTimeout;
			window.setTimeout = (call, wait) => later(call, wait === 10_000 ? 0 : wait);
			PushManager.prototype.subscribe = () => new Promise((_, refuse) => { window.refuse = () => refuse(new Error("no push service")); });
		})()`),
		browsertest.Click("button[data-is=off]"), browsertest.Until(browsertest.Says(".tried", "does not answer yet")), browsertest.Until(`"refuse" in window`),
		chromedp.Evaluate[chromedp.Void](`refuse()`), browsertest.Until(browsertest.Says(".tried", "no push service")),
		chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`PushManager.prototype.subscribe = async (options) => {
			if (!options.userVisibleOnly || options.applicationServerKey.length !== 65) throw new Error("wrong options");
			return { toJSON: () => (%s) };
		}`, told)),
		browsertest.Click("button[data-is=off]"), browsertest.Until(browsertest.Says(".tried", "appears on this device")), browsertest.Until(`document.querySelector("button[data-is=on]").hidden === false`),
		browsertest.Until(`navigator.serviceWorker.controller !== null`))
	readPush(t, b, 1)

	id := s.custom(teahouse(1))
	s.become([]int64{id}, "review")
	asked := readPush(t, b, 2)
	worker := s.do(s.request(http.MethodGet, "/worker.js", "", "")).body
	browsertest.Run(t, tab,
		getsPush(serviceworker.DeliverPushMessageParams{Origin: s.url, RegistrationID: registration.Load().(serviceworker.RegistrationID), Data: string(b.Got()[1].Plain)}), //nolint:forcetypeassert // as it was stored
		browsertest.Until(fmt.Sprintf(`told[0].title === %q && told[0].actions.length === 2 && told[0].actions[0].title === "This one" && told[0].tag === %q && told[0].data.tokens[0] === %q`, asked.Title, asked.Tag, asked.Actions[0].Token)),
		// A tap: the protocol cannot make one, so the worker's own handler gets it, in the page.
		chromedp.Evaluate[chromedp.Void](`(() => {
			window.shown = []; window.opened = [];
			const handlers = {};
			const self = {
				location, registration: { scope: location.origin + "/", showNotification: async (title, options) => void shown.push({ title, ...options }) },
				clients: { matchAll: async () => [], openWindow: (address) => void opened.push(address) },
				addEventListener: (name, handler) => { handlers[name] = handler; }, skipWaiting() {},
			};
			`+worker+`;
			window.tap = (action, notification = told[0]) => handlers.notificationclick({ action, notification: { close() {}, data: notification.data }, waitUntil() {} });
		})()`),
		chromedp.Evaluate[chromedp.Void](`tap("")`), browsertest.Until(`opened[0] === location.origin + "/review"`),
		chromedp.Evaluate[chromedp.Void](`tap("answer-0")`), browsertest.Until(`shown[0]?.title.startsWith("Moonshade Teahouse is")`),
		chromedp.Evaluate[chromedp.Void](`tap("answer-0")`), browsertest.Until(`shown[1]?.body.includes("can no longer be answered")`),
		chromedp.Evaluate[chromedp.Void](`tap("answer-1")`), browsertest.Until(`shown[2]?.body.includes("has changed since")`),
	)
	s.become([]int64{id}, "success")

	// Without the service: a page says so, in the reader's language, and the page that was asked for is back with the service.
	browsertest.Run(t, tab, chromedp.Evaluate[chromedp.Void](`document.querySelector("details.menu").open = true`), browsertest.Click("button[value='zh-CN']"), browsertest.Until(`document.documentElement.lang === "zh-CN"`),
		browsertest.Until(`(navigator.serviceWorker.getRegistration().then((r) => { window.now = r.active?.scriptURL; }), window.now?.endsWith("lang=zh-CN"))`))
	// Signing out names this browser's subscription, which ends there and here.
	browsertest.Run(t, tab, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`PushManager.prototype.getSubscription = async () => ({ endpoint: %q })`, b.Endpoint)),
		chromedp.Evaluate[chromedp.Void](`document.querySelector("details.menu").open = true`), browsertest.Click("form[data-url$='/api/logout'] button"),
		browsertest.Until(`location.pathname === "/login" && document.readyState === "complete"`))
	if left := s.api(http.MethodGet, "/api/notification/browsers", "", http.StatusOK, nil).body; strings.Contains(left, `"type":"browser"`) {
		t.Errorf("after signing out there is %s", left)
	}
	s.stop()
	browsertest.Run(t, tab, func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		return chromedp.Evaluate[chromedp.Void](`location.assign("/records?status=error")`)(ctx, target)
	}, browsertest.Until(browsertest.Says("h1", "无法连接 Watchmark")), browsertest.Until(`location.pathname === "/records"`),
		browsertest.Until(`(caches.keys().then(async (names) => { window.kept = (await Promise.all(names.map(async (n) => (await (await caches.open(n)).keys()).map((r) => r.url)))).flat(); }), window.kept?.length === 1 && kept[0].includes("/offline?"))`))
	picture(t, tab, "offline.png")
}

// getsPush is a step that has the browser get a message until it shows one notification, which is in window.told then. On a busy machine
// Chromium was seen to lose one that the protocol delivers, why is not known; one of the same tag takes the place of the one before.
func getsPush(message serviceworker.DeliverPushMessageParams) browsertest.Step {
	const shown = `(navigator.serviceWorker.ready.then((r) => r.getNotifications()).then((all) => { window.told = all; }), window.told?.length === 1)`
	return func(ctx context.Context, target *chromedp.Target) (done chromedp.Void, err error) {
		for {
			if _, err := browsertest.Send(serviceworker.DeliverPushMessage, message)(ctx, target); err != nil {
				return done, err
			}
			soon, cancel := context.WithTimeout(ctx, 10*time.Second)
			_, err := browsertest.Until(shown)(soon, target)
			cancel()
			if err == nil || ctx.Err() != nil {
				return done, err
			}
		}
	}
}
