// Package custom reads the webhook for scripts and other senders, whose body is
// ours to define (upstreams/media-servers.md, section 5).
package custom

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// Adapter is the webhook for scripts as a source.
var Adapter = payload.Adapter{
	Source: watch.Custom,
	Name:   bilingual.Text{English: "Script", Chinese: "自定义脚本"},
	Parse:  Parse,
	Guide: payload.Guide{
		Document: "sources/script",
		Needs: bilingual.Text{English: "For scripts and players that can send a request.",
			Chinese: "适用于能发送请求的脚本和播放器。"},
		Steps: []bilingual.Text{
			{English: "Send a `POST` with the JSON below to the address. `title`, `season`, `episode` and `user_name` are needed; numbers may be texts.",
				Chinese: "向该地址发送 `POST` 请求，内容为下面的 JSON。`title`、`season`、`episode` 和 `user_name` 必填，数字可以写成文本。"},
			{English: "For a film send `movie` or `film` as `media_type`; season and episode are not needed. `series`, `show` and `tv` are the same as `episode`.",
				Chinese: "剧场版请把 `media_type` 设为 `movie` 或 `film`，无需填写季和集；`series`、`show`、`tv` 等同于 `episode`。"},
			{English: "The answer is `202` with the ids of the records. Anything else says in plain words what is wrong.",
				Chinese: "成功时返回 `202` 和记录编号；否则会用文字说明问题所在。"},
		},
		Note: bilingual.Text{English: "Add `ori_title` and `release_date` when you know them: they make the match certain.",
			Chinese: "如果知道 `ori_title` 和 `release_date` 请一并发送，匹配会更准确。"},
		BodyTitle: bilingual.Text{English: "An example", Chinese: "示例"},
		Body: `{
  "media_type": "episode",
  "title": "灯塔守望者",
  "ori_title": "灯台守のうた",
  "season": 2,
  "episode": 7,
  "release_date": "2025-02-19",
  "user_name": "mira",
  "source": "my-script"
}`,
	},
}

// maxUserName is how many characters a user name may have, so that it has no more than watch.MaxText bytes.
const maxUserName = watch.MaxText / utf8.UTFMax

// Parse reads a request with the fields of Schema; unknown ones are
// passed over, and ?source= goes before the field. Episodes need title, season
// and episode, films only title. It returns a *payload.BadRequest that names
// every missing field or the first wrong one, and an error that wraps
// payload.ErrUnsupportedMedia when the body is neither JSON nor a form.
func Parse(req payload.Request) (payload.Delivery, error) {
	o, err := req.Object()
	if err != nil {
		return payload.Delivery{}, err
	}
	kind := cmp.Or(o.Line("media_type"), string(watch.Episode))
	media, known := watch.MediaOf(kind)
	if !known {
		return payload.Delivery{}, &payload.BadRequest{Field: "media_type",
			Detail: unknownKind.With(payload.Clean(kind, 40))}
	}
	if err := check(o, media); err != nil {
		return payload.Delivery{}, err
	}
	r := payload.Report{
		ItemType: kind,
		Event: watch.Event{
			Source:        watch.Custom,
			Label:         payload.Clean(cmp.Or(req.Query.Get("source"), o.Line("source")), watch.MaxText),
			RawEvent:      o.EventName("sync_action"),
			Title:         o.Line("title"),
			OriginalTitle: o.Line("ori_title"),
			Season:        o.Season("season"),
			Episode:       o.Episode("episode"),
			AirDate:       watch.ParseDate(o.Line("release_date")),
			UserName:      o.Text("user_name"),
			OccurredAt:    o.Time("watched_at"),
		},
	}
	// Ids are those of the show, or of the film; the episode's own would lead nowhere.
	if ids := o.Object("ids").IDs(); media == watch.Movie {
		r.Event.ItemIDs = ids
	} else {
		r.Event.SeriesIDs = ids
	}
	if r.Event.RawEvent == "mark_watching" {
		return r.Deliver(watch.Started)
	}
	return r.Deliver(watch.Watched)
}

// check reports what is missing, all of it at once, or else the first field that
// holds something unusable.
func check(o payload.Object, media watch.Media) error {
	required := []string{"title"}
	if media != watch.Movie {
		required = append(required, "season", "episode")
	}
	var missing []string
	for _, field := range required {
		if !o.Has(field) {
			missing = append(missing, field)
		}
	}
	if names := strings.Join(missing, ", "); names != "" {
		return &payload.BadRequest{Field: names, Detail: fieldMissing.With(names)}
	}
	for _, field := range []string{"title", "user_name"} {
		if o.Has(field) && o.Text(field) == "" {
			return &payload.BadRequest{Field: field, Detail: notText.With(field)}
		}
	}
	if utf8.RuneCountInString(o.Text("user_name")) > maxUserName {
		return &payload.BadRequest{Field: "user_name", Detail: userNameTooLong.With(maxUserName)}
	}
	if o.Line("title") == "" {
		return &payload.BadRequest{Field: "title", Detail: titleUnreadable.With()}
	}
	if media == watch.Movie {
		return nil
	}
	if o.Season("season") == nil {
		return &payload.BadRequest{Field: "season", Detail: wrongSeason.With(watch.MaxSeason)}
	}
	if o.Episode("episode") == nil {
		return &payload.BadRequest{Field: "episode", Detail: wrongEpisode.With(watch.MaxEpisode)}
	}
	return nil
}
