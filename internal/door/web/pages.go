package web

import (
	"context"
	"net/http"
	"strings"

	"watchmark/internal/door/documents"
)

// page is an entry of the list of pages. Beside it a page needs the function show, which collects its content, the file
// templates/TEMPLATE.html, which defines "content-TEMPLATE", and its texts.
type page struct {
	// Path is its path without the base path, with {name} for a part that differs.
	Path string
	// Title is the text key of its title; empty for a page whose content brings one.
	Title string
	// Doc is the chapter of the documents that its help leads to, such as "access#your-own-certificate".
	Doc      string
	template string
	show     func(*request) (content, error)
	// scripts are names of files in assets/js that it needs beside the scripts of all pages.
	scripts []string
	// Tab is set for a tab of its door. Another page of a door leads back to the page whose path its own begins with.
	Tab bool
	// Group is the text key of a tab that stands for all pages of the door with this key, which are tabs below it; empty
	// for a page that is a tab by itself.
	Group string
	// open is set for a page that is shown to people who are not signed in.
	open bool
	// Document is set for the documents. They are open, too, and have room for a text when nobody is signed in.
	Document bool
}

// door is an entry of the menu with the pages behind it. It leads to the first of them.
type door struct {
	// Key is the text key of its name; empty for pages that no entry of the menu leads to.
	Key, Icon string
	// InBar is set for an entry that is in the bar of a phone, where the others are in a menu.
	InBar bool
	// Badge is the kind of things behind it that wait for a person, as in the texts need.BADGE; empty when there are none.
	// count counts them.
	Badge string
	count func(context.Context) (int, error)
	// Own is set for what a person has in the menu and the owner has not, who has it behind the other doors.
	Own   bool
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
	Calendar      Calendar
	Tasks         Tasks
	Settings      Settings
	Debug         Debug
	About         About
	SignIn        SignIn
	Mine          Mine
	Household     Household
}

