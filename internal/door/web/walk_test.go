package web_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/summary"
	"watchmark/internal/testkit/browsertest"
)

// TestBrowserWalksThroughEveryRoom opens each page wide and light, and dark on a phone, in both languages, and looks whether it keeps to
// the content policy, to the rules of axe-core for WCAG A and AA and for good practice, fits, shows what has the focus, and holds still.
func TestBrowserWalksThroughEveryRoom(t *testing.T) {
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	all := shots(t)
	full := all[slices.IndexFunc(all, func(s shot) bool { return s.name == "records" })].rig
	for _, path := range []string{"/titles/1", "/sources/webhooks?source=emby", "/settings/tools", "/settings?q=e", "/inbox?q=Mira", "/messages/channels/new?type=wecom"} {
		all = append(all, shot{path, full, path, true, ""})
	}
	all = append(all, longest(t)...)
	var refused []string
	for _, s := range all {
		if s.isError() {
			refused = append(refused, s.rig.server.URL+s.path)
		}
	}
	const browsers = 2 // share the rooms, for each is busy for a while
	for n := range browsers {
		t.Run(fmt.Sprintf("browser %d", n+1), func(t *testing.T) {
			t.Parallel()
			tab := browsertest.Start(t)
			browsertest.Complaints(t, tab, refused...)
			for i := n; i < len(all); i += browsers {
				t.Run(all[i].name, func(t *testing.T) { walkThrough(t, tab, all[i], string(axe)) })
			}
		})
	}
}

// longest are pages with the longest words there are.
func longest(t *testing.T) []shot {
	t.Helper()
	waiting, off := newRig(t, asDemo), newRig(t)
	waiting.airing = summary.AiringStatus{Reason: summary.ArchiveMissing}
	off.airing = summary.AiringStatus{Reason: summary.ArchiveOff}
	many := make([]notify.Notice, 120)
	for i := range many {
		many[i] = notify.Notice{Kind: notify.SourceSilent, About: fmt.Sprint(i)}
	}
	off.notices.Add(t.Context(), many...)
	return []shot{{"airing-missing", waiting, "/messages/summaries", true, ""}, {"airing-off", off, "/messages/summaries", true, ""}}
}

// walkThrough looks at one room.
func walkThrough(t *testing.T, tab context.Context, s shot, axe string) {
	t.Helper()
	open := func(lang string) {
		t.Helper()
		browsertest.Run(t, tab, append([]browsertest.Step{speak(lang), browsertest.Sized(1280, 844), themed("light")}, s.open()...)...)
		if s.signedIn {
			browsertest.Run(t, tab, browsertest.Until(browsertest.Listening))
		}
	}
	// holds fails for each thing that an expression finds wrong at a width.
	holds := func(lang string, width int64, expression string) {
		t.Helper()
		wrong, err := chromedp.Run(tab, chromedp.Evaluate[[]string](expression))
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range wrong {
			t.Errorf("%s (%s, %d px, %s) %s", s.name, s.path, width, lang, what)
		}
	}
	open("zh-CN")
	for _, width := range []int64{1280, 390, 320} {
		browsertest.Run(t, tab, browsertest.Sized(width, 844))
		holds("zh-CN", width, overflows)
	}
	open("en")
	// After a key was pressed the browser shows the focus wherever it goes.
	browsertest.Run(t, tab, chromedp.Evaluate[chromedp.Void](axe), chromedp.Evaluate[chromedp.Void](seeThrough), chromedp.KeyEvent(kb.Tab))
	for _, width := range []int64{320, 1280, 390} {
		browsertest.Run(t, tab, browsertest.Sized(width, 844), themed("light"))
		holds("en", width, overflows)
		if width == 320 {
			continue
		}
		holds("en", width, unfocused)
		theme := map[int64]string{1280: "light", 390: "dark"}[width]
		browsertest.Run(t, tab, themed(theme))
		for _, found := range audit(t, tab) {
			for _, place := range found.Places {
				t.Errorf("%s (%d px, %s) breaks %s (%s: %s): %s", s.path, width, theme, found.Rule, found.Impact, found.Help, place)
			}
		}
	}
	for _, width := range []int64{390, 1280} { // last, as it opens what is folded
		browsertest.Run(t, tab, browsertest.Sized(width, 844))
		holds("en", width, fmt.Sprintf(tooWide, width))
	}
}

const (
	// rules are those of WCAG A and AA, and of good practice.
	rules = `{ type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }`
	// A link that an empty ::after spreads over its card would keep all text in it from being measured.
	seeThrough = `axe.configure({ checks: [{ id: "color-contrast", options: {
		ignorePseudo: true, // the others are what axe-core sets for AA
		ignoreUnicode: true, ignoreLength: false, boldValue: 700, boldTextPt: 14, largeTextPt: 18, shadowOutlineEmMax: .2, textStrokeEmMin: .03,
		contrastRatio: { normal: { expected: 4.5 }, large: { expected: 3 } } } }] })`
)

