package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	_ "watchmark/internal/door/api" // for its reasons
	"watchmark/internal/door/problem"
	"watchmark/internal/engine"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/watch"
)

var (
	// shownReason is a reason on a page.
	shownReason = regexp.MustCompile(`<(?:bdi|span|p|li|dd)\b[^>]* lang="(en|zh-CN)"[^>]*>([^<]*)`)
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
		for _, said := range shownReason.FindAllStringSubmatch(logLines.ReplaceAllString(page.body, ""), -1) {
			if lang, text := said[1], said[2]; (words.MatchString(text) || lang == "en" && word.MatchString(text)) && !standard.MatchString(text) {
				t.Errorf("%s says %q", s.name, text)
			}
		}
	}
}

// TestScriptsShowReasonsInChinese is about a problem at a field, one of a form, a test that failed, and a task.
func TestScriptsShowReasonsInChinese(t *testing.T) {
	tab := browsertest.Start(t)
	g := newRig(t)
	g.addAccount(t, account.Draft{Username: "mira", Method: account.ByToken, Tokens: token("x"), Enabled: true})
	id := g.addRecord(t, episode(watch.Plex, "mira", "迷宫饭", "", 1, 1, ""), time.Now(), record.Outcome{Status: record.Failed, ErrorKind: record.Internal}, account.Account{})
	g.answer = func(c apiCall) (int, string) {
		switch {
		case c.Path == "/api/accounts" && strings.Contains(c.Body, `"two words"`):
			return inChinese(t, problem.OfFields(problem.At("body.access_token", value("account_token"))))
		case c.Path == "/api/accounts":
			return inChinese(t, problem.Of(account.ErrTaken))
		case strings.HasSuffix(c.Path, "/test"):
			return http.StatusOK, `{"ok":false,"message":"none","message_value":{"code":"account_no_token","text":"none"}}`
		}
		task, err := g.tasks.Start(t.Context(), task.Spec{Kind: engine.RetryKind, About: 1}, func(context.Context, *task.Task) error { return archive.ErrNone })
		if err != nil {
			t.Error(err)
			return http.StatusInternalServerError, "{}"
		}
		return http.StatusAccepted, fmt.Sprintf(`{"task_id":%d}`, task.Status().ID)
	}
	browsertest.Run(t, tab, g.signIn(), speak("zh-CN"), chromedp.Navigate(g.server.URL+"/people"), browsertest.Until(browsertest.Listening),
		browsertest.Click("#by-token summary"), browsertest.Type("#username-new", "mira"), browsertest.Type("#token-new", "two words"), browsertest.Click("#by-token form button.primary"),
		browsertest.Until(browsertest.Says("#by-token .field-error", "令牌是一串字符，中间没有空格或换行")),
		browsertest.Type("#token-new", "abc"), browsertest.Click("#by-token form button.primary"),
		browsertest.Until(browsertest.Says("#by-token .form-error", "这个 Bangumi 用户已属于另一个账号")),
		browsertest.Click("form[data-url$='/test'] button"), browsertest.Until(browsertest.Says("#toasts", "该账号没有令牌：请填写令牌或重新连接")),
		chromedp.Navigate(g.server.URL+fmt.Sprintf("/records/%d", id)), browsertest.Until(browsertest.Listening), browsertest.Click("form[data-url$='/retry'] button"),
		browsertest.Until(browsertest.Says("#run [role=status]", "失败：还没有离线数据")))
}

// value is the reason with a code, as the service would say it.
func value(code string, args ...any) reason.Reason {
	today, _ := reason.Stored(code, nil)
	for _, kind := range reason.Kinds() {
		if kind.Code() == today.Code {
			return kind.With(args...)
		}
	}
	panic("there is no reason " + code)
}

// inChinese is the answer with a problem to a reader of Chinese.
func inChinese(t *testing.T, d *problem.Document) (status int, body string) {
	t.Helper()
	encoded, err := json.Marshal(d.In(bilingual.Chinese))
	if err != nil {
		t.Error(err)
	}
	return d.Status, string(encoded)
}

func TestReasonsOfScriptsNeedNoSignIn(t *testing.T) {
	g := newRig(t)
	for _, c := range []struct {
		name, lang string
		signedIn   bool
		reasons    []any
		status     int
		want       string
	}{
		{"Chinese", "zh-CN", false, []any{"there is no such task, or it ended long ago", "who knows", "<b>"}, http.StatusOK, `["没有这个后台任务，或它早已结束","who knows","\u003cb\u003e"]`},
		{"English", "en", false, []any{"there is no such task, or it ended long ago"}, http.StatusOK, `["there is no such task, or it ended long ago"]`},
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
