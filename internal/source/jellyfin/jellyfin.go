// Package jellyfin reads the webhooks of Jellyfin: those of the official plugin
// "Webhook", of the third-party plugin "Webhooks", and the latter's imitation of
// Plex (upstreams/media-servers.md, section 4).
package jellyfin

import (
	"errors"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/source/payload"
	"watchmark/internal/source/plex"
	"watchmark/internal/watch"
)

// Adapter is Jellyfin as a source.
var Adapter = payload.Adapter{
	Source: watch.Jellyfin,
	Name:   bilingual.Text{English: "Jellyfin", Chinese: "Jellyfin"},
	Parse:  Parse,
	Guide: payload.Guide{
		Document: "sources/jellyfin",
		Needs: bilingual.Text{English: "Needs the plugin Webhook from the official catalogue.",
			Chinese: "需要官方插件目录中的 Webhook 插件。"},
		Steps: []bilingual.Text{
			{English: "Open **Dashboard → Plugins → Catalog**, install **Webhook**, and restart Jellyfin.",
				Chinese: "打开 **控制台 → 插件 → 目录**，安装 **Webhook** 并重启 Jellyfin。"},
			{English: "Open **Plugins → Webhook** and choose **Add Generic Destination**. Paste the address as **Webhook Url**.",
				Chinese: "打开 **插件 → Webhook**，选择 **Add Generic Destination**，把地址粘贴到 **Webhook Url**。"},
			{English: "Tick **Playback Stop** and **User Data Saved** (for marking by hand), and **Playback Start** only if films should become “watching” as soon as they start. Leave Playback Progress off: it sends far too many requests.",
				Chinese: "勾选 **Playback Stop** 和 **User Data Saved**（用于手动标记）；若想在开始播放时就把剧场版设为“在看”，再勾选 **Playback Start**。不要勾选 Playback Progress，会产生大量请求。"},
			{English: "Tick the users in **User Filter**, and **Movies** and **Episodes** as item types: without these nothing is sent.",
				Chinese: "在 **User Filter** 勾选用户，条目类型勾选 **Movies** 和 **Episodes**，否则什么都不会发送。"},
			{English: "Tick **Send All Properties (ignores template)** and **Save**.",
				Chinese: "勾选 **Send All Properties (ignores template)** 并**保存**。"},
		},
		Note: bilingual.Text{English: "Sending all properties is the safest. Use the template below only if you need one.",
			Chinese: "发送全部属性最稳妥。只有确实需要模板时才用下面的文本。"},
		BodyTitle: bilingual.Text{English: "Template, if you want one", Chinese: "模板（可选）"},
		Body: `{
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
}`,
		BodyOptional: true,
	},
}

// Parse reads a request of Jellyfin. It returns a *payload.BadRequest when the
// request is no event of a known plugin and an error that wraps
// payload.ErrUnsupportedMedia when it is neither JSON nor a form.
func Parse(req payload.Request) (payload.Delivery, error) {
	text, err := req.JSON()
	if err != nil {
		return payload.Delivery{}, err
	}
	o, err := payload.ParseObject(text)
	if bad := (*payload.BadRequest)(nil); errors.As(err, &bad) {
		// The text may come from a template that left holes.
		if mended, stillBad := payload.ParseObject(mend(text)); stillBad == nil {
			o, err = mended, nil
		}
	}
	switch {
	case err != nil:
		return payload.Delivery{}, err
	case o.Object("Metadata") != nil:
		return plex.ParseObject(watch.Jellyfin, o)
	case o.Has("Event") && !o.Has("NotificationType"):
		return parseWebhooks(o)
	}
	return parseWebhook(o)
}
