package web_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"watchmark/internal/auth"
)

// browserNames are what Chromium is called on the systems where tests run.
var browserNames = []string{"chromium", "chromium-browser", "google-chrome"}

// browser starts a headless Chromium. Without one the test is skipped, or fails when
// WATCHMARK_REQUIRE_BROWSER is 1.
func browser(t *testing.T) context.Context {
	t.Helper()
	for _, name := range browserNames {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
			chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-dev-shm-usage", true))
		allocated, cancel := chromedp.NewExecAllocator(t.Context(), options...)
		t.Cleanup(cancel)
		tab, cancel := chromedp.NewContext(allocated)
		t.Cleanup(cancel)
		if err := chromedp.Do(tab); err != nil {
			t.Fatalf("start %s: %v", path, err)
		}
		return tab
	}
	message := "no Chromium in PATH: install one of chromium, chromium-browser, google-chrome to run the browser tests"
	if os.Getenv("WATCHMARK_REQUIRE_BROWSER") == "1" {
		t.Fatal(message)
	}
	t.Skip(message)
	return nil
}

// run does the steps in the browser, within a minute, and fails the test when one fails.
func run(t *testing.T, tab context.Context, steps ...step) {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

type step = chromedp.Action[chromedp.Void]

// send is a step that sends a command of the browser's protocol.
func send[P, R any](command cdp.Command[P, R], params P) step {
	return func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, target, command, params)
		return chromedp.Void{}, err
	}
}

// signIn gives the browser a session.
func (g *rig) signIn() step {
	return send(network.SetCookie, network.SetCookieParams{Name: auth.CookieName, Value: sessionValue, URL: g.server.URL})
}

// speak makes the browser ask for a language.
func speak(lang string) step {
	return send(network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": lang}})
}

// until waits until an expression of JavaScript is true in the page.
func until(expression string) step {
	return func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			// While a page loads there may be nothing to ask yet.
			if is, err := chromedp.Evaluate[bool](expression)(ctx, target); err == nil && is {
				return chromedp.Void{}, nil
			}
			select {
			case <-ctx.Done():
				return chromedp.Void{}, fmt.Errorf("it never came true that %s: %w", expression, ctx.Err())
			case <-tick.C:
			}
		}
	}
}

// complain fails the test for what the browser says is wrong with a page.
func complain(t *testing.T, event any) {
	t.Helper()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		t.Errorf("a script failed: %s", e.ExceptionDetails.Text)
	case *cdplog.EventEntryAdded:
		// The page that is not there is asked for on purpose.
		if e.Entry.Level == "error" && !strings.Contains(e.Entry.Text, "404") {
			t.Errorf("the browser complains: %s", e.Entry.Text)
		}
	}
}
