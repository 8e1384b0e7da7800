package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

// page is an entry of the list of pages. What stands in it beside its texts is a function that collects what it
// shows, and templates/TEMPLATE.html, which defines "content-TEMPLATE".
type page struct {
	// Path is its address without the base path, with {name} for what differs.
	Path     string
	template string
	show     func(*http.Request) (content, error)
	// scripts are the files of assets/js that it needs beside those of all pages.
	scripts []string
	// open is set for a page that needs no sign-in.
	open bool
	// Icon stands beside it in the menu; empty for a page that is not in the menu.
	Icon string
	// InBar is set for a page that has room in the bar of a phone, too.
	InBar bool
	// Badge is the kind of things that wait for a person on it, as in the texts need.<kind>, and count how many there
	// are; a page in the menu may have none.
	Badge string
	count func(context.Context) (int, error)
}

// section is pages that stand together in the menu.
type section struct {
	Key   string // of its heading; empty for the first, which has none
	Pages []page
}

// sections are all pages, in the order of the menu.
func (s *site) sections() []section {
	return []section{
		{"", []page{
			{Path: "/", template: "dashboard", show: s.dashboard, Icon: "layout-dashboard", InBar: true},
			{Path: "/records", template: "records", show: s.records, Icon: "history", InBar: true, Badge: "error", count: s.countFailed},
			{Path: "/records/{id}", template: "record", show: s.record, scripts: []string{"find", "correct"}},
			{Path: "/review", template: "review", show: s.review, scripts: []string{"find", "review"}, Icon: "circle-question-mark", InBar: true, Badge: "review", count: s.Questions.Open},
			{Path: "/inbox", template: "inbox", show: s.inbox, Icon: "bell", Badge: "notice", count: s.countNotices},
			{Path: "/inbox/{id}", template: "notice", show: s.notice, scripts: []string{"notices"}},
			{Path: "/queue", template: "queue", show: s.queue, Icon: "hourglass"},
		}},
		{"nav.titles", []page{
			{Path: "/mappings", template: "mappings", show: s.mappings, scripts: []string{"mappings"}, Icon: "signpost"},
			{Path: "/mappings/new", template: "mapping", show: s.newMapping, scripts: []string{"find", "mappings"}},
			{Path: "/mappings/import", template: "import_rules", show: s.importRules, scripts: []string{"mappings"}},
			{Path: "/mappings/blocked", template: "blocked", show: s.blocked, scripts: []string{"mappings"}},
			{Path: "/mappings/{id}", template: "mapping", show: s.mapping, scripts: []string{"find", "mappings"}},
			{Path: "/archive", template: "archive", show: s.archive, scripts: []string{"upload"}, Icon: "database"},
		}},
		{"nav.sources", []page{
			{Path: "/connect", template: "connect", show: s.connect, Icon: "plug", InBar: true},
			{Path: "/nas", template: "nas", show: s.nas, scripts: []string{"sources"}, Icon: "hard-drive"},
			{Path: "/device", template: "device", show: s.device, scripts: []string{"sources"}, Icon: "tv"},
			{Path: "/tracker", template: "tracker", show: s.tracker, scripts: []string{"sources", "tracker"}, Icon: "list-video"},
			{Path: "/import", template: "import", show: s.importHistory, scripts: []string{"sources", "import"}, Icon: "import"},
		}},
		{"nav.service", []page{
			{Path: "/accounts", template: "accounts", show: s.accounts, Icon: "users", InBar: true},
			{Path: "/notifications", template: "notifications", show: s.notifications, scripts: []string{"notices"}, Icon: "send"},
			{Path: "/notifications/channels/new", template: "channel", show: s.newChannel, scripts: []string{"notices"}},
			{Path: "/notifications/channels/{id}", template: "channel", show: s.channel, scripts: []string{"notices"}},
			{Path: "/notifications/rules/new", template: "rule", show: s.newRule, scripts: []string{"notices"}},
			{Path: "/notifications/rules/{id}", template: "rule", show: s.rule, scripts: []string{"notices"}},
			{Path: "/summaries", template: "summaries", show: s.summaries, scripts: []string{"summaries"}, Icon: "newspaper"},
			{Path: "/summaries/{name}", template: "summary", show: s.summaryJob, scripts: []string{"summaries"}},
			{Path: "/llm", template: "llm", show: s.llm, scripts: []string{"summaries"}, Icon: "sparkles"},
			{Path: "/tasks", template: "tasks", show: s.tasks, Icon: "list-checks"},
			{Path: "/tasks/{id}", template: "task", show: s.task},
			{Path: "/settings", template: "settings", show: s.settings, scripts: []string{"settings"}, Icon: "settings"},
			{Path: "/settings/access", template: "access", show: s.access, scripts: []string{"signin"}},
			{Path: "/settings/backups", template: "backups", show: s.backups},
			{Path: "/debug", template: "debug", show: s.trial, scripts: []string{"debug"}, Icon: "wrench"},
			{Path: "/debug/webhooks", template: "debug-webhooks", show: s.webhooks},
			{Path: "/debug/network", template: "debug-network", show: s.network, scripts: []string{"debug"}},
			{Path: "/debug/notifications", template: "debug-notifications", show: s.notificationTrial, scripts: []string{"notices"}},
			{Path: "/debug/log", template: "debug-log", show: s.logs, scripts: []string{"debug"}},
			{Path: "/about", template: "about", show: s.about},
			{Path: "/login", template: "login", show: s.login, scripts: []string{"signin"}, open: true},
			{Path: "/setup", template: "setup", show: s.setup, open: true},
		}},
	}
}

// errorPage tells what went wrong, in place of any other page, and that there is none at an address.
var errorPage = page{template: "error", show: func(*http.Request) (content, error) { return content{}, errNoPage }}

// Key is that of its name in the menu.
func (p page) Key() string { return "nav." + p.template }

// Holds reports whether path is this page or one below it.
func (p page) Holds(path string) bool {
	return path == p.Path || p.Path != "/" && strings.HasPrefix(path, p.Path+"/")
}

// pattern is its address for a ServeMux.
func (p page) pattern() string {
	switch p.Path {
	case "/":
		return "GET /{$}"
	case errorPage.Path:
		return "GET /"
	}
	return "GET " + p.Path
}

// pages are those of all sections.
func pages(sections []section) []page {
	list := []page{errorPage}
	for _, one := range sections {
		list = append(list, one.Pages...)
	}
	return list
}

// menu is the sections without the pages that are not in the menu.
func menu(sections []section) []section {
	list := slices.Clone(sections)
	for i, one := range list {
		list[i].Pages = slices.DeleteFunc(slices.Clone(one.Pages), func(p page) bool { return p.Icon == "" })
	}
	return list
}

// stylesheets of assets/css are those of all pages, joined in this order into app.css.
var stylesheets = []string{"tokens", "base", "layout", "components", "pages", "queue", "settings", "dashboard", "mappings", "sources", "debug", "notices", "summaries", "reference"}

// scripts of assets/js are those of all pages, joined into app.js, each after those that it imports. Scripts of
// single pages import of these alone.
var scripts = []string{"words", "ui", "time", "live", "run", "forms", "cron", "figures", "app"}
