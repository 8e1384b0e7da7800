// Package tautulli reads the webhook agent of Tautulli, whose body is a template
// that the user writes (upstreams/media-servers.md, section 2). It understands the
// keys of the template suggested there, the placeholders' own names, and the keys
// of the custom webhook.
package tautulli

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// Adapter is Tautulli as a source.
var Adapter = payload.Adapter{
	Source: watch.Tautulli,
	Name:   bilingual.Text{English: "Tautulli", Chinese: "Tautulli"},
	Parse:  Parse,
	Guide: payload.Guide{
		Document: "sources/tautulli",
		Needs: bilingual.Text{English: "Works without Plex Pass. Tautulli must watch your Plex server already.",
			Chinese: "不需要 Plex Pass。Tautulli 需已连接你的 Plex 服务器。"},
		Steps: []bilingual.Text{
			{English: "Open **Settings → Notification Agents → Add a new notification agent** and choose **Webhook**.",
				Chinese: "打开 **Settings → Notification Agents → Add a new notification agent**，选择 **Webhook**。"},
			{English: "Paste the address as **Webhook URL**; leave the method **POST**.",
				Chinese: "把地址粘贴到 **Webhook URL**，方法保持 **POST**。"},
			{English: "On the tab **Triggers** tick **Watched** (and **Playback Start** if films shall be put on your list when they begin).",
				Chinese: "在 **Triggers** 标签勾选 **Watched**（如果希望剧场版一开始播放就设为“在看”，再勾选 **Playback Start**）。"},
			{English: "On the tab **Data**, paste the text below into **JSON Data** of each trigger you ticked; leave the headers empty.",
				Chinese: "在 **Data** 标签，把下面的文本粘贴到每个已勾选触发器的 **JSON Data**，headers 留空。"},
			{English: "**Save**, then watch an episode to the end.",
				Chinese: "**保存**，然后把一集看完。"},
		},
		Note: bilingual.Text{English: "The user name is `{username}`, not the friendly name, so renaming somebody in Tautulli changes nothing.",
			Chinese: "用户名取 `{username}` 而不是显示名，在 Tautulli 里改名不受影响。"},
		BodyTitle: bilingual.Text{English: "JSON Data", Chinese: "JSON Data"},
		Body: `{
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
}`,
	},
}

// Parse reads a request of Tautulli. It returns a *payload.BadRequest when the
// body is empty or does not name its event, and an error that wraps
// payload.ErrUnsupportedMedia when it is neither JSON nor a form.
func Parse(req payload.Request) (payload.Delivery, error) {
	if len(bytes.TrimSpace(req.Body)) == 0 {
		return payload.Delivery{}, &payload.BadRequest{Detail: emptyBody.With()}
	}
	o, err := req.Object()
	if err != nil {
		return payload.Delivery{}, err
	}
	r := read(withoutPlaceholders(o))
	switch event := strings.ToLower(r.Event.RawEvent); event {
	case "":
		return payload.Delivery{}, &payload.BadRequest{Field: "event",
			Detail: noEvent.With("{action}")}
	case "watched":
		return r.Deliver(watch.Watched)
	case "play":
		return r.Deliver(watch.Started)
	case "test":
		return r.ConnectionTest(), nil
	default:
		return r.Ignore(notWatched.With(r.Event.RawEvent)), nil
	}
}

func read(o payload.Object) payload.Report {
	r := payload.Report{
		ItemType: o.Line("media_type"),
		Event: watch.Event{
			Source:        watch.Tautulli,
			RawEvent:      o.EventName("event", "action"),
			OriginalTitle: o.Line("ori_title"),
			AirDate:       watch.ParseDate(o.Line("release_date", "air_date")),
			Season:        o.Season("season", "season_num"),
			Episode:       o.Episode("episode", "episode_num"),
			UserName:      o.Text("user_name", "username", "user"),
			UserID:        o.Line("user_id"),
			ServerName:    o.Line("server", "server_name"),
			ItemID:        o.Line("rating_key"),
		},
	}
	e := &r.Event
	if e.AirDate.IsZero() {
		e.AirDate = o.Year("year")
	}
	if r.ItemType == "" && e.Episode != nil {
		r.ItemType = string(watch.Episode) // the numbers tell it
	}
	// Unlike everywhere else these ids are the show's on an episode.
	var ids watch.IDs
	for provider, keys := range map[string][]string{
		"tmdb": {"tmdb_id", "themoviedb_id"}, "tvdb": {"tvdb_id", "thetvdb_id"}, "imdb": {"imdb_id"}, "anidb": {"anidb_id"},
	} {
		ids = payload.AddID(ids, provider, o.Line(keys...))
	}
	if strings.EqualFold(r.ItemType, string(watch.Movie)) {
		e.Title, e.ItemIDs = o.Line("title"), ids
		return r
	}
	e.SeriesIDs = ids
	e.EpisodeTitle = o.Line("episode_name")
	if e.Title = o.Line("show_name"); e.Title == "" {
		// The placeholder {title} of an episode is "Show - Episode".
		e.Title = o.Line("title")
		if show, ok := strings.CutSuffix(e.Title, " - "+e.EpisodeTitle); ok && e.EpisodeTitle != "" && strings.TrimSpace(show) != "" {
			e.Title = strings.TrimSpace(show)
		}
	}
	return r
}

// placeholder is a text that Tautulli left as it stands because it does not know the name.
var placeholder = regexp.MustCompile(`^\s*\{[a-z][a-z0-9_]*(?:[!:][^{}]*)?\}\s*$`)

// withoutPlaceholders is o without the fields that hold nothing but a placeholder.
func withoutPlaceholders(o payload.Object) payload.Object {
	kept := make(payload.Object, len(o))
	for key, raw := range o {
		var text string
		if json.Unmarshal(raw, &text) == nil && placeholder.MatchString(text) {
			continue
		}
		kept[key] = raw
	}
	return kept
}
