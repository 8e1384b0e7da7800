package web

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/scope"
	"watchmark/internal/record"
	"watchmark/internal/tell/notify"
	"watchmark/internal/watch"
)

// Inbox are the pages of the notices.
type Inbox struct {
	Notices  *notify.Notifier
	Accounts *account.Store
	Records  *record.Store
	WhoAre   whoAre
}

// attention is how many unread notices need the reader, without those of what is counted at another door: questions, and of the owner
// what failed.
func (g Inbox) attention(ctx context.Context) (int, error) {
	unread, err := g.Notices.Unread(ctx)
	return unread.Uncounted, err
}

// inboxView selects the notices that the list shows.
type inboxView string

// All but routine ones, those that need a person, unread ones, all.
const (
	viewNotices   inboxView = ""
	viewAttention inboxView = "attention"
	viewUnread    inboxView = "unread"
	viewAll       inboxView = "all"
)

type inboxPage struct {
	View   inboxView
	Kind   notify.Kind
	Text   string
	Tabs   []tab
	Groups []kindGroup
	// Notices are in the reader's language.
	Notices []noticeView
	// Read is the request body that marks the shown notices as read, or with All every notice up to the newest shown.
	// It is empty when all are read.
	Read string
	All  bool
	// Unwatched is what was set back to unwatched and waits for an answer; MoreUnwatched is set when there is more than a page asks about.
	Unwatched     []unwatchedView
	MoreUnwatched bool
	pager
}

// Filtered reports whether something restricts the list.
func (p inboxPage) Filtered() bool { return p.View != viewNotices || p.Kind != "" || p.Text != "" }

// noticeView is a notice in the reader's language.
type noticeView struct {
	notify.Entry
	Display     display
	Name        string // of its kind
	Title, Text string
	// Page is the path of the page it is about; empty when there is none.
	Page string
	// Unrouted is the user of an open notice about a user without an account; nil for any other notice.
	Unrouted *unroutedUser
}

var severityDisplays = map[notify.Severity]display{
	notify.Info:    {"quiet", "info", "inbox.severity.info"},
	notify.Success: {"good", "circle-check", "inbox.severity.success"},
	notify.Warning: {"warn", "triangle-alert", "inbox.severity.warning"},
	notify.Failure: {"bad", "circle-x", "inbox.severity.error"},
}

func noticeOf(r *request, e notify.Entry) noticeView {
	lang := bilingual.Language(r.lang)
	v := noticeView{Entry: e, Display: severityDisplays[e.Severity], Name: notify.InfoOf(e.Kind).Name(lang)}
	if page := e.Page(); page != "" && r.may(page) {
		v.Page = page
	}
	v.Title, v.Text = e.Words(lang)
	return v
}

// withUnrouted adds the users without an account, for who can give them one.
func (g Inbox) withUnrouted(r *request, views ...noticeView) ([]noticeView, error) {
	if !r.can("add-media-user-name") {
		return views, nil
	}
	var users []string
	about := func(v noticeView) bool {
		return v.Kind == notify.NoAccount && v.User != "" && v.Facts["source"] != string(watch.Scrobble) && v.OverAt.IsZero() && !v.Replaced
	}
	for _, v := range views {
		if about(v) {
			users = append(users, v.User)
		}
	}
	offered, err := offersFor(r.Context(), g.Accounts, g.WhoAre, users)
	for i, v := range views {
		if about(v) {
			views[i].Unrouted = offered.of(v.User)
		}
	}
	return views, err
}

// noticesShown is how many notices a page shows.
const noticesShown = 50

// list shows the notices. Unknown values of the filter are ignored.
func (g Inbox) list(r *request) (content, error) {
	ctx, q := r.Context(), r.URL.Query()
	page := inboxPage{View: inboxView(q.Get("view")), Kind: notify.Kind(q.Get("kind")), Text: strings.TrimSpace(q.Get("q")), Groups: kindGroups(r)}
	if !slices.Contains([]inboxView{viewAttention, viewUnread, viewAll}, page.View) {
		page.View = viewNotices
	}
	f := notify.Filter{
		Open: page.View == viewAttention, Attention: page.View == viewAttention, Unread: page.View == viewUnread, Standing: page.View != viewAll,
		Text: page.Text, Before: cursor(r, "before"), Limit: noticesShown,
	}
	if slices.ContainsFunc(notify.Kinds(), func(k notify.KindInfo) bool { return k.Kind == page.Kind }) {
		f.Kinds = []notify.Kind{page.Kind}
	} else {
		page.Kind = ""
		f.Notable = page.View == viewNotices
	}
	var err error
	if r.can("answer-unwatched") {
		if page.Unwatched, page.MoreUnwatched, err = unwatched(r, g.Records); err != nil {
			return content{}, err
		}
	}
	unread, err := g.Notices.Unread(ctx)
	if err != nil {
		return content{}, err
	}
	entries, next, err := g.Notices.List(ctx, f)
	if err != nil {
		return content{}, err
	}
	for _, e := range entries {
		page.Notices = append(page.Notices, noticeOf(r, e))
	}
	if page.Notices, err = g.withUnrouted(r, page.Notices...); err != nil {
		return content{}, err
	}
	for _, view := range []inboxView{viewNotices, viewAttention, viewUnread, viewAll} {
		tab := tab{withQuery("/inbox", page.filter(view)), "inbox.view", 0, view == page.View}
		if view != viewNotices {
			tab.Key += "." + string(view)
		}
		if view == viewUnread {
			tab.Count = unread.All
		}
		page.Tabs = append(page.Tabs, tab)
	}
	page.All = page.Kind == "" && page.Text == "" && page.View != viewAttention && f.Before == 0
	page.Read = readBody(entries, page.All && unread.All > 0)
	page.pager = pagerOf("/inbox", page.filter(page.View), f.Before, next)
	return content{Data: page}, nil
}

