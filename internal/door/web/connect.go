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
	// URL is the address to paste: the webhook's, with the key, or that of the service for what comes with an API key.
	URL string
	// ByAPIKey is set for a source that comes with an API key.
	ByAPIKey bool
	// Loopback is set when only this machine can reach URL.
	Loopback bool
	HasKey   bool
	Log      []receivedRequest
	Ways     []serverWay
}

// serverWay is a media server that people have, and how what is watched there can be learned.
type serverWay struct {
	// Key is that of its text, and of what webhooks need.
	Key string
	// Webhook is set where webhooks work, by whatever means. A sign-in always does.
	Webhook bool
}

// serverWays are the media servers that people have.
var serverWays = []serverWay{
	{"plex_pass", true}, {"plex", true}, {"plex_shared", false}, {"emby_premiere", true}, {"emby", false}, {"jellyfin", true}, {"friend", false}, {"nas", false},
}

// receivedRequest is a request with those of its records that still exist.
type receivedRequest struct {
	webhooklog.Entry
	Records []record.Record
}

// sourceTab leads to the guide of a source.
type sourceTab struct {
	sourceLine
	Current bool
}

// stepKey is the text key of step i, counted from 0, of a guide.
func stepKey(src watch.Source, i int) string { return fmt.Sprintf("connect.%s.%d", src, i+1) }

// StepKeys are the text keys of the steps of the guide.
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
	page := connectPage{Source: source.Push[0], Ways: serverWays}
	if asked := watch.Source(r.URL.Query().Get("source")); slices.Contains(source.Push, asked) {
		page.Source = asked
	}
	for i, a := range source.Adapters {
		current := a.Source == page.Source
		page.Sources = append(page.Sources, sourceTab{lines[i], current})
		if current {
			page.Guide, page.ByAPIKey = a.Guide, a.ByAPIKey
		}
	}
	public := r.PublicURL(r.Context())
	page.URL = public
	if !page.ByAPIKey {
		page.URL += "/webhook/" + string(page.Source)
		if protected := g.Settings.Current().Auth; protected.WebhookAuthEnabled && protected.WebhookKey != "" {
			page.URL += "/" + url.PathEscape(protected.WebhookKey.Reveal())
			page.HasKey = true
		}
	}
	page.Loopback = onLoopback(public)
	page.Log, err = g.requests(r.Context(), page.Source)
	return content{Data: page, Doc: page.Guide.Document}, err
}

// requests are the newest requests of a source, together with those to an address of no known source.
func (g Sources) requests(ctx context.Context, source watch.Source) ([]receivedRequest, error) {
	entries, _, err := g.Requests.List(ctx, webhooklog.Filter{Source: source, OrNone: true, Limit: requestsShown})
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, e := range entries {
		ids = append(ids, e.RecordIDs...)
	}
	records, err := g.Records.Some(ctx, ids)
	if err != nil {
		return nil, err
	}
	list := make([]receivedRequest, len(entries))
	for i, e := range entries {
		list[i].Entry = e
		for _, id := range e.RecordIDs {
			if r, exists := records[id]; exists {
				list[i].Records = append(list[i].Records, r)
			}
		}
	}
	return list, nil
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