// doors are all pages, in the order of the menu.
func (g Groups) doors() []door {
	return []door{
		{Key: "mine.home", Icon: "layout-dashboard", InBar: true, Own: true, Pages: []page{
			{Path: minePath, Doc: "access#people-of-the-household", Title: "mine.home", template: "mine", show: g.Mine.list},
		}},
		{Key: "dashboard.title", Icon: "layout-dashboard", InBar: true, Pages: []page{
			{Path: "/", Doc: "first-steps", Title: "dashboard.title", template: "dashboard", show: g.Dashboard.show},
		}},
		{Key: "records.title", Icon: "history", InBar: true, Badge: "error", count: g.Records.failed, Pages: []page{
			{Path: "/records", Doc: "records", Title: "records.title", template: "records", show: g.Records.list, Tab: true},
			{Path: "/records/queue", Doc: "records#the-queue", Title: "queue.title", template: "queue", show: g.Queue.list, Tab: true},
			{Path: "/records/undo", Doc: "records#undo-a-day", Title: "undo.title", template: "undo", show: g.Records.undo, Tab: true},
			{Path: "/records/{id}", Doc: "records#what-happened-to-an-event", template: "record", show: g.Records.record, scripts: []string{"find", "correct"}},
		}},
		{Key: "review.title", Icon: "circle-question-mark", InBar: true, Badge: "review", count: g.Review.Questions.Open, Pages: []page{
			{Path: "/review", Doc: "records#review", Title: "review.title", template: "review", show: g.Review.list, scripts: []string{"find", "review"}},
		}},
		{Key: "inbox.title", Icon: "bell", InBar: true, Badge: "notice", count: g.Inbox.attention, Pages: []page{
			{Path: "/inbox", Doc: "notifications#the-inbox", Title: "inbox.title", template: "inbox", show: g.Inbox.list},
			{Path: "/inbox/{id}", Doc: "notifications#the-inbox", template: "notice", show: g.Inbox.notice, scripts: []string{"notices"}},
		}},
		{Key: "calendar.title", Icon: "calendar-days", Pages: []page{
			{Path: calendarPath, Doc: "calendar", Title: "calendar.title", template: "calendar", show: g.Calendar.show, scripts: []string{"calendar"}},
		}},
		{Key: "nav.titles", Icon: "clapperboard", Pages: []page{
			{Path: "/titles", Doc: "titles#mappings", Title: "mappings.title", template: "mappings", show: g.Mappings.list, scripts: []string{"mappings"}, Tab: true},
			{Path: "/titles/blocked", Doc: "titles#blocked-titles", Title: "blocked.title", template: "blocked", show: g.Mappings.blocked, scripts: []string{"mappings"}, Tab: true},
			{Path: "/titles/archive", Doc: "archive", Title: "archive.title", template: "archive", show: g.Archive.show, scripts: []string{"upload"}, Tab: true},
			{Path: "/titles/new", Doc: "titles#mappings", Title: "mapping.new", template: "mapping", show: g.Mappings.newMapping, scripts: []string{"find", "mappings"}},
			{Path: "/titles/import", Doc: "titles#export-and-import", Title: "import_rules.title", template: "import_rules", show: g.Mappings.importRules, scripts: []string{"mappings"}},
			{Path: "/titles/{id}", Doc: "titles#mappings", Title: "mapping.change", template: "mapping", show: g.Mappings.mapping, scripts: []string{"find", "mappings"}},
		}},
		{Key: "sources.title", Icon: "plug", InBar: true, Pages: []page{
			{Path: "/sources", Doc: "best-practice", Title: "sources.title", template: "sources", show: g.Sources.list},
			{Path: "/sources/webhooks", Doc: "sources/webhooks", Title: "connect.title", template: "connect", show: g.Sources.connect},
			{Path: "/sources/servers", Doc: "sources/servers", Title: "servers.title", template: "servers", show: g.Sources.servers},
			{Path: "/sources/servers/new", Doc: "sources/servers#connect-a-server", Title: "servers.new", template: "server-new", show: g.Sources.newServer, scripts: []string{"servers"}},
			{Path: "/sources/servers/{id}", Doc: "sources/servers", template: "server", show: g.Sources.server, scripts: []string{"sources", "servers"}},
			{Path: "/sources/nas", Doc: "sources/nas", Title: "nas.title", template: "nas", show: g.Sources.nas, scripts: []string{"sources"}},
			{Path: "/sources/device", Doc: "sources/tv-box", Title: "device.title", template: "device", show: g.Sources.device, scripts: []string{"sources"}},
			{Path: "/sources/tracker", Doc: "sources/trakt", Title: "tracker.title", template: "tracker", show: g.Sources.tracker, scripts: []string{"sources", "tracker"}},
			{Path: "/sources/import", Doc: "sources/import", Title: "import.title", template: "import", show: g.Sources.importHistory, scripts: []string{"sources", "import"}},
		}},
		{Key: "people.title", Icon: "users", Pages: []page{
			{Path: "/people", Doc: "accounts", Title: "accounts.title", template: "accounts", show: g.Accounts.list, Tab: true},
			{Path: householdPath, Doc: "access#people-of-the-household", Title: "household.title", template: "household", show: g.Household.list, Tab: true},
			{Path: assignPath, Doc: "accounts#whose-list-is-marked", template: "assign", show: g.Accounts.assign},
			{Path: "/people/{id}/list", Doc: "lists", Title: "list.title", template: "list", show: g.Accounts.listOf, scripts: []string{"restore", "upload"}},
			{Path: "/people/{id}/entries/{subject}/word", Doc: "lists#a-word-at-the-end", template: "word", show: g.Accounts.word, scripts: []string{"word"}},
		}},
		{Key: "nav.messages", Icon: "send", Pages: []page{
			{Path: "/messages", Doc: "notifications", Title: "notifications.title", template: "notifications", show: g.Notifications.list, scripts: []string{"notices"}, Tab: true},
			{Path: "/messages/summaries", Doc: "summaries", Title: "summaries.title", template: "summaries", show: g.Summaries.list, scripts: []string{"summaries"}, Tab: true},
			{Path: "/messages/llm", Doc: "summaries#a-language-model", Title: "llm.title", template: "llm", show: g.Summaries.llm, scripts: []string{"summaries"}, Tab: true},
			{Path: "/messages/channels/new", Doc: "notifications#for-all-channels", template: "channel", show: g.Notifications.newChannel, scripts: []string{"notices", "push"}},
			{Path: "/messages/channels/{id}", Doc: "notifications#for-all-channels", template: "channel", show: g.Notifications.channel, scripts: []string{"notices"}},
			{Path: "/messages/rules/new", Doc: "notifications#rules", Title: "rule.new", template: "rule", show: g.Notifications.newRule, scripts: []string{"notices"}},
			{Path: "/messages/rules/{id}", Doc: "notifications#rules", template: "rule", show: g.Notifications.rule, scripts: []string{"notices"}},
			{Path: "/messages/summaries/{name}", Doc: "summaries#a-summary", template: "summary", show: g.Summaries.job, scripts: []string{"summaries"}},
		}},
		{Key: "settings.title", Icon: "settings", Pages: []page{
			{Path: "/settings", Doc: "settings", Title: "settings.title", template: "settings", show: g.Settings.list, scripts: []string{"settings"}, Tab: true},
			{Path: "/settings/access", Doc: "access", Title: "access.title", template: "access", show: g.Settings.access, scripts: []string{"signin"}, Tab: true},
			{Path: "/settings/backups", Doc: "backup", Title: "backups.title", template: "backups", show: g.Settings.backups, Tab: true},
			{Path: "/settings/tasks", Doc: "operations#what-it-does-by-itself", Title: "tasks.title", template: "tasks", show: g.Tasks.list, Tab: true},
			{Path: "/settings/tasks/{id}", Doc: "operations#what-it-does-by-itself", template: "task", show: g.Tasks.task},
			{Path: "/settings/tools", Doc: "matching#try-a-title", Title: "debug.tab.trial", template: "debug", show: g.Debug.trial, scripts: []string{"debug"}, Tab: true, Group: "debug.title"},
			{Path: "/settings/tools/webhooks", Doc: "sources/webhooks#nothing-arrives", Title: "debug.tab.webhooks", template: "debug-webhooks", show: g.Debug.webhooks, Tab: true, Group: "debug.title"},
			{Path: "/settings/tools/network", Doc: "operations#when-something-does-not-work", Title: "debug.tab.network", template: "debug-network", show: g.Debug.network, scripts: []string{"debug"}, Tab: true, Group: "debug.title"},
			{Path: "/settings/tools/notifications", Doc: "notifications", Title: "notifications.title", template: "debug-notifications", show: g.Notifications.trial, scripts: []string{"notices"}, Tab: true, Group: "debug.title"},
			{Path: "/settings/tools/log", Doc: "operations#log-and-health", Title: "debug.tab.log", template: "debug-log", show: g.Debug.logs, scripts: []string{"debug"}, Tab: true, Group: "debug.title"},
			{Path: "/settings/about", Doc: "upgrade", Title: "about.title", template: "about", show: g.About.show, Tab: true},
		}},
		{Key: "mine.account", Icon: "users", InBar: true, Own: true, Pages: []page{
			{Path: "/mine/account", Doc: "access#people-of-the-household", Title: "mine.account", template: "mine-account", show: g.Mine.account},
		}},
		{Key: "mine.access", Icon: "key-round", Own: true, Pages: []page{
			{Path: "/mine/access", Doc: "access", Title: "mine.access", template: "mine-access", show: g.Settings.ownAccess, scripts: []string{"signin"}},
		}},
		{Pages: []page{
			{Path: documents.Path, template: "document", show: document, scripts: []string{"docs"}, Document: true},
			{Path: documents.Path + "/{page...}", template: "document", show: document, scripts: []string{"docs"}, Document: true},
			{Path: "/login", Title: "login.title", template: "login", show: g.SignIn.login, scripts: []string{"signin"}, open: true},
			{Path: "/setup", Title: "setup.title", template: "setup", show: g.SignIn.setup, open: true},
			{Path: "/invitation", Title: "invitation.title", template: "invitation", show: g.SignIn.invitation, scripts: []string{"signin"}, open: true},
		}},
	}
}

