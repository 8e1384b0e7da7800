// Package browsertest drives a headless Chromium in tests.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// names are what Chromium is called on the systems where tests run.
var names = []string{"chromium", "chromium-browser", "google-chrome"}

// one is the browser that the tests of a package share, started when the first one needs it.
var one struct {
	start  sync.Once
	root   context.Context
	cancel func()
	err    error
}

// Main runs the tests of a package, for the TestMain that each package with browser tests needs, and returns the code to
// exit with. All share one browser, which takes as long to start as a usual test takes; each has cookies, storage and cache of its own.
func Main(m *testing.M) int {
	defer func() {
		if one.cancel != nil {
			one.cancel()
		}
	}()
	return m.Run()
}

// Start gives a tab of a browser to one test or benchmark. Without a browser it is
// skipped, or fails when WATCHMARK_REQUIRE_BROWSER is 1.
func Start(t testing.TB) context.Context {
	t.Helper()
	if raceDetector {
		t.Skip("what a browser does is tested without the race detector, beside which it takes minutes")
	}
	path := installed()
	if path == "" {
		message := "no Chromium in PATH: install one of " + strings.Join(names, ", ") + " to run the browser tests"
		if os.Getenv("WATCHMARK_REQUIRE_BROWSER") == "1" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	one.start.Do(func() { one.root, one.cancel, one.err = open(path) })
	if one.err != nil {
		t.Fatal(one.err)
	}
	tab, cancel := chromedp.NewContext(one.root, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(tab); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	leavesUnsaved(tab)
	return tab
}

// installed is the path of a browser; empty when there is none.
func installed() string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// open starts a browser, which cancel ends, and returns its first tab.
func open(path string) (tab context.Context, cancel func(), err error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-dev-shm-usage", true))
	allocated, release := chromedp.NewExecAllocator(context.Background(), options...)
	tab, end := chromedp.NewContext(allocated)
	cancel = func() {
		end()
		release()
	}
	if err := chromedp.Do(tab); err != nil {
		return nil, cancel, fmt.Errorf("start %s: %w", path, err)
	}
	return tab, cancel, nil
}

// Step is something done in the browser.
type Step = chromedp.Action[chromedp.Void]

// Run does the steps within some minutes, which is time enough on a busy machine, and fails the test when one fails.
func Run(t testing.TB, tab context.Context, steps ...Step) {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab, 3*time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// Send is a step that sends a command of the browser's protocol.
func Send[P, R any](command cdp.Command[P, R], params P) Step {
	return func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, target, command, params)
		return chromedp.Void{}, err
	}
}

// Sized sets the size of the window in CSS pixels; narrow ones are phones.
func Sized(width, height int64) Step {
	return Send(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 500,
	})
}

// Until waits until an expression of JavaScript is true in the page.
func Until(expression string) Step {
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

// Listening is true once the page hears of changes.
const Listening = `document.documentElement.dataset.listening === "yes"`

// Says is an expression that is true when the element's text contains words.
func Says(selector, words string) string {
	return fmt.Sprintf(`(document.querySelector(%q)?.innerText ?? "").includes(%q)`, selector, words)
}

// Type sets a field as typing does, once it is there.
func Type(selector, text string) Step {
	return once(selector, fmt.Sprintf(`
		found.value = %q;
		found.dispatchEvent(new Event("input", { bubbles: true }));
	`, text))
}

// Click clicks the first element that selector names, once it is there.
func Click(selector string) Step { return once(selector, `found.click()`) }

// once does something with the first element that selector names, called found there, once there is one: a page that is told of a change
// puts parts of itself in anew.
func once(selector, what string) Step {
	return func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		find := fmt.Sprintf(`document.querySelector(%q)`, selector)
		if _, err := Until(find+` !== null`)(ctx, target); err != nil {
			return chromedp.Void{}, err
		}
		return chromedp.Evaluate[chromedp.Void](`{ const found = `+find+`; `+what+` }`)(ctx, target)
	}
}

// WholePage makes the window as high as the page, so that what sticks to its edges is
// where it belongs, and takes a picture of it as PNG.
func WholePage(t *testing.T, tab context.Context, width int64) []byte {
	t.Helper()
	height, err := chromedp.Run(tab, chromedp.Evaluate[int64](`Math.max(document.documentElement.scrollHeight, 600)`))
	if err != nil {
		t.Fatal(err)
	}
	Run(t, tab, Sized(width, height))
	picture, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// leavesUnsaved has the tab say yes to pages that ask before they are left.
func leavesUnsaved(tab context.Context) {
	questions := chromedp.Events(tab, page.JavascriptDialogOpening)
	go func() {
		for _, err := range questions {
			if err != nil {
				return // the tab is closed
			}
			_, _ = chromedp.Call(tab, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true}) // a page that stays fails the test
		}
	}()
}

// Complaints fails the test for what the browser says is wrong with the tab's pages:
// scripts that fail, what the content policy stops, files that do not load. Pages that
// are not there are asked for on purpose, as are the addresses in refused; what a page misses once the test is over, such as its server, is not counted, nor
// that a page may not ask before it is left: the browser allows it once a person did something, which Type and Click are not.
func Complaints(t *testing.T, tab context.Context, refused ...string) {
	t.Helper()
	var over atomic.Bool
	t.Cleanup(func() {
		over.Store(true)
		_, _ = chromedp.Run(tab, chromedp.Navigate("about:blank")) // so that the page is not missed in what follows in this tab
	})
	err := chromedp.Listen(tab, func(event any) {
		if over.Load() {
			return
		}
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("a script failed: %s", e.ExceptionDetails.Text)
		case *cdplog.EventEntryAdded:
			expected := e.Entry.Source == "network" && slices.Contains(refused, e.Entry.URL)
			if e.Entry.Level == "error" && !expected && !strings.Contains(e.Entry.Text, "404") && !strings.Contains(e.Entry.Text, "beforeunload") {
				t.Errorf("the browser complains: %s %s", e.Entry.Text, e.Entry.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
