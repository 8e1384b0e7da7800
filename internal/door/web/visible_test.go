package web_test

import (
	"context"
	"database/sql"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"watchmark/internal/testkit/browsertest"
)

// TestPagesShowControlCharacters looks in every room, after texts of others came to end in characters that turn around
// what stands beside them, or are not seen.
func TestPagesShowControlCharacters(t *testing.T) {
	const hostile = "\u202e\u0007evil"
	all := shots(t)
	full := all[slices.IndexFunc(all, func(s shot) bool { return s.name == "records" })].rig
	full.write(t, func(ctx context.Context, tx *sql.Tx) error {
		for table, columns := range map[string][]string{
			"records": {"title", "user_name", "subject_name", "message"}, "webhook_log": {"title", "user_name", "reason"}, "pending_candidates": {"title", "reason"},
			"mappings": {"note"}, "accounts": {"nickname"},
		} {
			for _, column := range columns {
				if _, err := tx.ExecContext(ctx, `UPDATE `+table+` SET `+column+` = `+column+` || ?`, hostile); err != nil {
					return err
				}
			}
		}
		return nil
	})
	edited := regexp.MustCompile(`(?s)<textarea.*?</textarea>| (?:value|href|src|action|data-(?:name|body|text|url|level))="[^"]*"`)
	symbols := 0
	for _, shot := range all {
		body := shot.rig.get(t, shot.rig.client(t, shot.signedIn), shot.path, "en").body
		if strings.ContainsAny(edited.ReplaceAllString(body, ""), "\u202e\u0007") {
			t.Errorf("%s (%s) holds control characters as they are", shot.name, shot.path)
		}
		symbols += strings.Count(body, `<span class="unseen" title="U+202E">U+202E</span>`)
	}
	if symbols < 50 {
		t.Errorf("%d symbols stand for control characters", symbols)
	}
	mustContain(t, full.get(t, full.client(t, true), "/records", "en").body, `<bdi class="name">`, `<bdi class="keep">`)
}

// markup is a tag or a text of a page.
var markup = regexp.MustCompile(`<(/?)([a-z0-9]+)[^>]*>|[^<]+`)

// unshown is what only screen readers read.
var unshown = regexp.MustCompile(`<span class="hidden">[^<]*</span>`)

// TestNamesOfOthersStandApart holds what others named against <bdi>, in every room: a title, an entry, a user, an account, a device, a label.
// Alone in its element it must not turn around what stands beside it. Fields that people edit or choose from are left out: they hold text only.
func TestNamesOfOthersStandApart(t *testing.T) {
	names := map[string]bool{}
	for _, name := range []string{"葬送的芙莉莲", "葬送のフリーレン", "迷宫饭", "灯塔守望者", "灯塔守望者 第二季", "彩虹放送局", "间谍过家家", "间谍过家家 Season 2", "铃芽之旅", "发条王国", // titles and entries
		"Mira TV", " Gäste ", "Guest", "mira", "bench", "alex", "米拉", "stranger", // users and accounts
		"Bedroom Box", "第7集", "第6集", "全12集"} { // devices, and labels of episodes as they show them
		names[name] = true
	}
	seen := map[string]int{}
	for _, shot := range shots(t) {
		body := shot.rig.get(t, shot.rig.client(t, shot.signedIn), shot.path, "en").body
		body = unshown.ReplaceAllString(body, "")
		open := map[string]int{}
		for _, part := range markup.FindAllStringSubmatch(body, -1) {
			switch text := strings.Trim(html.UnescapeString(part[0]), "\n"); {
			case part[1] != "":
				open[part[2]]--
			case part[2] != "":
				open[part[2]]++
			case !names[text] && !names[strings.TrimSpace(text)]:
			case open["option"]+open["textarea"]+open["title"]+open["script"]+open["pre"] > 0:
			case open["bdi"] == 0:
				t.Errorf("%s (%s) shows %q outside of <bdi>", shot.name, shot.path, text)
			default:
				seen[text]++
			}
		}
	}
	if len(seen) < 15 {
		t.Errorf("the rooms show %d of the names: %v", len(seen), seen)
	}
}

// TestBrowserShowsControlCharacters looks at what scripts write: names of a server, its users and libraries, and of boxes.
func TestBrowserShowsControlCharacters(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.fillSources(t)
	g.answer = func(c apiCall) (int, string) {
		status, body := sourceAnswers(c)
		for _, name := range []string{"home", "Mira", "guest", "动画", "Bedroom Box", "第7集"} {
			body = strings.ReplaceAll(body, `"`+name, `"`+name+`\u202e\u0007`)
		}
		return status, strings.ReplaceAll(body, `"accounts":["mira"]`, `"accounts":["mira\u202e"]`)
	}
	hidden := `/[\u0007\u202e]/.test(document.querySelector("#main").textContent)`
	shows := func(selector, text string) browsertest.Step {
		return browsertest.Until(fmt.Sprintf(`document.querySelector(%q)?.textContent.includes(%q) && !(%s)`, selector, text, hidden))
	}
	browsertest.Run(t, tab, g.signIn(), chromedp.Navigate(g.server.URL+"/sources/import"), browsertest.Until(browsertest.Listening),
		browsertest.Type("#import-url", "http://192.168.1.5:8096"), browsertest.Type("#import-token", "right"), browsertest.Click("[data-ask]"),
		shows("#import-who h2", "homeU+202EU+0007"), shows("#import-user", "Mira[U+202E][U+0007]"), shows("#import-user-help", "miraU+202E"), shows(".libraries", "动画U+202E"),
		chromedp.Navigate(g.server.URL+"/sources/device"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#scan button"), shows("#device-told", "Bedroom BoxU+202E"), shows("#device-told .ep", "第7集U+202E"))
}
