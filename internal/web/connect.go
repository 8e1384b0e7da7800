package web

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"watchmark/internal/watch"
	"watchmark/internal/webhook"
)

// guide is what to do in one source: Steps counts the texts connect.<source>.1 and on;
// Body is a text to paste there.
type guide struct {
	Steps int
	Body  string
}

// The bodies hold what upstreams/media-servers.md sections 2, 4a and 5 say the adapters can read.
var guides = map[watch.Source]guide{
	watch.Plex: {Steps: 3},
	watch.Tautulli: {Steps: 5, Body: `{
  "event": "{action}",
  "media_type": "{media_type}",
  "title": "<episode>{show_name}</episode><movie>{title}</movie>",
  "season": "{season_num}",
  "episode": "{episode_num}",
  "release_date": "{air_date}",
  "year": "{year}",
  "user_name": "{username}",
  "user_id": "{user_id}",
  "tmdb_id": "{themoviedb_id}",
  "tvdb_id": "{thetvdb_id}",
  "imdb_id": "{imdb_id}",
  "rating_key": "{rating_key}",
  "progress": "{progress_percent}",
  "server": "{server_name}"
}`},
	watch.Emby: {Steps: 4},
	watch.Jellyfin: {Steps: 5, Body: `{
  "NotificationType": "{{NotificationType}}",
  "ItemType": "{{ItemType}}",
  "ItemId": "{{ItemId}}",
  "Name": "{{{Name}}}",
  "SeriesName": "{{{SeriesName}}}",
  "SeasonNumber": "{{SeasonNumber}}",
  "EpisodeNumber": "{{EpisodeNumber}}",
  "EpisodeNumberEnd": "{{EpisodeNumberEnd}}",
  "PremiereDate": "{{PremiereDate}}",
  "Year": "{{Year}}",
  "NotificationUsername": "{{{NotificationUsername}}}",
  "UserId": "{{UserId}}",
  "PlayedToCompletion": "{{PlayedToCompletion}}",
  "SaveReason": "{{SaveReason}}",
  "Played": "{{Played}}",
  "Provider_tmdb": "{{Provider_tmdb}}",
  "Provider_tvdb": "{{Provider_tvdb}}",
  "Provider_imdb": "{{Provider_imdb}}",
  "Provider_bangumi": "{{Provider_bangumi}}"
}`},
	watch.Custom: {Steps: 3, Body: `{
  "media_type": "episode",
  "title": "灯塔守望者",
  "ori_title": "灯台守のうた",
  "season": 2,
  "episode": 7,
  "release_date": "2025-02-19",
  "user_name": "mira",
  "source": "my-script"
}`},
}

type connectPage struct {
	Sources []sourceTab
	Source  watch.Source
	Guide   guide
	// URL is the exact address to paste.
	URL string
	// Loopback warns that only this machine can reach URL.
	Loopback bool
	HasKey   bool
	Log      []webhook.Entry
	// Asked are the sources that send nothing.
	Asked []askedSource
}

// sourceTab is a source one can open here.
type sourceTab struct {
	sourceLine
	Current bool
}

// StepKeys are the keys of the guide's texts in order.
func (p connectPage) StepKeys() []string {
	keys := make([]string, p.Guide.Steps)
	for i := range keys {
		keys[i] = "connect." + string(p.Source) + "." + string(rune('1'+i))
	}
	return keys
}

// requestsShown is how many of the newest requests of a source are listed.
const requestsShown = 8

func (s *site) connect(r *http.Request) (content, error) {
	seen, err := s.WebhookLog.LastSeen(r.Context())
	if err != nil {
		return content{}, err
	}
	page := connectPage{Source: watch.PushSources[0]}
	if asked := watch.Source(r.URL.Query().Get("source")); slices.Contains(watch.PushSources, asked) {
		page.Source = asked
	}
	page.Guide = guides[page.Source]
	for _, source := range watch.PushSources {
		tab := sourceTab{sourceLine: lineOf(source, seen), Current: source == page.Source}
		page.Sources = append(page.Sources, tab)
	}
	if page.Asked, err = s.askedSources(r.Context()); err != nil {
		return content{}, err
	}
	public := s.PublicURL(r)
	page.URL = public + "/webhook/" + string(page.Source)
	if key := s.WebhookKey(); key != "" {
		page.URL += "/" + url.PathEscape(key)
		page.HasKey = true
	}
	page.Loopback = onLoopback(public)
	page.Log, _, err = s.WebhookLog.List(r.Context(), webhook.Filter{Source: page.Source, Limit: requestsShown})
	return content{Title: "connect.title", Data: page}, err
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