// ReadBody is the request body that marks the notice as read.
func (v noticeView) ReadBody() string { return fmt.Sprintf(`{"ids":[%d]}`, v.ID) }

// readBody is the request body that marks entries as read, or with all every notice up to the newest of them. It is
// empty when all are read.
func readBody(entries []notify.Entry, all bool) string {
	if all && len(entries) > 0 {
		return fmt.Sprintf(`{"up_to":%d}`, entries[0].ID)
	}
	var unread []string
	for _, e := range entries {
		if e.Unread {
			unread = append(unread, strconv.FormatInt(e.ID, 10))
		}
	}
	if unread == nil {
		return ""
	}
	return `{"ids":[` + strings.Join(unread, ",") + `]}`
}

// filter is the query of a view of the list.
func (p inboxPage) filter(view inboxView) map[string]string {
	return map[string]string{"view": string(view), "kind": string(p.Kind), "q": p.Text}
}

// kindGroup is a group of kinds of notices.
type kindGroup struct {
	Key   string // text key of its name
	Kinds []kindView
}

// kindView is a kind in the reader's language.
type kindView struct {
	notify.KindInfo
	Name    string
	Display display
}

// kindGroups are all kinds that the reader can be told, in the order of the list.
func kindGroups(r *request) []kindGroup {
	var groups []kindGroup
	for _, k := range notify.Kinds() {
		if !scope.From(r.Context()).Whole() && !k.OfPeople() {
			continue
		}
		key := "notify.group." + string(k.Group)
		if len(groups) == 0 || groups[len(groups)-1].Key != key {
			groups = append(groups, kindGroup{Key: key})
		}
		last := &groups[len(groups)-1]
		last.Kinds = append(last.Kinds, kindView{k, k.Name(bilingual.Language(r.lang)), severityDisplays[k.Severity]})
	}
	return groups
}

type noticePage struct {
	noticeView
	Deliveries []deliveryView
	// Waiting is set while a message is not sent yet.
	Waiting bool
}

type deliveryView struct {
	notify.Delivery
	Display display
	// Resend is set when a person may send it again.
	Resend bool
}

var deliveryDisplays = map[notify.State]display{
	notify.Waiting: {"busy", "hourglass", "inbox.state.waiting"},
	notify.Sending: {"busy", "send", "inbox.state.sending"},
	notify.Sent:    {"good", "circle-check", "inbox.state.sent"},
	notify.Failed:  {"bad", "circle-x", "inbox.state.failed"},
	notify.Unsure:  {"warn", "circle-question-mark", "inbox.state.unsure"},
	notify.Dropped: {"quiet", "circle-minus", "inbox.state.dropped"},
}

// notice shows a notice and its deliveries.
func (g Inbox) notice(r *request) (content, error) {
	id, err := idOf(r)
	if err != nil {
		return content{}, err
	}
	e, err := g.Notices.Get(r.Context(), id)
	if err != nil {
		return content{}, err
	}
	deliveries, err := g.Notices.Deliveries(r.Context(), id)
	if err != nil {
		return content{}, err
	}
	views, err := g.withUnrouted(r, noticeOf(r, e))
	page := noticePage{noticeView: views[0]}
	for _, d := range deliveries {
		again := d.State == notify.Failed || d.State == notify.Unsure || d.State == notify.Dropped
		page.Deliveries = append(page.Deliveries, deliveryView{d, deliveryDisplays[d.State], again})
		page.Waiting = page.Waiting || d.State == notify.Waiting || d.State == notify.Sending
	}
	return content{Heading: page.Title, Data: page}, err
}
