package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/engine/queue"
	"watchmark/internal/engine/review"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source"
	"watchmark/internal/tell/notify"
	"watchmark/internal/watch"
)

// Dashboard is the first page.
type Dashboard struct {
	Sources      Sources
	Records      *record.Store
	Questions    *review.Store
	Accounts     *account.Store
	Notices      *notify.Notifier
	Queue        *queue.Queue
	Archive      func() archive.Status
	Reachability func() catalog.Reachability // of the catalog, without asking it
	// Integrity is the state of the check of the database that begins with the start.
	Integrity func() (checking, damaged bool)
}

// need is something that waits for a person.
type need struct {
	display
	Kind   string // its texts are need.KIND…
	Count  int
	Name   string        // of the account, when it is about one
	Detail reason.Reason // the problem, when it is about a source or a channel
	Since  time.Time     // of an outage
	Path   string        // of the page to solve it; empty when there is none
}

// recentTitle is a show or film that was watched lately, with its newest record.
type recentTitle struct {
	record.Record
	// Cover is the subject of the newest of its records that has one; 0 when none has.
	Cover catalog.SubjectID
	// More is how many other episodes of it are among the newest records. An episode that several people watched counts once.
	More int
}

// sourceLine is a source and the time of its last event or request; nil when there was none.
type sourceLine struct {
	Source  watch.Source
	Seen    *time.Time
	Display display // of the answer to its newest request
	// Silent is for how many days nothing came, when that is unusual, otherwise 0.
	Silent int
	Path   string
	// Problem is that of polledSource, or why the newest request was not taken.
	Problem reason.Reason
}

// lineOf is the line of a push source; newest are the newest requests by source.
func lineOf(source watch.Source, newest map[watch.Source]webhooklog.Entry) sourceLine {
	line := sourceLine{Source: source, Display: display{"quiet", "circle", "source.never"}, Path: "/sources/webhooks?source=" + string(source)}
	if entry, known := newest[source]; known {
		line.Seen, line.Display = &entry.At, sourceDisplay(entry.Status)
		if line.Display.Tone == "bad" {
			line.Problem = entry.Reason
		}
	}
	return line
}

type dashboardPage struct {
	Needs   []need
	Latest  []recentTitle
	Today   []tile
	Figures figures
	// Sources are the push sources that were heard, and the polled ones that are switched on.
	Sources []sourceLine
	Catalog catalog.Reachability
	Queue   int

	// HasAccount is set when the first account can be written to.
	HasAccount bool
	HasEvent   bool
	HasSuccess bool
}

const (
	// latestShown is how many shows the dashboard lists, of the newest latestRead records.
	latestShown = 8
	latestRead  = 60
	// accountsNeeding is how many accounts that need a person are named; others are counted.
	accountsNeeding = 5
)

func (g Dashboard) show(r *request) (content, error) {
	ctx, now := r.Context(), time.Now()
	activity, err := g.Records.Activity(ctx, firstDay(now), now, trendDays)
	if err != nil {
		return content{}, err
	}
	newest, _, err := g.Records.List(ctx, record.Filter{Limit: latestRead})
	if err != nil {
		return content{}, err
	}
	accounts, err := g.Accounts.Find(ctx, account.Filter{}, 0, 1)
	if err != nil {
		return content{}, err
	}
	polled, err := g.Sources.polled(ctx)
	if err != nil {
		return content{}, err
	}
	polled = slices.DeleteFunc(polled, func(p polledSource) bool { return !p.Enabled })
	page := dashboardPage{
		Latest: latest(newest), Today: todayTiles("/records", activity.Today), Figures: figuresOf(activity.Days), Catalog: g.Reachability(),
		HasAccount: len(accounts) > 0 && healthOf(accounts[0], now) < expired, HasEvent: len(newest) > 0,
		HasSuccess: slices.ContainsFunc(newest, func(r record.Record) bool { return r.Status == record.Success }),
	}
	tasks, err := g.Queue.Counts(ctx)
	if err != nil {
		return content{}, err
	}
	page.Queue = tasks[queue.Pending]
	if page.Needs, err = g.needs(ctx, now, polled, page.Queue); err != nil {
		return content{}, err
	}
	page.Sources, err = g.Sources.lines(ctx, now, polled)
	page.Sources = slices.DeleteFunc(page.Sources, func(l sourceLine) bool { return rank(l) == unheard && slices.Contains(source.Push, l.Source) })
	slices.SortStableFunc(page.Sources, func(a, b sourceLine) int { return cmp.Compare(rank(a), rank(b)) })
	return content{Data: page}, err
}

