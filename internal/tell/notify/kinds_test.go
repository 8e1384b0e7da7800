package notify_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/reason"
	"watchmark/internal/tell/notify"
	"watchmark/internal/testkit/dbtest"
)

// declared are the kinds that notice.go declares.
func declared(t *testing.T) []notify.Kind {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "notice.go", nil, 0)
	must(t, err)
	var found []notify.Kind
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
				text, err := strconv.Unquote(literal.Value)
				must(t, err)
				found = append(found, notify.Kind(text))
			}
		}
		return true
	})
	return found
}

func TestTheTableOfKindsIsWhole(t *testing.T) {
	var inTable []notify.Kind
	for _, k := range notify.Kinds() {
		if slices.Contains(inTable, k.Kind) {
			t.Errorf("%s is twice in the table", k.Kind)
		}
		inTable = append(inTable, k.Kind)
		if k.Name(bilingual.English) == "" || k.Name(bilingual.Chinese) == "" || k.Name(bilingual.English) == k.Name(bilingual.Chinese) || k.Group == "" {
			t.Errorf("%s lacks a name", k.Kind)
		}
		if k.Routine && (k.First || k.Severity > notify.Success) {
			t.Errorf("%s is routine and wants attention", k.Kind)
		}
	}
	want := declared(t)
	slices.Sort(want)
	slices.Sort(inTable)
	if !slices.Equal(want, inTable) {
		t.Errorf("the table has %v, declared are %v", inTable, want)
	}
}

func TestTheFirstRuleIsThatOfTheTable(t *testing.T) {
	rules, err := newRig(t, dbtest.Folder(t)).Rules(t.Context())
	must(t, err)
	if len(rules) != 1 {
		t.Fatal(rules)
	}
	var want []notify.Kind
	for _, k := range notify.Kinds() {
		if k.First {
			want = append(want, k.Kind)
		}
	}
	r := rules[0]
	slices.Sort(want)
	slices.Sort(r.Kinds)
	if r.Name != notify.FirstRule.Error() || !slices.Equal(want, r.Kinds) || !r.Enabled || len(r.Users)+len(r.Channels) != 0 || r.Cooldown != 600 || r.QuietFrom != "" {
		t.Errorf("%+v, want kinds %v", r, want)
	}
}

// facts are values for all that a kind may fill, but for those left out.
func facts(k notify.KindInfo, without ...string) map[string]string {
	out := map[string]string{"error_message": "it broke"}
	for _, name := range k.Placeholders {
		out[name] = "<" + name + ">"
	}
	if _, event := out["anime"]; event {
		out["title"] = "Frieren"
	}
	for _, name := range without {
		delete(out, name)
	}
	return out
}

var hole = regexp.MustCompile(`\{|\}|  |S E|\bE$|[:：]\s*$|· *$|^ *·|《》|\(\)|: \n|：\n|\n\n`)

func TestTextsHaveNoHoles(t *testing.T) {
	for _, k := range notify.Kinds() {
		for _, l := range []bilingual.Language{bilingual.English, bilingual.Chinese} {
			check := func(e notify.Entry) {
				t.Helper()
				title, text := e.Words(l)
				if title == "" || hole.MatchString(title) || hole.MatchString(text) || strings.Contains(title, "\n") {
					t.Errorf("%s %s %v: %q\n%s", k.Kind, l, e.Facts, title, text)
				}
			}
			all := facts(k)
			check(notify.Entry{Kind: k.Kind})
			check(notify.Entry{Kind: k.Kind, User: "mira", Account: "alex", Facts: all})
			for name := range all {
				check(notify.Entry{Kind: k.Kind, User: "mira", Facts: facts(k, name)})
				check(notify.Entry{Kind: k.Kind, Account: "alex", Facts: map[string]string{name: "value"}})
			}
		}
	}
}

func TestFactsShowInTexts(t *testing.T) {
	for _, k := range notify.Kinds() {
		for _, l := range []bilingual.Language{bilingual.English, bilingual.Chinese} {
			title, text := notify.Entry{Kind: k.Kind, User: "mira", Account: "alex", Facts: facts(k)}.Words(l)
			bare, bareText := notify.Entry{Kind: k.Kind, User: "mira", Account: "alex", Facts: map[string]string{"title": "Frieren"}}.Words(l)
			if len(k.Placeholders) > 0 && title == bare && text == bareText {
				t.Errorf("%s %s says the same with and without facts: %q", k.Kind, l, title)
			}
		}
	}
}

func TestDurationsAreTold(t *testing.T) {
	for stored, want := range map[string][2]string{
		"20s": {"It could not be reached for 1 min.", "中断时长：1 分钟"}, "25m0s": {"It could not be reached for 25 min.", "中断时长：25 分钟"}, "3h4m50s": {"It could not be reached for 3 h 5 min.", "中断时长：3 小时 5 分钟"},
	} {
		entry := notify.Entry{Kind: notify.CatalogBack, Facts: map[string]string{"duration": stored}}
		_, en := entry.Words(bilingual.English)
		_, zh := entry.Words(bilingual.Chinese)
		if en != want[0] || zh != want[1] {
			t.Errorf("%s is told as %q and %q", stored, en, zh)
		}
	}
}

