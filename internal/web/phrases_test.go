package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/danielgtaylor/huma/v2/validation"

	"watchmark/internal/account"
	"watchmark/internal/archive"
	"watchmark/internal/browsertest"
	"watchmark/internal/engine"
	"watchmark/internal/notify/channel"
	"watchmark/internal/record"
	"watchmark/internal/source"
	"watchmark/internal/task"
	"watchmark/internal/watch"
	"watchmark/internal/web"
)

type speaker struct {
	dir string
	// but are files whose texts stay in the service, or are told by keys of the catalogue.
	but []string
	// wraps is set where a page shows errors whole, with the wraps that say where the service failed ("read the dump: %w").
	// Elsewhere these are for the log: records say "internal error" instead, and so does the API.
	wraps bool
}

// speakers are the packages below internal whose texts pages show. Every text of them is taken that collect
// does not pass over, in all files but these.
var speakers = append(pushSources(), []speaker{
	{dir: "account"},
	{dir: "api", but: []string{"schemas.go", "openapi.go", "reference.go"}},
	{dir: "archive", wraps: true},
	{dir: "archive/dump", wraps: true},
	{dir: "archive/fetch", wraps: true},
	{dir: "archive/titles", wraps: true},
	{dir: "auth"},
	{dir: "backup", wraps: true, but: []string{"backup.go"}},
	{dir: "auth/oidc", but: []string{"transport.go"}},
	{dir: "candidate"},
	{dir: "catalog", but: []string{"cached.go"}},
	{dir: "dataset", wraps: true},
	{dir: "db", but: []string{"copy.go", "db.go", "foreign.go", "lock.go", "migrate.go", "statements.go"}}, // of the start and the command line
	{dir: "diagnose", but: []string{"problem.go"}},
	{dir: "engine", wraps: true},
	{dir: "forecast"},
	{dir: "httpx", wraps: true},
	{dir: "importer", wraps: true},
	{dir: "lan"},
	{dir: "llm", but: []string{"usage.go"}},
	{dir: "mapping"},
	{dir: "match", wraps: true},
	{dir: "movein", but: []string{"accounts.go", "apply.go", "channels.go", "database.go", "ini.go", "movein.go", "seal.go", "settings.go"}}, // of the command line
	{dir: "notify", but: []string{"digest.go", "kinds.go", "trial.go", "words.go"}},                                                          // these write in both languages
	{dir: "notify/channel"},
	{dir: "record"},
	{dir: "replay"},
	{dir: "secret", but: []string{"body.go"}},
	{dir: "settings", but: []string{"table.go", "table_service.go", "table_matching.go", "table_sources.go", "table_messages.go", "environment.go", "file.go", "store.go"}},
	{dir: "source"},
	{dir: "summary", but: []string{"store.go", "text.go"}}, // the text is written in both languages
	{dir: "source/device", wraps: true},
	{dir: "source/mediabrowser"},
	{dir: "source/nas", wraps: true, but: []string{"store.go"}},
	{dir: "source/payload"},
	{dir: "task", wraps: true},
	{dir: "tracker", wraps: true, but: []string{"store.go"}},
	{dir: "update", wraps: true},
	{dir: "watch"},
	{dir: "webhook"},
}...)

// pushSources are the packages of the adapters, which all speak.
func pushSources() []speaker {
	var all []speaker
	for _, src := range source.Push {
		all = append(all, speaker{dir: "source/" + string(src)})
	}
	return all
}

// silent are the other packages below internal: what they say is for the log, the start or the command line, or they are of tests or build files.
var silent = []string{"app", "archive/dumptest", "auth/oidctest", "auth/totptest", "certfile", "archive/dumptest/mkdump", "bell", "browsertest", "catalog/catalogtest", "cover", "dataset/gen", "db/dbtest", "demo",
	"disk", "faults", "importer/servertest", "install", "llm/llmtest", "logfile", "logring", "logtest", "memnet", "metrics", "movein/movetest", "notify/channel/channeltest", "npm", "release", "rights", "settings/gen", "simulated", "source/device/devicetest", "source/nas/nastest", "sse", "title", "title/gen", "tracker/trackertest", "trail", "web"}

