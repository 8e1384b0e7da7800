package web_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"watchmark/internal/tell/notify/channel"
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
var speakers = []speaker{
	{dir: "catalog/account"},
	{dir: "door/api", but: []string{"schemas.go", "openapi.go", "reference.go", "library.go"}},
	{dir: "catalog/archive", wraps: true},
	{dir: "catalog/archive/dump", wraps: true},
	{dir: "catalog/archive/fetch", wraps: true},
	{dir: "catalog/archive/titles", wraps: true},
	{dir: "engine/review"},
	{dir: "catalog", but: []string{"cached.go"}},
	{dir: "match/idmap", wraps: true},
	{dir: "platform/db", but: []string{"copy.go", "db.go", "foreign.go", "lock.go", "migrate.go", "statements.go"}}, // of the start and the command line
	{dir: "upkeep/diagnose", but: []string{"problem.go"}},
	{dir: "engine", wraps: true},
	{dir: "platform/httpx", wraps: true},
	{dir: "platform/lan"},
	{dir: "tell/llm", but: []string{"usage.go"}},
	{dir: "match/mapping"},
	{dir: "match", wraps: true},
	{dir: "upkeep/movein", but: []string{"accounts.go", "apply.go", "channels.go", "database.go", "ini.go", "movein.go", "seal.go", "settings.go"}}, // of the command line
	{dir: "tell/notify", but: []string{"digest.go", "kinds.go", "trial.go", "words.go"}},                                                            // these write in both languages
	{dir: "tell/notify/channel"},
	{dir: "record"},
	{dir: "engine/queue"},
	{dir: "platform/secret", but: []string{"body.go"}},
	{dir: "platform/settings", but: []string{"table.go", "table_service.go", "table_matching.go", "table_sources.go", "table_messages.go", "environment.go", "file.go", "store.go"}},
	{dir: "tell/summary", but: []string{"store.go", "text.go"}}, // the text is written in both languages
	{dir: "source/device", wraps: true},
	{dir: "platform/task", wraps: true},
	{dir: "watch"},
	{dir: "record/webhooklog"},
}

// silent are the other packages below internal: what they say is for the log, the start or the command line, or they are of tests or build files;
// what pages show of them are kinds of reasons, which have their Chinese beside them.
var silent = []string{
	"app", "app/demo", "catalog/cover", "door", "door/auth", "door/auth/oidc", "door/documents", "door/problem", "door/web", "match/idmap/gen", "platform", "platform/bilingual", "platform/disk",
	"platform/listen", "platform/logs", "platform/metrics", "platform/reason", "platform/schedule", "platform/settings/gen", "platform/sse", "platform/turn",
	"platform/tlsfile", "tell", "testkit", "testkit/browsertest", "testkit/catalogtest", "testkit/channeltest",
	"testkit/dbtest", "testkit/devicetest", "testkit/dumptest", "testkit/dumptest/mkdump", "testkit/faults",
	"testkit/llmtest", "testkit/logtest", "testkit/memnet", "testkit/movetest", "testkit/nastest", "testkit/oidctest",
	"testkit/servertest", "testkit/simulated", "testkit/totptest", "testkit/trackertest", "tools", "tools/npm",
	"source", "source/custom", "source/emby", "source/importer", "source/jellyfin", "source/mediabrowser", "source/nas", "source/payload", "source/plex", "source/preview",
	"source/tautulli", "source/tracker", "tools/release", "upkeep", "upkeep/backup", "upkeep/install", "upkeep/oldtexts", "upkeep/rights", "upkeep/update", "watch/title", "watch/title/gen",
}

