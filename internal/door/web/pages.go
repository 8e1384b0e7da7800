package web

import (
	"context"
	"slices"
	"strings"

	"watchmark/internal/door/documents"
)

// page is an entry of the list of pages. Beside it a page needs the function show, which collects its content, the file
// templates/TEMPLATE.html, which defines "content-TEMPLATE", and its texts.
type page struct {
	// Path is its path without the base path, with {name} for a part that differs.
	Path     string
	template string
	show     func(*request) (content, error)
	// scripts are names of files in assets/js that it needs beside the scripts of all pages.
	scripts []string
	// open is set for a page that is shown to people who are not signed in.
	open bool
	// Document is set for the documents. They are open, too, and have room for a text when nobody is signed in.
	Document bool
	// Icon is its icon in the menu; empty for a page that is not in the menu.
	Icon string
	// InBar is set for a page that is in the bar of a phone.
	InBar bool
	// Badge is the kind of things on it that wait for a person, as in the texts need.BADGE; empty when there are none.
	// count counts them.
	Badge string
	count func(context.Context) (int, error)
}

// section is a section of the menu.
type section struct {
	Key   string // text key of its heading; empty for the first one, which has none
	Pages []page
}

// Groups are the pages, each group with the features that it shows.
type Groups struct {
	Dashboard     Dashboard
	Records       Records
	Review        Review
	Inbox         Inbox
	Queue         Queue
	Mappings      Mappings
	Archive       Archive
	Sources       Sources
	Accounts      Accounts
	Notifications Notifications
	Summaries     Summaries
	Tasks         Tasks
	Settings      Settings
	Debug         Debug
	About         About
	SignIn        SignIn
}

// sections are all pages, in the order of the menu.
func (g Groups) sections() []section {
	return []section{
		{"", []page{
			{Path: "/", template: "dashboard", show: g.Dashboard.show, Icon: "layout-dashboard", InBar: true},
			{Path: "/records", template: "records", show: g.Records.list, Icon: "history", InBar: true, Badge: "error", count: g.Records.failed},
			{Path: "/records/{id}", template: "record", show: g.Records.record, scripts: []string{"find", "correct"}},
			{Path: "/review", template: "review", show: g.Review.list, scripts: []string{"find", "review"}, Icon: "circle-question-mark", InBar: true, Badge: "review", count: g.Review.Questions.Open},
			{Path: "/inbox", template: "inbox", show: g.Inbox.list, Icon: "bell", Badge: "notice", count: g.Inbox.attention},
			{Path: "/inbox/{id}", template: "notice", show: g.Inbox.notice, scripts: []string{"notices"}},
			{Path: "/queue", template: "queue", show: g.Queue.list, Icon: "hourglass"},
		}},
		{"nav.titles", []page{
			{Path: "/mappings", template: "mappings", show: g.Mappings.list, scripts: []string{"mappings"}, Icon: "signpost"},
			{Path: "/mappings/new", template: "mapping", show: g.Mappings.newMapping, scripts: []string{"find", "mappings"}},
			{Path: "/mappings/import", template: "import_rules", show: g.Mappings.importRules, scripts: []string{"mappings"}},
			{Path: "/mappings/blocked", template: "blocked", show: g.Mappings.blocked, scripts: []string{"mappings"}},
			{Path: "/mappings/{id}", template: "mapping", show: g.Mappings.mapping, scripts: []string{"find", "mappings"}},
			{Path: "/archive", template: "archive", show: g.Archive.show, scripts: []string{"upload"}, Icon: "database"},
		}},
		{"nav.sources", []page{
			{Path: "/connect", template: "connect", show: g.Sources.connect, Icon: "plug", InBar: true},
			{Path: "/nas", template: "nas", show: g.Sources.nas, scripts: []string{"sources"}, Icon: "hard-drive"},
			{Path: "/device", template: "device", show: g.Sources.device, scripts: []string{"sources"}, Icon: "tv"},
			{Path: "/tracker", template: "tracker", show: g.Sources.tracker, scripts: []string{"sources", "tracker"}, Icon: "list-video"},
			{Path: "/import", template: "import", show: g.Sources.importHistory, scripts: []string{"sources", "import"}, Icon: "import"},
		}},
		{"nav.service", []page{
			{Path: "/accounts", template: "accounts", show: g.Accounts.list, Icon: "users", InBar: true},
			{Path: "/notifications", template: "notifications", show: g.Notifications.list, scripts: []string{"notices"}, Icon: "send"},
			{Path: "/notifications/channels/new", template: "channel", show: g.Notifications.newChannel, scripts: []string{"notices"}},
			{Path: "/notifications/channels/{id}", template: "channel", show: g.Notifications.channel, scripts: []string{"notices"}},
			{Path: "/notifications/rules/new", template: "rule", show: g.Notifications.newRule, scripts: []string{"notices"}},
			{Path: "/notifications/rules/{id}", template: "rule", show: g.Notifications.rule, scripts: []string{"notices"}},
			{Path: "/summaries", template: "summaries", show: g.Summaries.list, scripts: []string{"summaries"}, Icon: "newspaper"},
			{Path: "/summaries/{name}", template: "summary", show: g.Summaries.job, scripts: []string{"summaries"}},
			{Path: "/llm", template: "llm", show: g.Summaries.llm, scripts: []string{"summaries"}, Icon: "sparkles"},
			{Path: "/tasks", template: "tasks", show: g.Tasks.list, Icon: "list-checks"},
			{Path: "/tasks/{id}", template: "task", show: g.Tasks.task},
			{Path: "/settings", template: "settings", show: g.Settings.list, scripts: []string{"settings"}, Icon: "settings"},
			{Path: "/settings/access", template: "access", show: g.Settings.access, scripts: []string{"signin"}},
			{Path: "/settings/backups", template: "backups", show: g.Settings.backups},
			{Path: "/debug", template: "debug", show: g.Debug.trial, scripts: []string{"debug"}, Icon: "wrench"},
			{Path: "/debug/webhooks", template: "debug-webhooks", show: g.Debug.webhooks},
			{Path: "/debug/network", template: "debug-network", show: g.Debug.network, scripts: []string{"debug"}},
			{Path: "/debug/notifications", template: "debug-notifications", show: g.Notifications.trial, scripts: []string{"notices"}},
			{Path: "/debug/log", template: "debug-log", show: g.Debug.logs, scripts: []string{"debug"}},
			{Path: "/about", template: "about", show: g.About.show},
			{Path: documents.Path, template: "document", show: document, scripts: []string{"docs"}, Document: true},
			{Path: documents.Path + "/{page...}", template: "document", show: document, scripts: []string{"docs"}, Document: true},
			{Path: "/login", template: "login", show: g.SignIn.login, scripts: []string{"signin"}, open: true},
			{Path: "/setup", template: "setup", show: g.SignIn.setup, open: true},
		}},
	}
}

