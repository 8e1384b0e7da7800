package web

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source"
	"watchmark/internal/watch"
)

type connectPage struct {
	Sources []sourceTab
	Source  watch.Source
	Guide   source.Guide
	// URL is the exact address to paste.
	URL string
	// Loopback warns that only this machine can reach URL.
	Loopback bool
	HasKey   bool
	Log      []heardRequest
	Polled   []polledSource
}

// heardRequest is a request that arrived, with the records it became that are still there.
type heardRequest struct {
	webhooklog.Entry
	Records []record.Record
}

// sourceTab is a source one can open here.
type sourceTab struct {
	sourceLine
	Current bool
}

// stepKey is the key of step i of a guide, which counts from 0.
func stepKey(src watch.Source, i int) string { return fmt.Sprintf("connect.%s.%d", src, i+1) }

// StepKeys are the keys of the guide's texts in order.
func (p connectPage) StepKeys() []string {
	keys := make([]string, len(p.Guide.Steps))
	for i := range keys {
		keys[i] = stepKey(p.Source, i)
	}
	return keys
}

// requestsShown is how many of the newest requests of a source are listed.
const requestsShown = 8

func (g Sources) connect(r *request) (content, error) {
	lines, err := g.lines(r.Context(), time.Now(), nil)
	if err != nil {
		return content{}, err
	}
	page := connectPage{Source: source.Push[0]}
	if asked := watch.Source(r.URL.Query().Get("source")); slices.Contains(source.Push, asked) {
		page.Source = asked
	}
	for i, a := range source.Adapters {
		current := a.Source == page.Source
		page.Sources = append(page.Sources, sourceTab{lines[i], current})
		if current {
			page.Guide = a.Guide
		}
	}
	if page.Polled, err = g.polled(r.Context()); err != nil {
		return content{}, err
	}
	public := r.PublicURL(r.Context())
	page.URL = public + "/webhook/" + string(page.Source)
	if protected := g.Settings.Current().Auth; protected.WebhookAuthEnabled && protected.WebhookKey != "" {
		page.URL += "/" + url.PathEscape(protected.WebhookKey.Reveal())
		page.HasKey = true
	}
	page.Loopback = onLoopback(public)
	page.Log, err = g.requests(r.Context(), page.Source)
	return content{Title: "connect.title", Data: page}, err
}

// heard are the newest requests of a source, with those whose address names none that there is.
func (g Sources) requests(ctx context.Context, source watch.Source) ([]heardRequest, error) {
	entries, _, err := g.Requests.List(ctx, webhooklog.Filter{Source: source, OrNone: true, Limit: requestsShown})
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, e := range entries {
		ids = append(ids, e.RecordIDs...)
	}
	became, err := g.Records.Some(ctx, ids)
	if err != nil {
		return nil, err
	}
	heard := make([]heardRequest, len(entries))
	for i, e := range entries {
		heard[i].Entry = e
		for _, id := range e.RecordIDs {
			if r, there := became[id]; there {
				heard[i].Records = append(heard[i].Records, r)
			}
		}
	}
	return heard, nil
}

// onLoopback reports whether only the machine itself can reach address.
func onLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}
