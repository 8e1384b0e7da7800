package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	_ "watchmark/internal/door/api" // for its reasons
	"watchmark/internal/door/web"
	"watchmark/internal/engine"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/watch"
)

func phrasesOf(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("locales/phrases.zh-CN.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEveryPackageIsHeard keeps a new package from saying in one language only what pages show of it.
func TestEveryPackageIsHeard(t *testing.T) {
	var heard []string
	for _, s := range speakers {
		heard = append(heard, s.dir)
	}
	heard = append(heard, silent...)
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		if dir := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), filepath.Join("..", "..")+string(filepath.Separator))); !slices.Contains(heard, dir) {
			heard = append(heard, dir)
			t.Errorf("nobody says whether pages show what internal/%s says: add it to speakers in sayings_test.go, and its texts to locales/phrases.zh-CN.json, or to silent", dir)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPhrasesAreComplete holds the phrases against the sources.
func TestPhrasesAreComplete(t *testing.T) {
	zh := phrasesOf(t)
	known := map[string]bool{}
	for key, text := range catalogueOf(t, "en") {
		if said, ok := web.PhraseOfKey(key, text); ok {
			known[said] = true
		}
	}
	used, missing := map[string]bool{}, map[string]bool{}
	for _, said := range collectAll(t) {
		used[said.text] = true
		if zh[said.text] == "" && !known[said.text] && !said.wrap && unsaid[said.text] == "" && !missing[said.text] {
			missing[said.text] = true
			t.Errorf("internal/%s: %q has no Chinese: add it to internal/door/web/locales/phrases.zh-CN.json, or to unsaid in sayings_test.go when no page shows it", said.where, said.text)
		}
	}
	for _, text := range foreign {
		used[text] = true
		if zh[text] == "" {
			t.Errorf("%q of others has no Chinese: add it to internal/door/web/locales/phrases.zh-CN.json", text)
		}
	}
	for text, told := range zh {
		if known[text] {
			t.Errorf("%q has its Chinese in the file of a room: remove it from phrases.zh-CN.json", text)
		}
		if !used[text] {
			t.Errorf("nothing says %q any more: remove it from internal/door/web/locales/phrases.zh-CN.json", text)
		}
		for i := range strings.Count(strings.ReplaceAll(text, "%%", ""), "%") {
			if !strings.Contains(told, fmt.Sprintf("{%d}", i+1)) {
				t.Errorf("%q leaves {%d} of %q out", told, i+1, text)
			}
		}
	}
	for text := range unsaid {
		if !used[text] {
			t.Errorf("nothing says %q any more: remove it from unsaid", text)
		}
	}
}

func TestServiceIsRetold(t *testing.T) {
	for _, c := range []struct{ name, said, want string }{
		{"a phrase", "marked as watched", "已标记为看过"},
		{"a quoted text is not retold", `account not found: no account names the media-server user "the archive is sure" exactly, case and spaces included; add the name on the accounts page`,
			"没有对应的账号：没有账号认领与“the archive is sure”完全一致（含大小写和空格）的媒体服务器用户；请到账号页面添加这个名字"},
		{"quotes within a quoted text", `the keyword "a \"b\"" blocks this title: remove it from the blocked keywords to have the title marked`, "屏蔽词“a \"b\"”屏蔽了此标题：删除该屏蔽词后才会标记"},
		{"a title in the middle", "Re: Zero, Season 2 is the subject, but episode 30 is not in the list, which ends with 25: look at its episodes in the catalog, or add a mapping with an episode offset",
			"条目是《Re: Zero, Season 2》，但章节列表中没有第 30 集，列表到第 25 集为止：请到 Bangumi 查看它的章节，或添加带集数偏移的映射"},
		{"reasons in a row", "perhaps 灯塔, but not sure (the title is similar, it began or aired in 2019): confirm it on the page Review", "可能是《灯塔》，但不够确定（标题相似，2019 年开播或放送）：请在待确认页面确认"},
		{"a quoted title within", `no entry matched "Nowhere" season 3: look for it in the catalog and add a mapping for the title, or block it if it does not belong there`,
			"没有与“Nowhere” 第 3 季匹配的条目：请在 Bangumi 上查找，并为该标题添加映射；如果它不该被标记，就屏蔽它"},
		{"what follows a message", "marked as watched: the mark is removed from the list of mira", "已标记为看过：标记已从 mira 的收藏中撤回"},
		{"an end that is not always there", "the catalog cannot be reached: this waits and is repeated by itself", "无法连接 Bangumi：正在等待，会自动重试"},
		{"words of somebody else", "the catalog refuses the mark (it says: locked): look at the subject there, set a mapping if it is the wrong one, then retry",
			"Bangumi 拒绝了标记（返回信息：locked）：请到 Bangumi 查看该条目，如果条目不对就设置映射，然后重试"},
		{"a remark with a joint", "the catalog cannot be reached (it says: busy): this waits and is repeated by itself", "无法连接 Bangumi（返回信息：busy）：正在等待，会自动重试"},
		{"a bracket that nobody closes", "signed in as :( mira: task not found", "已登录：:( mira：没有这个任务"},
		{"a place in a file", "the dump cannot be used: episode.jsonlines: line 5: it is not JSON", "数据文件无法使用：episode.jsonlines：第 5 行：不是 JSON"},
		{"made a sentence", "Account not found.", "没有这个账号。"},
		{"a phrase before one that begins with what is filled in", "the title is nearly the same, the episode was counted: 12 episodes come before this sequel", "标题几乎相同，集数的定位：这部续作之前有 12 集"},
		{"a percentage", "it ended at 62 %, and counts from 80 %", "在 62% 处结束，达到 80% 才计入"},
		{"unknown", "something: else; entirely, new", "something: else; entirely, new"},
		{"a title", "Attack on Titan: The Final Season, Part 2", "Attack on Titan: The Final Season, Part 2"},
		{"what stands in a verb's place", "dry run: Re: Zero episode 3 would have been marked for mira; switch dry run off at the account and retry the record to mark it",
			"试运行：本应把 Re: Zero 第 3 集 标记到 mira；关闭该账号的试运行并重试这条记录，即可标记"},
		{"what fits a verb's place alone", "the best episode of all", "the best episode of all"},
		{"markup", "signed in as <b>&", "已登录：<b>&"},
		{"braces within what is filled in", "signed in as {1}{2}", "已登录：{1}{2}"},
		{"many parts", strings.Repeat("a: ", 2000), strings.Repeat("a: ", 2000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := web.Retell("zh-CN", c.said); err != nil || got != c.want {
				t.Errorf("got  %s\nwant %s, %v", got, c.want, err)
			}
			if got, err := web.Retell("en", c.said); err != nil || got != c.said {
				t.Errorf("in English it is %s, %v", got, err)
			}
		})
	}
}

var (
	// retoldText is what the service says of itself on a page.
	retoldText = regexp.MustCompile(`<(?:bdi|span|p|li|dd)\b[^>]* lang="(en|zh-CN)"[^>]*>([^<]*)`)
	// logLines are lines of a log, which are told in the reader's language only where they say what pages say, too.
	logLines = regexp.MustCompile(`(?s)<ol class="log.*?</ol>`)
	// word is a word of a sentence, which addresses and statuses of HTTP have not; words are several in a row.
	word = regexp.MustCompile(`(?:^| )[a-z]{3,}\b`)
	// standard is what the standard library says first.
	standard = regexp.MustCompile(`^(?:x509: |(?:read|dial) tcp|lookup )`)
	words    = regexp.MustCompile(`(?:^|[^\w]| )[a-z]{2,} [a-z]{2,}\b`)
)

func TestChinesePagesSpeakChinese(t *testing.T) {
	for _, s := range shots(t) {
		page := s.rig.get(t, s.rig.client(t, s.signedIn), s.path, "zh-CN")
		if page.status >= http.StatusInternalServerError {
			t.Errorf("%s answers %d", s.name, page.status)
		}
		for _, said := range retoldText.FindAllStringSubmatch(logLines.ReplaceAllString(page.body, ""), -1) {
			if lang, text := said[1], said[2]; (words.MatchString(text) || lang == "en" && word.MatchString(text)) && !standard.MatchString(text) {
				t.Errorf("%s says %q", s.name, text)
			}
		}
	}
}

// TestScriptsRetellTheAPI is about a problem at a field, one of a form, a test that failed, and a task.
func TestScriptsRetellTheAPI(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.addAccount(t, account.Draft{Username: "mira", Method: account.ByToken, Tokens: token("x"), Enabled: true})
	id := g.addRecord(t, episode(watch.Plex, "mira", "迷宫饭", "", 1, 1, ""), time.Now(), record.Outcome{Status: record.Failed, ErrorKind: record.Internal}, account.Account{})
	g.answer = func(c apiCall) (int, string) {
		switch {
		case c.Path == "/api/accounts" && strings.Contains(c.Body, `"two words"`):
			return http.StatusUnprocessableEntity, `{"status":422,"detail":"x","errors":[{"location":"body.access_token","message":"a token is one word without spaces or line breaks"}]}`
		case c.Path == "/api/accounts":
			return http.StatusConflict, `{"status":409,"detail":"Another account is this catalog user already."}`
		case strings.HasSuffix(c.Path, "/test"):
			return http.StatusOK, `{"ok":false,"message":"the account has no access token: enter one or connect it again"}`
		}
		task, err := g.tasks.Start(engine.RetryKind, 1, func(context.Context, *task.Task) error { return archive.ErrNone })
		if err != nil {
			t.Error(err)
			return http.StatusInternalServerError, "{}"
		}
		return http.StatusAccepted, fmt.Sprintf(`{"task_id":%d}`, task.Status().ID)
	}
	browsertest.Run(t, tab, g.signIn(), speak("zh-CN"), chromedp.Navigate(g.server.URL+"/accounts"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#by-token summary"), browsertest.Type("#username-new", "mira"), browsertest.Type("#token-new", "two words"), browsertest.Click("#by-token form button.primary"),
		browsertest.Until(browsertest.Says("#by-token .field-error", "令牌是一串字符，中间没有空格或换行")),
		browsertest.Type("#token-new", "abc"), browsertest.Click("#by-token form button.primary"),
		browsertest.Until(browsertest.Says("#by-token .form-error", "该 Bangumi 用户已属于另一个账号。")),
		browsertest.Click("form[data-url$='/test'] button"), browsertest.Until(browsertest.Says("#toasts", "该账号没有令牌：请填写令牌或重新授权")),
		chromedp.Navigate(g.server.URL+fmt.Sprintf("/records/%d", id)), browsertest.Until(browsertest.Listening), browsertest.Click("form[data-url$='/retry'] button"),
		browsertest.Until(browsertest.Says("#run [role=status]", "失败：还没有离线数据")))
}

func TestRetellingNeedsNoSignIn(t *testing.T) {
	g := newRig(t)
	for _, c := range []struct {
		name, lang string
		signedIn   bool
		reasons    []any
		status     int
		want       string
	}{
		{"Chinese", "zh-CN", false, []any{"task not found", "who knows", "<b>"}, http.StatusOK, `["没有这个任务","who knows","\u003cb\u003e"]`},
		{"English", "en", false, []any{"task not found"}, http.StatusOK, `["task not found"]`},
		{"values", "zh-CN", false, []any{reason.Of(io.ErrUnexpectedEOF), map[string]any{"code": "later", "text": "of a later version"}}, http.StatusOK, `["数据中途断开","of a later version"]`},
		{"no list", "zh-CN", false, []any{5}, http.StatusBadRequest, "Send the reasons"},
		{"nothing", "zh-CN", false, []any{}, http.StatusOK, `[]`},
		{"too much of a stranger", "zh-CN", false, []any{strings.Repeat("x", 2_100)}, http.StatusBadRequest, "Send the reasons"},
		{"much", "zh-CN", true, []any{strings.Repeat("x", 60_000)}, http.StatusOK, `["x`},
		{"too much", "zh-CN", true, []any{strings.Repeat("x", 70_000)}, http.StatusBadRequest, "Send the reasons"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body, err := json.Marshal(c.reasons)
			if err != nil {
				t.Fatal(err)
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.server.URL+"/reasons", bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept-Language", c.lang)
			answer := do(t, g.client(t, c.signedIn), r)
			if answer.status != c.status || !strings.HasPrefix(answer.body, c.want) {
				t.Errorf("it answers %d %s, want %d %s", answer.status, answer.body, c.status, c.want)
			}
		})
	}
}