// errorPage is shown instead of a page that does not exist or cannot be made.
var errorPage = page{template: "error", show: func(*request) (content, error) { return content{}, errNoPage }}

// Key is the text key of its name in the menu.
func (p page) Key() string { return "nav." + p.template }

// Holds reports whether path is the path of this page or of one below it.
func (p page) Holds(path string) bool {
	return path == p.Path || p.Path != "/" && strings.HasPrefix(path, p.Path+"/")
}

// pattern is its pattern for a ServeMux.
func (p page) pattern() string {
	switch p.Path {
	case "/":
		return "GET /{$}"
	case errorPage.Path:
		return "GET /"
	}
	return "GET " + p.Path
}

// pages returns the pages of all sections, and errorPage.
func pages(sections []section) []page {
	list := []page{errorPage}
	for _, one := range sections {
		list = append(list, one.Pages...)
	}
	return list
}

// menu returns the sections with only those pages that are in the menu.
func menu(sections []section) []section {
	list := slices.Clone(sections)
	for i, one := range list {
		list[i].Pages = slices.DeleteFunc(slices.Clone(one.Pages), func(p page) bool { return p.Icon == "" })
	}
	return list
}

// stylesheets of assets/css are those of all pages, joined in this order into app.css.
var stylesheets = []string{"tokens", "base", "layout", "components", "pages", "queue", "settings", "dashboard", "mappings", "sources", "debug", "notices", "summaries", "docs", "reference"}

// scripts of assets/js are those of all pages, joined into app.js, each after those that it imports. Scripts of single
// pages import from these only.
var scripts = []string{"words", "ui", "time", "live", "run", "forms", "cron", "figures", "app"}