// unsaid are texts of the speakers that no page shows, with the reason.
var unsaid = map[string]string{
	"Blocked keywords": "a heading of the reference",
	"Id table":         "a heading of the reference",
	"Language model":   "a heading of the reference",
	"TV boxes":         "a heading of the reference",
	"attachment; filename=\"watchmark-diagnostics-%s.json\"": "a header",
	"attachment; filename=\"watchmark-mappings.json\"":       "a header",
	"The body is that of the custom webhook: numbers may come as texts, unknown fields are passed over. A user name that no account lists ends as no account, unless the setting sync.test_skip_permission_check is on.": "of the reference",
	"mail address": "of the reference", "WeCom group": "of the reference", "DingTalk group": "of the reference",
	"not support": "looked for in an answer", "not allowed": "looked for in an answer", "not permitted": "looked for in an answer",
	channel.DefaultTemplate: "the body of a webhook",
	"context length":        "looked for in an answer", "context window": "looked for in an answer",
	"Reply with the single word: pong": "said to the model",
	"routine = 0":                      "of a query", "severity >= 2": "of a query", "unread = 1": "of a query", "message_id = '', tries = 0, tried_at = 0": "of a query",
	"application/json; charset=utf-8": "a header",
	"attachment; filename=\"%s\"":     "a header",
	"airing %s":                       "names a matter", "summary %s": "names a matter", "summary %s %s": "names a matter",
	"address %s": "a key of a table",
	"name %s":    "a key of a table",
	"a host name that anybody may point here":      "told in other words",
	"it is not an argon2id hash in PHC format":     "of the log",
	"issued by a different provider":               "looked for in an error",
	"no such session":                              "a cookie that ended leads to the sign-in",
	"watchmark/watchmark/%s (%s)":                  "a header",
	"catalog session":                              "what a token is printed as",
	"MediaBrowser Token=\"%s\"":                    "a header",
	"Bearer realm=\"watchmark\"":                   "a header",
	"application/json, text/html;q=0.9, */*;q=0.8": "a header",
	"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()": "a header",
	"prune the titles of the tracker":                                                  "of the log",
	"panic":                                                                            "of the log", "panic in a transaction": "of the log",
	"request sent": "of the log", "request failed": "of the log", "answer received": "of the log",
	"no_account": "a code, told by a key", "empty_token": "a code, told by a key", "unreachable": "a code, told by a key", "refused": "a code, told by a key",
	"Basic %s":  "a header",
	"Bearer %s": "a header",
	"public openid profile email offline_access": "of the protocol",
	"from record %d":       "the note of a mapping, which its owner edits",
	"watchmark key id\x00": "of the cipher",
	"SQLite format 3\x00":  "of the format",
	"(?:v\\d)?[ _-]?(?:end|fin|完结?|完結|终|終|大结局|大結局)?": "an expression",
}

// foreign are texts that come out through the speakers and stand in none of their literals of several words.
var foreign = []string{
	"accept", "ask", "reject", // the verdict of the arbiter
	"mapping named the subject", "payload_id named the subject", // layers that may be certain
	// What the library of the API finds wrong with a request.
	"validation failed", validation.MsgUnexpectedProperty, validation.MsgExpectedBoolean, validation.MsgExpectedNumber, validation.MsgExpectedInteger,
	validation.MsgExpectedString, validation.MsgExpectedArray, validation.MsgExpectedObject, validation.MsgExpectedOneOf,
	validation.MsgExpectedMinimumNumber, validation.MsgExpectedExclusiveMinimumNumber, validation.MsgExpectedMaximumNumber,
	validation.MsgExpectedExclusiveMaximumNumber, validation.MsgExpectedMinLength, validation.MsgExpectedMaxLength, validation.MsgExpectedMatchPattern,
	validation.MsgExpectedRFC3339DateTime, validation.MsgExpectedRFC3339Date, validation.MsgExpectedMinItems, validation.MsgExpectedMaxItems,
	validation.MsgExpectedArrayItemsUnique, validation.MsgExpectedRequiredProperty,
	// What the system and the standard library say.
	syscall.ECONNREFUSED.Error(), syscall.ECONNRESET.Error(), syscall.EHOSTUNREACH.Error(), syscall.ENETUNREACH.Error(), syscall.EACCES.Error(),
	syscall.ENOENT.Error(), syscall.EISDIR.Error(), syscall.EROFS.Error(), syscall.ENOSPC.Error(), "no such host", "i/o timeout",
	context.DeadlineExceeded.Error(), context.Canceled.Error(), io.ErrUnexpectedEOF.Error(),
}

// saying is a text that a page may show, in the form of a phrase.
type saying struct {
	text, where string
	// wrap is set for one that only says where the service failed.
	wrap bool
}