func TestWords(t *testing.T) {
	for name, c := range map[string]struct {
		entry  notify.Entry
		en, zh string
	}{
		"all is known": {notify.Entry{Kind: notify.Marked, User: "mira", Account: "alex", Facts: map[string]string{"title": "Frieren", "season": "1", "episode": "5"}},
			"Frieren S1E5 marked · alex", "《Frieren》 S1E5 已标记 · alex"},
		"no season":      {notify.Entry{Kind: notify.Marked, User: "mira", Facts: map[string]string{"title": "Frieren", "episode": "5"}}, "Frieren E5 marked · mira", "《Frieren》 E5 已标记 · mira"},
		"a film":         {notify.Entry{Kind: notify.Marked, Account: "alex", Facts: map[string]string{"title": "Your Name"}}, "Your Name marked · alex", "《Your Name》 已标记 · alex"},
		"only the entry": {notify.Entry{Kind: notify.Marked, Facts: map[string]string{"subject_name": "葬送的芙莉莲", "episode": "2"}}, "葬送的芙莉莲 E2 marked", "《葬送的芙莉莲》 E2 已标记"},
		"nothing":        {notify.Entry{Kind: notify.Marked}, "An unknown title marked", "未知作品 已标记"},
		"lines and placeholders in a title": {notify.Entry{Kind: notify.Marked, Account: "{who}", Facts: map[string]string{"title": "a\r\nb\t{what} \u0007· c"}},
			"a b {what} · c marked · {who}", "《a b {what} · c》 已标记 · {who}"},
		"of the whole service": {notify.Entry{Kind: notify.CatalogBack, Facts: map[string]string{"duration": "2 h"}}, "Bangumi can be reached again", "Bangumi 已恢复连接"},
		"a job of the service": {notify.Entry{Kind: notify.JobFailed, Facts: map[string]string{"job_name": "backup"}}, "Job failed · Backup", "定时任务失败 · 备份"},
		"a summary":            {notify.Entry{Kind: notify.JobFailed, Facts: map[string]string{"job_name": "Weekly"}}, "Job failed · Weekly", "定时任务失败 · Weekly"},
		"a kind of before":     {notify.Entry{Kind: "old_kind"}, "old kind", "old kind"},
	} {
		t.Run(name, func(t *testing.T) {
			en, _ := c.entry.Words(bilingual.English)
			zh, _ := c.entry.Words(bilingual.Chinese)
			other, _ := c.entry.Words("fr")
			if en != c.en || zh != c.zh || other != en {
				t.Errorf("%q, %q and %q", en, zh, other)
			}
		})
	}
}

func TestSourcesAreCalledByTheirNames(t *testing.T) {
	for source, want := range map[string][2]string{"jellyfin": {"Jellyfin", "Jellyfin"}, "watcher": {"Server sign-in", "服务器登录"}, "attic": {"attic", "attic"}} {
		e := notify.Entry{Kind: notify.NotMatched, Facts: map[string]string{"source": source}}
		_, en := e.Words(bilingual.English)
		_, zh := e.Words(bilingual.Chinese)
		if en != "Source: "+want[0] || zh != "来源："+want[1] {
			t.Errorf("%s: %q and %q", source, en, zh)
		}
	}
}

func TestTheReasonIsInTheReadersLanguage(t *testing.T) {
	refused := reason.New("test_refused", "{account} is refused", "{account} 被拒绝")
	for _, c := range []struct {
		name        string
		r           reason.Reason
		english, zh string
	}{
		{"a value", refused.With("mira"), "mira is refused", "mira 被拒绝"},
		{"a text of others", reason.Text("{as it is}"), "{as it is}", "{as it is}"},
		{"longer than what is kept", refused.With(strings.Repeat("x", 9000)), strings.Repeat("x", 8000), strings.Repeat("x", 8000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, dbtest.Folder(t))
			r.add(notify.Notice{Kind: notify.Ignored, Facts: map[string]string{"title": "Frieren"}, Reason: c.r})
			for l, want := range map[bilingual.Language]string{bilingual.English: c.english, bilingual.Chinese: c.zh} {
				entries, _, err := r.List(t.Context(), notify.Filter{Text: c.english[:8]})
				must(t, err)
				if len(entries) != 1 {
					t.Fatal("it is not found by its text")
				}
				if _, text := entries[0].Words(l); text != want || entries[0].Facts["error_message"] != c.english {
					t.Errorf("%s: %q with %v", l, text, entries[0].Facts)
				}
			}
		})
	}
}
