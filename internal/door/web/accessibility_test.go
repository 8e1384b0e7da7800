package web_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"watchmark/internal/testkit/browsertest"
)

// finding is a rule of axe-core that a page breaks.
type finding struct {
	Rule, Impact, Help string
	// Places are the selectors of what breaks it, each with what to do.
	Places []string
}

// audit runs rules of axe-core, an expression of its option runOnly, in the page that the tab shows.
func audit(t *testing.T, tab context.Context, rules string) []finding {
	t.Helper()
	findings, err := chromedp.Run(tab, chromedp.Evaluate[[]finding](fmt.Sprintf(`axe.run({ runOnly: %s, resultTypes: ["violations"] }).then(({ violations, passes }) => {
		if (!passes.some(({ id }) => id === "color-contrast")) throw new Error("axe-core measured no colours");
		return violations.map(({ id, impact, help, nodes }) => ({ Rule: id, Impact: impact, Help: help, Places: nodes.map(({ target, failureSummary }) => target.join(" ") + ": " + failureSummary) }));
	})`, rules), chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// TestBrowserFindsPagesAccessible holds every room against the rules of axe-core for WCAG A and
// AA and for good practice, wide and narrow, in both themes.
func TestBrowserFindsPagesAccessible(t *testing.T) {
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	const (
		everything = `{ type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }`
		// A link that an empty ::after spreads over its card would keep all text in it from being measured.
		seeThrough = `axe.configure({ checks: [{ id: "color-contrast", options: {
			ignorePseudo: true, // the others are what axe-core sets for AA
			ignoreUnicode: true, ignoreLength: false, boldValue: 700, boldTextPt: 14, largeTextPt: 18, shadowOutlineEmMax: .2, textStrokeEmMin: .03,
			contrastRatio: { normal: { expected: 4.5 }, large: { expected: 3 } } } }] })`
		colours = `{ type: "rule", values: ["color-contrast"] }` // all that a theme can change
	)
	const browsers = 2 // share the rooms, for each is busy for a while
	for n := range browsers {
		t.Run(fmt.Sprintf("browser %d", n+1), func(t *testing.T) {
			t.Parallel()
			tab := browsertest.Start(t)
			for i, shot := range shots(t) {
				if i%browsers != n {
					continue
				}
				t.Run(shot.name, func(t *testing.T) {
					browsertest.Run(t, tab, append(shot.open(), chromedp.Evaluate[chromedp.Void](string(axe)), chromedp.Evaluate[chromedp.Void](seeThrough))...)
					for _, width := range []int64{1280, 390} {
						for theme, rules := range map[string]string{"light": everything, "dark": colours} {
							browsertest.Run(t, tab, browsertest.Sized(width, 844), themed(theme))
							for _, found := range audit(t, tab, rules) {
								for _, place := range found.Places {
									t.Errorf("%s (%d px, %s) breaks %s (%s: %s): %s", shot.path, width, theme, found.Rule, found.Impact, found.Help, place)
								}
							}
						}
					}
				})
			}
		})
	}
}