// The rules of what is passed over, besides import paths, tags of fields and types.
var (
	// Arguments of these functions are for the log, for programmers, or no text.
	mute = []string{"Debug", "Info", "Warn", "Error", "DebugContext", "InfoContext", "WarnContext", "ErrorContext", "Log", "complain", "panic", "MustCompile", "stream", "response", "logWayBack"}
	// Values of these fields describe the API.
	describing = []string{"Summary", "Description", "Tags"}
	// A single word that one of these is set to is a text, too.
	telling = []string{"Reason", "reason", "Message", "message", "Problem", "problem", "Detail", "LastError"}
	// statement is SQL, the address of an API, a rule of the Content-Security-Policy.
	statement = regexp.MustCompile(`\b(SELECT|INSERT|UPDATE|DELETE|WHERE|FROM|ORDER BY|DESC|LIKE|IN|CASE|NULLIF|PRAGMA|CREATE|SAVEPOINT|ROLLBACK|RELEASE|DROP)\b|[=<>] \?|\w\.\w+ = |^[a-z_.]+, [a-z_.]+, ` +
		`|^(GET|POST) /|'(self|none)'$`)
	formatVerb = regexp.MustCompile(`%[-+#.0-9]*(?:\[\d\])?[a-zA-Z]`)
	lowerWord  = regexp.MustCompile(`[a-z]{2,}`)
	// onlyWrap is a text that ends in what went wrong, and says but where.
	onlyWrap  = regexp.MustCompile(`^[^;:(]+: %w$`)
	outerVerb = regexp.MustCompile(`^(?:%[swv](?:: |; |, |\n))+|(?:(?:: |; |, |\n)%[swv])+$|^: |^; |:$`)
)

// collect finds the texts of a file: literals that have several words, with what is joined to them by + as %s.
func collect(t *testing.T, dir, name string) []saying {
	t.Helper()
	fset := gotoken.NewFileSet()
	file, err := parser.ParseFile(fset, filepath.Join("..", dir, name), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var all []saying
	put := func(at ast.Node, text string, wrap bool) {
		all = append(all, saying{text, fmt.Sprintf("%s/%s:%d", dir, name, fset.Position(at.Pos()).Line), wrap})
	}
	take := func(at ast.Node, text string) {
		plain := formatVerb.ReplaceAllString(text, "")
		if !strings.Contains(strings.TrimSpace(text), " ") || !lowerWord.MatchString(plain) || statement.MatchString(plain) {
			return
		}
		if said := outerVerb.ReplaceAllString(strings.TrimSpace(text), ""); lowerWord.MatchString(formatVerb.ReplaceAllString(said, "")) {
			put(at, said, onlyWrap.MatchString(text))
		}
	}
	var visit func(n ast.Node) bool
	within := func(sum ast.Node) { // what is handed to the calls in a sum
		ast.Inspect(sum, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if is {
				for _, argument := range call.Args[min(1, len(call.Args)):] {
					ast.Inspect(argument, visit)
				}
			}
			return !is
		})
	}
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if n.Type != nil && nameOf(n.Type) == "Adapter" { // its texts are in both languages
				return false
			}
		case *ast.ImportSpec, *ast.StructType, *ast.InterfaceType:
			return false
		case *ast.KeyValueExpr:
			return !slices.Contains(describing, nameOf(n.Key))
		case *ast.CallExpr:
			return !slices.Contains(mute, nameOf(n.Fun))
		case *ast.AssignStmt:
			for i, to := range n.Lhs[:min(len(n.Lhs), len(n.Rhs))] {
				if text, is := textOf(n.Rhs[i]); is && slices.Contains(telling, nameOf(to)) && lowerWord.MatchString(text) && !strings.Contains(text, " ") {
					put(n, text, false)
				}
			}
			if text, is := textOf(n.Rhs[0]); is && n.Tok == gotoken.ADD_ASSIGN {
				if !strings.HasSuffix(text, ": ") { // else it follows a joint
					text = "%s" + text
				}
				take(n, text)
				within(n.Rhs[0])
				return false
			}
		case ast.Expr:
			if text, is := textOf(n); is {
				take(n, text)
				within(n)
				return false
			}
		}
		return true
	}
	ast.Inspect(file, visit)
	return all
}

// nameOf is the name of a variable, field or function.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// textOf is the text of a literal, of a format, or of a sum with one.
func textOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == gotoken.STRING
	case *ast.ParenExpr:
		return textOf(e.X)
	case *ast.CallExpr:
		if f, is := e.Fun.(*ast.SelectorExpr); is && f.Sel.Name == "Sprintf" {
			return textOf(e.Args[0])
		}
	case *ast.BinaryExpr:
		if e.Op != gotoken.ADD {
			return "", false
		}
		left, is := textOf(e.X)
		right, too := textOf(e.Y)
		if !is {
			left = "%s"
		}
		if !too {
			right = "%s"
		}
		return left + right, is || too
	}
	return "", false
}