// unsaid are texts of the speakers that no page shows, with the reason.
var unsaid = map[string]string{
	"Blocked keywords": "a heading of the reference",
	"ID table":         "a heading of the reference",
	"Language model":   "a heading of the reference",
	"TV boxes":         "a heading of the reference",
	"attachment; filename=\"watchmark-diagnostics-%s.json\"": "a header",
	"attachment; filename=\"watchmark-mappings.json\"":       "a header",
	"{\"mappings\": […], \"blocked_keywords\": […]}":         "an argument",
	"The body is that of the custom webhook: numbers may come as texts, unknown fields are passed over. A user name that no account lists ends as no account, unless the setting sync.test_skip_permission_check is on.": "of the reference",
	"command line":  "where a flag stands",
	"not collected": "looked for in an answer", "user doesn't exist": "looked for in an answer", "user not found": "looked for in an answer",
	"resource can't be found": "looked for in an answer", "subject not found": "looked for in an answer",
	"not support": "looked for in an answer", "not allowed": "looked for in an answer", "not permitted": "looked for in an answer",
	channel.DefaultTemplate: "the body of a webhook",
	"context length":        "looked for in an answer", "context window": "looked for in an answer",
	"Reply with the single word: pong":                               "said to the model",
	"error_kind <> 'user_ignored' AND NOT (status = 'error' AND %s)": "of a query",
	"replaced = 0": "of a query", "over_at = 0": "of a query", "matter <> '' AND replaced = 0 AND over_at = 0": "of a query",
	"routine = 0": "of a query", "severity >= 2": "of a query", "unread = 1": "of a query", "message_id = '', tries = 0, tried_at = 0": "of a query",
	"application/json; charset=utf-8": "a header",
	"attachment; filename=\"%s\"":     "a header",
	"airing %s":                       "names a matter", "summary %s": "names a matter", "summary %s %s": "names a matter",
	"watchmark/watchmark/%s (%s)":                  "a header",
	"catalog session":                              "what a token is printed as",
	"application/json, text/html;q=0.9, */*;q=0.8": "a header",
	"panic": "of the log", "panic in a transaction": "of the log",
	"request sent": "of the log", "request failed": "of the log", "answer received": "of the log",
	"no_account": "a code, told by a key", "empty_token": "a code, told by a key", "unreachable": "a code, told by a key", "refused": "a code, told by a key",
	"Basic %s":             "a header",
	"Bearer %s":            "a header",
	"from record %d":       "the note of a mapping, which its owner edits",
	"watchmark key id\x00": "of the cipher",
	"(?:v\\d)?[ _-]?(?:end|fin|完结?|完結|终|終|大结局|大結局)?": "an expression",
}

// foreign are texts that come out through the speakers and stand in none of their literals of several words.
var foreign = []string{
	"accept", "ask", "reject", // the verdict of the arbiter
	"this waits and is repeated by itself",                      // of records that were stored before reasons were values
	"mapping named the subject", "payload_id named the subject", // layers that may be certain
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
	mute = []string{"Debug", "Info", "Warn", "Error", "DebugContext", "InfoContext", "WarnContext", "ErrorContext", "Log", "complain", "panic", "MustCompile", "stream", "response", "logWayBack", "Each", "All", "Values"}
	// The texts of these values are in both languages.
	inBothLanguages = []string{"Adapter", "Field", "Words"}
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
	file, err := parser.ParseFile(fset, filepath.Join("..", "..", dir, name), nil, parser.SkipObjectResolution)
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
			if n.Type != nil && slices.Contains(inBothLanguages, nameOf(n.Type)) {
				return false
			}
		case *ast.ImportSpec, *ast.StructType, *ast.InterfaceType:
			return false
		case *ast.KeyValueExpr:
			return !slices.Contains(describing, nameOf(n.Key))
		case *ast.CallExpr:
			return !slices.Contains(mute, nameOf(n.Fun)) && !isReason(n.Fun)
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
	case *ast.IndexExpr:
		return nameOf(e.X)
	}
	return ""
}

// isReason reports whether a call declares a kind of reason, which has its Chinese beside it.
func isReason(call ast.Expr) bool {
	f, is := call.(*ast.SelectorExpr)
	return is && f.Sel.Name == "New" && nameOf(f.X) == "reason"
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
		names, err := filepath.Glob(filepath.Join("..", "..", s.dir, "*.go"))
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