// moved are the paths that pages had before, for bookmarks and for links in messages that were sent. What is below them
// moved with them.
var moved = map[string]string{
	"/queue":         "/records/queue",
	"/mappings":      "/titles",
	"/archive":       "/titles/archive",
	"/connect":       "/sources/webhooks",
	"/nas":           "/sources/nas",
	"/device":        "/sources/device",
	"/tracker":       "/sources/tracker",
	"/import":        "/sources/import",
	"/accounts":      "/people",
	"/notifications": "/messages",
	"/summaries":     "/messages/summaries",
	"/llm":           "/messages/llm",
	"/tasks":         "/settings/tasks",
	"/debug":         "/settings/tools",
	"/about":         "/settings/about",
}

// toMoved redirects from the path old, and those below it, to where its page is now.
func (s *site) toMoved(old string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache") // who goes back to an older version needs the old address
		to := *r.URL
		to.Path, to.RawPath = s.BasePath+moved[old]+strings.TrimPrefix(r.URL.Path, old), ""
		http.Redirect(w, r, to.RequestURI(), http.StatusPermanentRedirect) //nolint:gosec // the path begins with that of a page
	}
}

// errorPage is shown instead of a page that does not exist or cannot be made.
var errorPage = page{template: "error", show: func(*request) (content, error) { return content{}, errNoPage }}

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

