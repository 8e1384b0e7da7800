// Package plex reads the webhooks of Plex Media Server
// (upstreams/media-servers.md, section 1).
package plex

import (
	"cmp"
	"strings"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// Adapter is Plex as a source.
var Adapter = payload.Adapter{
	Source: watch.Plex,
	Name:   bilingual.Text{English: "Plex", Chinese: "Plex"},
	Parse:  Parse,
	Guide: payload.Guide{
		Document: "sources/plex",
		Needs: bilingual.Text{English: "Needs Plex Pass.",
			Chinese: "需要 Plex Pass。"},
		Steps: []bilingual.Text{
			{English: "Open the Plex web app with the account that owns the server, then **Settings → Webhooks** (in the part of your account, not of the server).",
				Chinese: "用服务器所有者账号打开 Plex 网页版，进入 **设置 → Webhooks**（在账号部分，不是服务器部分）。"},
			{English: "Choose **Add Webhook**, paste the address, and **Save Changes**.",
				Chinese: "选择 **添加 Webhook**，粘贴地址并**保存更改**。"},
			{English: "Watch an episode to about 90%. It appears below within seconds.",
				Chinese: "把一集看到约 90%，几秒内就会出现在下方。"},
		},
		Note: bilingual.Text{English: "Plex reports what is played, and nothing when you mark something as watched by hand. The user name is the name shown in **Users & Sharing**; for members of your Plex Home it is their display name.",
			Chinese: "Plex 只报告播放，手动标记为已观看不会上报。用户名是**用户与共享**中显示的名称；家庭成员则是其显示名。"},
	},
}

// Parse reads a request of Plex. It returns a *payload.BadRequest when the
// request is no Plex event and an error that wraps payload.ErrUnsupportedMedia
// when it is neither JSON nor a form.
func Parse(req payload.Request) (payload.Delivery, error) {
	o, err := req.Object()
	if err != nil {
		return payload.Delivery{}, err
	}
	return ParseObject(watch.Plex, o)
}

// ParseObject reads the event object of Plex on behalf of src: a Jellyfin plugin
// sends the same shape. It returns a *payload.BadRequest when o is no Plex event.
func ParseObject(src watch.Source, o payload.Object) (payload.Delivery, error) {
	r := read(src, o)
	switch event := r.Event.RawEvent; event {
	case "":
		return payload.Delivery{}, &payload.BadRequest{Field: "event", Detail: noEvent.With()}
	case "media.scrobble":
		return r.Deliver(watch.Watched)
	case "media.play":
		return r.Deliver(watch.Started)
	case "media.stop":
		return r.Ignore(stopped.With()), nil
	default:
		return r.Ignore(payload.NotFinished.With(event)), nil
	}
}

func read(src watch.Source, o payload.Object) payload.Report {
	account := o.Object("Account")
	r := ReadItem(o.Object("Metadata"))
	e := &r.Event
	e.Source = src
	e.RawEvent = o.EventName("event")
	e.UserName = account.Text("title")
	e.UserID = account.Line("id") // a number; Jellyfin's imitation sends a text
	e.ServerName = o.Object("Server").Line("title")
	e.ServerID = o.Object("Server").Line("uuid")
	e.Client = o.Object("Player").Line("title")
	return r
}

// ReadItem fills a report with what the metadata of an item itself tells, in webhooks as in
// the answers of the server. The caller adds source, event name, user and server.
func ReadItem(meta payload.Object) payload.Report {
	guid := parseGUID(meta.Text("guid"))
	r := payload.Report{
		ItemType: meta.Line("type"),
		Event: watch.Event{
			OriginalTitle: meta.Line("originalTitle"),
			AirDate:       watch.ParseDate(meta.Text("originallyAvailableAt")),
			ItemID:        meta.Line("ratingKey"),
			Library:       meta.Line("librarySectionTitle"),
		},
	}
	e := &r.Event
	if e.AirDate.IsZero() {
		e.AirDate = meta.Year("year")
	}
	e.ItemIDs = ProviderIDs(meta)
	if strings.EqualFold(r.ItemType, string(watch.Movie)) {
		e.Title = meta.Line("title")
		e.ItemIDs = payload.AddID(e.ItemIDs, guid.provider, guid.id)
		return r
	}
	e.Title, e.SeriesID = meta.Line("grandparentTitle"), meta.Line("grandparentRatingKey")
	if strings.EqualFold(r.ItemType, string(watch.Episode)) {
		e.EpisodeTitle = meta.Line("title")
	} else {
		e.Title = cmp.Or(e.Title, meta.Line("title"))
	}
	e.Season = cmp.Or(meta.Season("parentIndex"), guid.season)
	e.Episode = cmp.Or(meta.Episode("index"), guid.episode)
	if guid.season != nil { // without numbers behind it the id is not known to be the show's
		e.SeriesIDs = payload.AddID(e.SeriesIDs, guid.provider, guid.id)
	}
	show := parseGUID(meta.Text("grandparentGuid"))
	e.SeriesIDs = payload.AddID(e.SeriesIDs, show.provider, show.id)
	return r
}

// ShowIDs are the provider ids of a show; nil when there are none.
func ShowIDs(meta payload.Object) watch.IDs {
	guid := parseGUID(meta.Text("guid"))
	return payload.AddID(ProviderIDs(meta), guid.provider, guid.id)
}

// ProviderIDs are the provider ids in the Guid list of an item or show; nil when there are none.
func ProviderIDs(meta payload.Object) watch.IDs {
	var ids watch.IDs
	for _, entry := range meta.Objects("Guid") {
		if provider, id, ok := strings.Cut(entry.Text("id"), "://"); ok {
			ids = payload.AddID(ids, provider, id)
		}
	}
	return ids
}