// finding is a rule of axe-core that a page breaks.
type finding struct {
	Rule, Impact, Help string
	// Places are the selectors of what breaks it, each with what to do.
	Places []string
}

// audit holds the page that the tab shows against the rules.
func audit(t *testing.T, tab context.Context) []finding {
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

// overflows tells what of the page does not fit where it stands: text that runs over its card, a hint that is longer than
// its field, a choice or a date that is cut off, and what is squeezed.
const overflows = `(() => {
	const wrong = [];
	const boxes = ".card, .note, .verdict, .empty, .tile, .box, td, .line";
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	const range = document.createRange();
	for (let node = walker.nextNode(); node; node = walker.nextNode()) {
		const element = node.parentElement;
		if (!node.data.trim() || element.matches("option, script") || element.closest(".hidden") || !element.checkVisibility({ visibilityProperty: true })) continue;
		const box = element.closest(boxes);
		if (!box) continue;
		let cut = false;
		for (let e = element; e !== box; e = e.parentElement) cut ||= getComputedStyle(e).overflowX !== "visible";
		if (cut) continue;
		range.selectNodeContents(node);
		const text = range.getBoundingClientRect(), limits = box.getBoundingClientRect();
		if (text.right > limits.right + 1 || text.left < limits.left - 1) wrong.push("runs over its card: " + node.data.trim());
	}
	const pen = document.createElement("canvas").getContext("2d");
	for (const field of document.querySelectorAll("input[placeholder]")) {
		if (!field.checkVisibility() || field.value) continue;
		const style = getComputedStyle(field);
		pen.font = style.font;
		if (pen.measureText(field.placeholder).width > field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)) wrong.push("cuts its hint off: " + field.placeholder);
	}
	for (const choice of document.querySelectorAll("select")) {
		if (!choice.checkVisibility() || !choice.selectedOptions[0]) continue;
		const style = getComputedStyle(choice);
		pen.font = style.font;
		const arrow = 20;
		if (pen.measureText(choice.selectedOptions[0].text).width > choice.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - arrow) wrong.push("cuts its choice off: " + choice.selectedOptions[0].text);
	}
	for (const field of document.querySelectorAll("input[type=date], input[type=datetime-local]")) {
		if (!field.checkVisibility()) continue;
		const has = field.offsetWidth;
		field.style.cssText = "width: max-content; min-width: max-content; flex: none";
		if (field.offsetWidth > has + 1) wrong.push("cuts its date off: " + (field.id || field.name) + ", " + has + " of " + field.offsetWidth + " px");
		field.style.cssText = "";
	}
	for (const logo of document.querySelectorAll(".logo")) {
		const { width, height } = logo.getBoundingClientRect();
		if (Math.abs(width - height) > .5) wrong.push("squeezes the logo: " + width + " x " + height);
	}
	for (const badge of document.querySelectorAll(".badge")) {
		const { left, right, width } = badge.getBoundingClientRect();
		if (width && badge.checkVisibility() && (left < 0 || right > innerWidth)) wrong.push("cuts a badge off: " + badge.textContent);
	}
	return wrong;
})()`

// unfocused tells what cannot have the focus or does not show it, and what moves for readers who want less motion.
const unfocused = `(() => {
	const wrong = [];
	const name = (e) => e.id ? "#" + e.id : e.outerHTML.slice(0, 120);
	const shows = (style) => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
	const place = document.querySelector("dialog[open]") ?? document;
	for (const element of place.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")) {
		if (!element.checkVisibility({ visibilityProperty: true }) || element.disabled) continue;
		element.focus();
		if (document.activeElement !== element) { wrong.push("cannot have the focus: " + name(element)); continue; }
		// The link of a row shows it around the whole row.
		if (!element.matches(":focus-visible") || !shows(getComputedStyle(element)) && !shows(getComputedStyle(element, "::after"))) wrong.push("does not show the focus: " + name(element));
	}
	for (const element of document.querySelectorAll("*")) for (const part of [null, "::before", "::after"]) {
		const style = getComputedStyle(element, part);
		if (style.animationName !== "none" || style.transitionDuration.split(", ").some((time) => parseFloat(time) > 0)) wrong.push("moves: " + name(element) + (part ?? ""));
	}
	return wrong;
})()`

// tooWide tells whether the page is wider than its window, and which fields are too narrow to type in or stick out, with all folds open.
const tooWide = `[
	...(document.documentElement.scrollWidth > %[1]d ? ["is wider than the window"] : []),
	...[...document.querySelectorAll("details:not([data-menu])")].map((fold) => { fold.open = true; }).filter(Boolean),
	...[...document.querySelectorAll("#main :is(input:not([type=checkbox], [type=radio], .hidden), select, textarea)")].filter((field) => {
		const { width, right } = field.getBoundingClientRect();
		return width > 0 && (width < 64 || right > %[1]d);
	}).map((field) => "has no room for " + (field.id || field.name)),
]`