// pages returns the pages of all doors, and errorPage.
func pages(doors []door) []page {
	list := []page{errorPage}
	for _, one := range doors {
		list = append(list, one.Pages...)
	}
	return list
}

// location is where a page stands.
type location struct {
	Door string // its key
	// Tabs are the rows of tabs above it.
	Tabs []row
	// Up is the page that it is below; nil for one that the menu or a tab leads to.
	Up *page
}

// locationOf finds where a page of this door stands.
func (d door) locationOf(p page) location {
	at := location{Door: d.Key}
	if !p.Tab {
		for i, other := range d.Pages {
			if d.Key != "" && other.Path != p.Path && other.Holds(p.Path) && (at.Up == nil || len(other.Path) > len(at.Up.Path)) {
				at.Up = &d.Pages[i]
			}
		}
		return at
	}
	var tabs, below []tab
	group := ""
	for _, other := range d.Pages {
		switch {
		case !other.Tab:
			continue
		case other.Group == "":
			tabs = append(tabs, tab{Path: other.Path, Key: other.Title, Current: other.Path == p.Path})
		case other.Group != group:
			group = other.Group
			tabs = append(tabs, tab{Path: other.Path, Key: group, Current: group == p.Group})
		}
		if other.Group != "" && other.Group == p.Group {
			below = append(below, tab{Path: other.Path, Key: other.Title, Current: other.Path == p.Path})
		}
	}
	at.Tabs = []row{{d.Key, tabs}}
	if below != nil {
		at.Tabs = append(at.Tabs, row{p.Group, below})
	}
	return at
}

// pageName is the name of the page at a path, such as "Record 5". It returns errNoPage when there is none.
func (s *site) pageName(w words, path string) (string, error) {
	path, _, _ = strings.Cut(path, "?")
	title := func(path string) string {
		for _, p := range pages(s.doors) {
			if p.Path == path {
				return p.Title
			}
		}
		return ""
	}
	key := title(path)
	number, ofRecord := strings.CutPrefix(path, "/records/")
	switch {
	case key != "":
	case ofRecord:
		return w.text("page.record", number)
	case strings.HasPrefix(path, serversPath+"/"):
		key = title(serversPath)
	case strings.HasPrefix(path, "/people/") && strings.HasSuffix(path, "/word"):
		key = "word.title"
	case strings.HasPrefix(path, "/people/") && strings.HasSuffix(path, "/list"):
		key = "list.title"
	case strings.HasPrefix(path, "/people/"):
		key = title("/people")
	default:
		return "", errNoPage
	}
	return w.text(key)
}

// stylesheets of assets/css are those of all pages, joined in this order into app.css.
var stylesheets = []string{"tokens", "base", "layout", "components", "pages", "queue", "settings", "dashboard", "mappings", "sources", "debug", "notices", "summaries", "docs", "reference"}

// scripts of assets/js are those of all pages, joined into app.js, each after those that it imports. Scripts of single
// pages import from these only.
var scripts = []string{"words", "ui", "time", "live", "run", "forms", "cron", "figures", "app"}
