package web

import (
	"net/http"
	"time"

	"watchmark/internal/archive"
	"watchmark/internal/record"
	"watchmark/internal/watch"
	"watchmark/internal/webhook"
)

// need is something that waits for a person, the most urgent first.
type need struct {
	look
	Kind  string // of the texts need.<kind>…
	Count int
	Name  string    // of the account, when it is about one
	Since time.Time // of an outage
	Path  string    // where to do something about it
}

// tile is one count of today.
type tile struct {
	look
	Count int
	Path  string
}

// sourceLine is a source and when it was last heard of; nil = never.
type sourceLine struct {
	Source watch.Source
	Seen   *time.Time
	Look   look // of what it was answered
}

// lineOf is the line of a source, by the newest request of each.
func lineOf(source watch.Source, newest map[watch.Source]webhook.Entry) sourceLine {
	entry, heard := newest[source]
	if !heard {
		return sourceLine{Source: source, Look: look{"quiet", "circle", "source.never"}}
	}
	return sourceLine{source, &entry.At, answerLook(entry.Status)}
}

type dashboardPage struct {
	Needs      []need
	Today      []tile
	Queue      int
	Latest     []record.Record
	Sources    []sourceLine
	HasAccount bool
	HasEvent   bool
	HasSuccess bool
}

// latestShown is how many records the dashboard lists.
const latestShown = 10

func (s *site) dashboard(r *http.Request) (content, error) {
	ctx, now := r.Context(), time.Now()
	stats, err := s.Records.Stats(ctx, now)
	if err != nil {
		return content{}, err
	}
	latest, _, err := s.Records.List(ctx, record.Filter{Limit: latestShown})
	if err != nil {
		return content{}, err
	}
	accounts, err := s.Accounts.List(ctx)
	if err != nil {
		return content{}, err
	}
	queue, err := s.QueueLength(ctx)
	if err != nil {
		return content{}, err
	}
	open, err := s.Questions.Open(ctx)
	if err != nil {
		return content{}, err
	}
	seen, err := s.WebhookLog.LastSeen(ctx)
	if err != nil {
		return content{}, err
	}
	page := dashboardPage{
		Today: todayTiles(stats.Today), Queue: queue, Latest: latest,
		HasAccount: len(accounts) > 0, HasEvent: len(latest) > 0, HasSuccess: stats.Total[record.Success] > 0,
	}
	if known := s.Reachability(); !known.Reachable {
		page.Needs = append(page.Needs, need{look: look{"warn", "triangle-alert", ""}, Kind: "unreachable", Count: 1, Since: known.Since, Path: "/records?status=queued"})
	}
	if archived := s.ArchiveStatus(); archived.Enabled && (archived.LastOutcome == archive.Failed || archived.LastOutcome == archive.Skipped) {
		page.Needs = append(page.Needs, need{look: archiveLook(archived), Kind: "archive", Count: 1, Path: "/archive"})
	}
	for _, a := range accounts {
		if !a.Enabled {
			continue
		}
		if h := healthOf(a, now); lookOf(h).Tone == "bad" || h == expiring {
			page.Needs = append(page.Needs, need{look: lookOf(h), Kind: "account", Name: a.Username, Count: 1, Path: "/accounts"})
		}
	}
	if n := stats.Week[record.Failed]; n > 0 {
		page.Needs = append(page.Needs, need{look: lookOf(record.Failed), Kind: "error", Count: n, Path: "/records?status=error"})
	}
	if open > 0 {
		page.Needs = append(page.Needs, need{look: lookOf(record.Review), Kind: "review", Count: open, Path: "/review"})
	}
	if queue > 0 {
		page.Needs = append(page.Needs, need{look: lookOf(record.Queued), Kind: "queued", Count: queue, Path: "/records?status=queued"})
	}
	for _, source := range watch.PushSources {
		page.Sources = append(page.Sources, lineOf(source, seen))
	}
	return content{Title: "dashboard.title", Data: page}, nil
}

// todayTiles are the counts of today; the two states on the way count as one.
func todayTiles(today map[record.Status]int) []tile {
	var tiles []tile
	for _, status := range []record.Status{record.Success, record.Failed, record.Review, record.Queued, record.Ignored} {
		tiles = append(tiles, tile{lookOf(status), today[status], "/records?status=" + string(status)})
	}
	return append(tiles, tile{lookOf(record.Processing), today[record.Received] + today[record.Processing], "/records?status=processing"})
}