func collectAll(t *testing.T) []saying {
	t.Helper()
	var all []saying
	for _, s := range speakers {
		names, err := filepath.Glob(filepath.Join("..", s.dir, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("no sources in internal/%s: %v", s.dir, err)
		}
		for _, name := range names {
			name = filepath.Base(name)
			if strings.HasSuffix(name, "_test.go") || slices.Contains(s.but, name) {
				continue
			}
			for _, said := range collect(t, s.dir, name) {
				said.wrap = said.wrap && !s.wraps
				all = append(all, said)
			}
		}
	}
	return all
}

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
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		if dir := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), ".."+string(filepath.Separator))); !slices.Contains(heard, dir) {
			heard = append(heard, dir)
			t.Errorf("nobody says whether pages show what internal/%s says: add it to speakers in phrases_test.go, and its texts to locales/phrases.zh-CN.json, or to silent", dir)
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
			t.Errorf("internal/%s: %q has no Chinese: add it to internal/web/locales/phrases.zh-CN.json, or to unsaid in phrases_test.go when no page shows it", said.where, said.text)
		}
	}
	for _, text := range foreign {
		used[text] = true
		if zh[text] == "" {
			t.Errorf("%q of others has no Chinese: add it to internal/web/locales/phrases.zh-CN.json", text)
		}
	}
	for text, told := range zh {
		if known[text] {
			t.Errorf("%q has its Chinese in the file of a room: remove it from phrases.zh-CN.json", text)
		}
		if !used[text] {
			t.Errorf("nothing says %q any more: remove it from internal/web/locales/phrases.zh-CN.json", text)
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
		{"wrapped, with a cause of the system", "download the dump: no connection to example.org: check that the service runs and that the network or proxy lets this machine reach it (dial tcp 192.0.2.1:443: connect: connection refused)",
			"下载数据文件：无法连接 example.org：请确认该服务正在运行，且网络或代理允许本机访问（dial tcp 192.0.2.1:443: connect：连接被拒绝）"},
		{"a place in a file", "the dump cannot be used: episode.jsonlines: line 5: it is not JSON", "数据文件无法使用：episode.jsonlines：第 5 行：不是 JSON"},
		{"made a sentence", "Account not found.", "没有这个账号。"},
		{"fields of a problem", "body.name: give a name; body.limit: expected number <= 200", "body.name：请填写名字；body.limit：应不大于 200"},
		{"a phrase before one that begins with what is filled in", "the title is nearly the same, the episode was counted 12 episodes come before this sequel", "标题几乎相同，集数的定位：这部续作之前有 12 集"},
		{"a percentage", "it ended at 62 %, and counts from 80 %", "在 62% 处结束，达到 80% 才计入"},
		{"letters where digits are due", "subject x is there twice", "subject x is there twice"},
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
	retoldText = regexp.MustCompile(`<(?:span|p|li|dd)[^>]* lang="(en|zh-CN)"[^>]*>([^<]*)`)
	// word is a word of a sentence, which addresses and statuses of HTTP have not; words are several in a row.
	word = regexp.MustCompile(`(?:^| )[a-z]{3,}\b`)
	// standard is what the standard library says first.
	standard = regexp.MustCompile(`^(?:x509: |(?:read|dial) tcp|lookup )`)
	words    = regexp.MustCompile(`(?:^|[^\w]| )[a-z]{2,} [a-z]{2,}\b`)
)

func TestChinesePagesSpeakChinese(t *testing.T) {
	for _, s := range shots(t) {
		page := s.rig.get(t, s.rig.client(t, s.signedIn), s.path, "zh-CN")
		for _, said := range retoldText.FindAllStringSubmatch(page.body, -1) {
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
		texts      []string
		status     int
		want       string
	}{
		{"Chinese", "zh-CN", []string{"task not found", "who knows", "<b>"}, http.StatusOK, `["没有这个任务","who knows","\u003cb\u003e"]`},
		{"English", "en", []string{"task not found"}, http.StatusOK, `["task not found"]`},
		{"nothing", "zh-CN", nil, http.StatusOK, `[]`},
		{"too much", "zh-CN", []string{strings.Repeat("x", 70_000)}, http.StatusBadRequest, "Send the texts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.server.URL+"/phrases", strings.NewReader(url.Values{"text": c.texts}.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Accept-Language", c.lang)
			answer := do(t, g.client(t, false), r)
			if answer.status != c.status || !strings.HasPrefix(answer.body, c.want) {
				t.Errorf("it answers %d %s, want %d %s", answer.status, answer.body, c.status, c.want)
			}
		})
	}
}