// needs are the things that wait for a person, in this order: what prevents marks at all, what failed, what waits,
// and what resolves by itself.
func (g Dashboard) needs(ctx context.Context, now time.Time, polled []polledSource, queue int) ([]need, error) {
	failed, err := g.Records.FailedLately(ctx, now)
	if err != nil {
		return nil, err
	}
	unrouted, err := g.Records.CountUnrouted(ctx)
	if err != nil {
		return nil, err
	}
	open, err := g.Questions.Open(ctx)
	if err != nil {
		return nil, err
	}
	trouble := account.Filter{EndsBefore: now.Add(expiresSoon)}
	troubled, err := g.Accounts.Find(ctx, trouble, 0, accountsNeeding)
	if err != nil {
		return nil, err
	}
	more := 0
	if len(troubled) == accountsNeeding {
		all, err := g.Accounts.Count(ctx, trouble)
		if err != nil {
			return nil, err
		}
		more = all - accountsNeeding
	}
	var needs []need
	checking, damaged := g.Integrity()
	if damaged {
		needs = append(needs, need{display: display{"bad", "circle-x", "need.damaged"}, Kind: "database", Path: "/settings/backups"})
	}
	for _, a := range troubled {
		if h := healthOf(a, now); displayOf(h).Tone == "bad" || h == expiring {
			needs = append(needs, need{display: displayOf(h), Kind: "account", Name: a.Username, Path: "/people?trouble=1"})
		}
	}
	if more > 0 {
		needs = append(needs, need{display: displayOf(broken), Kind: "accounts", Count: more, Path: "/people?trouble=1"})
	}
	for _, p := range polled {
		if !p.Problem.IsZero() {
			needs = append(needs, need{display: display{"bad", "circle-x", ""}, Kind: string(p.Source), Detail: p.Problem, Path: p.Path})
		}
	}
	for _, p := range polled {
		if p.Held > 0 {
			needs = append(needs, need{display: display{"warn", "circle-question-mark", ""}, Kind: "held", Count: p.Held, Path: p.Path})
		}
	}
	channels, err := g.Notices.Channels(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range channels {
		if c.Enabled && !c.Paused.IsZero() {
			needs = append(needs, need{display: channelDisplay(c), Kind: "channel", Name: c.Name, Detail: c.Paused, Path: "/messages"})
		}
	}
	if failed > 0 {
		needs = append(needs, need{display: displayOf(record.Failed), Kind: "error", Count: failed, Path: "/records?status=error"})
	}
	if unrouted > 0 {
		needs = append(needs, need{display: displayOf(record.Failed), Kind: "unrouted", Count: unrouted, Path: "/records?unrouted="})
	}
	if open > 0 {
		needs = append(needs, need{display: displayOf(record.Review), Kind: "review", Count: open, Path: "/review"})
	}
	if known := g.Reachability(); !known.Reachable {
		needs = append(needs, need{display: display{"warn", "triangle-alert", ""}, Kind: "unreachable", Since: known.Since, Path: "/records/queue"})
	}
	if queue > 0 {
		needs = append(needs, need{display: displayOf(record.Queued), Kind: "queued", Count: queue, Path: "/records/queue"})
	}
	if archived := g.Archive(); archived.Enabled && (archived.LastOutcome == archive.Failed || archived.LastOutcome == archive.Skipped) {
		needs = append(needs, need{display: archiveDisplay(archived), Kind: "archive", Path: "/titles/archive"})
	}
	if checking {
		needs = append(needs, need{display: display{"quiet", "loader", "need.checking"}, Kind: "database"})
	}
	return needs, nil
}

// latest are the shows and films of the newest records, each once, the newest first. A record without a subject
// belongs to the others of its title and season.
func latest(newest []record.Record) []recentTitle {
	type title struct {
		name   string
		season int
	}
	type chapter struct {
		show, season int
		episode      float64
	}
	var list []recentTitle
	counted, chapters := map[chapter]bool{}, map[int]int{} // chapters of each show
	bySubject, byTitle := map[catalog.SubjectID]int{}, map[title]int{}
	for _, r := range newest {
		named := title{name: r.Title}
		if r.Season != nil {
			named.season = *r.Season
		}
		i, known := bySubject[r.SubjectID]
		if !known {
			i, known = byTitle[named]
		}
		if known && r.SubjectID != 0 && list[i].Cover != 0 && list[i].Cover != r.SubjectID {
			known = false // a part of a season that the catalog keeps as an entry of its own
		}
		if !known {
			i, list = len(list), append(list, recentTitle{Record: r})
		}
		if r.Episode != nil {
			seen := chapter{i, named.season, *r.Episode}
			if !counted[seen] {
				counted[seen] = true
				chapters[i]++
			}
		}
		byTitle[named] = i
		if r.SubjectID != 0 {
			list[i].Cover, bySubject[r.SubjectID] = r.SubjectID, i
		}
	}
	for i, n := range chapters {
		list[i].More = n - 1
	}
	return list[:min(len(list), latestShown)]
}

// lines are the push sources, in the order of source.Push, and then those of polled.
func (g Sources) lines(ctx context.Context, now time.Time, polled []polledSource) ([]sourceLine, error) {
	requests, err := g.Requests.LastSeen(ctx)
	if err != nil {
		return nil, err
	}
	var lines []sourceLine
	for _, src := range source.Push {
		lines = append(lines, lineOf(src, requests))
	}
	for _, p := range polled {
		line := sourceLine{Source: p.Source, Display: display{"quiet", "circle", "source.never"}, Path: p.Path, Problem: p.Problem}
		if !p.Problem.IsZero() {
			line.Display = display{"bad", "circle-x", "source.failing"}
		}
		lines = append(lines, line)
	}
	var sources []watch.Source
	for _, line := range lines {
		sources = append(sources, line.Source)
	}
	records, err := g.Records.Heard(ctx, sources)
	if err != nil {
		return nil, err
	}
	for i := range lines {
		line := &lines[i]
		heard, known := records[line.Source]
		if !known {
			continue
		}
		if line.Seen == nil || heard.Last.After(*line.Seen) { // the log of requests is kept for a short time only
			line.Seen = &heard.Last
			if line.Display.Tone == "quiet" {
				line.Display = display{"good", "circle-check", "source.works"}
			}
		}
		heard.Last = *line.Seen
		if days := heard.Silent(now, g.Settings.Current().Notification.SilentAfter); days > 0 && line.Display.Tone != "bad" {
			line.Display, line.Silent = display{"warn", "triangle-alert", "source.silent"}, days
		}
	}
	return lines, nil
}

// unheard is the rank of a source without any event.
const unheard = 2

// rank sorts sources: those with a problem first, and those without any event last.
func rank(l sourceLine) int {
	switch {
	case l.Display.Tone == "bad" || l.Silent > 0:
		return 0
	case l.Seen != nil:
		return 1
	}
	return unheard
}

// todayTiles are the counts of today, which lead to a list of records. Received and processing records are one tile.
func todayTiles(records string, today map[record.Status]int) []tile {
	var tiles []tile
	for _, status := range []record.Status{record.Success, record.Failed, record.Review, record.Queued, record.Ignored, record.Processing} {
		count := today[status]
		if status == record.Processing {
			count += today[record.Received]
		}
		if count > 0 {
			tiles = append(tiles, tile{displayOf(status), count, withQuery(records, map[string]string{"status": string(status)})})
		}
	}
	return tiles
}
