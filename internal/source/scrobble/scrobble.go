// Package scrobble reads what players send to Trakt's scrobble/start, pause and stop (docs/design/scrobble.md).
package scrobble

import (
	"slices"
	"strings"
	"time"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
)

// The actions, which are the last part of the path.
const (
	Start = "start"
	Pause = "pause"
	Stop  = "stop"
)

// Actions are all of them.
var Actions = []string{Start, Pause, Stop}

const (
	// watchedFrom is the progress in percent from which a stop is a watch; it is Trakt's.
	watchedFrom = 80
	// leastStop is the progress in percent below which a stop tells nothing; it is Trakt's.
	leastStop = 1
)

// Adapter is the scrobble input as a source.
var Adapter = payload.Adapter{
	Source:   watch.Scrobble,
	Name:     bilingual.Text{English: "Kodi, players", Chinese: "Kodi、播放器"},
	Parse:    Parse,
	ByAPIKey: true,
	Guide: payload.Guide{
		Document: "sources/kodi",
		Needs: bilingual.Text{English: "For Kodi from version 19 on, and for players that tell Trakt what is played and let you change the address of Trakt.",
			Chinese: "适用于 Kodi 19 及以上版本，以及会上报给 Trakt、并且允许修改 Trakt 地址的播放器。"},
		Steps: []bilingual.Text{
			{English: "Create an API key on “Settings → Access”; people find it on “My sign-in”. The key says whose watch it is, so each person needs a key of their own.",
				Chinese: "在“设置 → 访问权限”创建 API 密钥；其他成员在“我的登录”创建。密钥决定记到谁的列表，所以每个人都要用自己的密钥。"},
			{English: "**Kodi**: download the add-on, install it from the zip file, and enter the address above and the key in its settings. See /docs/sources/kodi.",
				Chinese: "**Kodi**：下载插件，从 zip 文件安装，在插件设置里填写上面的地址和密钥。参见 /docs/sources/kodi。"},
			{English: "**Another player**: enter the address above as the address of Trakt, and the key as the access token. See /docs/sources/scrobble.",
				Chinese: "**其他播放器**：把上面的地址填为 Trakt 地址，把密钥填为访问令牌（access token）。参见 /docs/sources/scrobble。"},
			{English: "Watch an episode to its end. It is listed below within seconds.", Chinese: "完整播放一集，几秒之内会出现在下面的列表中。"},
		},
		Note: bilingual.Text{English: "A stop from 80 % on counts as watched. Start and pause mark nothing.",
			Chinese: "播放到 80 % 以后停止算看完；开始和暂停不会标记任何内容。"},
	},
}

// Item is what a request is about, to be told back.
type Item struct {
	// Film is set for a film; otherwise it is an episode.
	Film bool
	// Title and Year are those of the film or of the show. Year is 0 when it is not known.
	Title string
	Year  int
	IDs   watch.IDs
	// Season, Episode, EpisodeTitle and EpisodeIDs are those of an episode; nil where they were not sent.
	Season       *int
	Episode      *float64
	EpisodeTitle string
	EpisodeIDs   watch.IDs
	// Progress is in percent, 0 to 100.
	Progress float64
}

// Parse reads a request; without an action it is a stop. Wrong types of fields that are not needed are passed over, and unknown fields, too.
// It returns a *payload.BadRequest that says what is missing, and an error that wraps payload.ErrUnsupportedMedia when the body is neither
// JSON nor a form.
func Parse(req payload.Request) (payload.Delivery, error) {
	item, report, err := read(req)
	if err != nil {
		return payload.Delivery{}, err
	}
	switch {
	case req.Action == Start && item.Film:
		return report.Deliver(watch.Started)
	case req.Action == Start || req.Action == Pause:
		return report.Ignore(payload.NotFinished.With(report.Event.RawEvent)), nil
	case item.Progress < watchedFrom:
		return report.Ignore(stoppedEarly.With(int(item.Progress), watchedFrom)), nil
	}
	return report.Deliver(watch.Watched)
}

// ItemOf is what a request is about, and whether it tells so little that Trakt refuses it: a stop at the very beginning. The error is that of
// Parse.
func ItemOf(req payload.Request) (item Item, nothing bool, err error) {
	item, _, err = read(req)
	return item, err == nil && (req.Action == Stop || req.Action == "") && item.Progress < leastStop, err
}

// read reads a request into what it is about and the report of it, which holds all but the user.
func read(req payload.Request) (item Item, r payload.Report, err error) {
	o, err := req.Object()
	if err != nil {
		return item, r, err
	}
	progress, known := o.Number("progress")
	if !known || progress < 0 || progress > 100 {
		return item, r, &payload.BadRequest{Field: "progress", Detail: badProgress.With()}
	}
	movie, show, episode := o.Object("movie"), o.Object("show"), o.Object("episode")
	item = Item{Film: movie != nil && episode == nil, Progress: progress}
	work, field := show, "show.title"
	if item.Film {
		work, field = movie, "movie.title"
	} else if episode == nil {
		return item, r, &payload.BadRequest{Field: "movie, show, episode", Detail: noItem.With()}
	}
	item.Title, item.IDs = work.Line("title"), idsOf(work)
	item.Year = work.Year("year").Year
	if item.Title == "" {
		return item, r, &payload.BadRequest{Field: field, Detail: noTitle.With(field)}
	}
	r.ItemType = string(watch.Movie)
	r.Event = watch.Event{
		Source: watch.Scrobble, Label: o.Line("app_name"), RawEvent: "scrobble/" + nameOf(req.Action),
		Title: item.Title, OriginalTitle: work.Line("original_title"), OccurredAt: o.Time("watched_at"),
	}
	if item.Film {
		r.Event.AirDate = work.Year("year")
		if released := watch.ParseDate(work.Line("released")); released.Year != 0 {
			r.Event.AirDate = released
		}
		r.Event.ItemIDs = idsOf(movie)
		return item, r, nil
	}
	r.ItemType = string(watch.Episode)
	item.Season, item.Episode = episode.Season("season"), episode.Episode("number")
	if item.Season == nil || item.Episode == nil { // by the number of the whole show, as anime has it
		item.Season, item.Episode = nil, episode.Episode("number_abs")
	}
	if item.Episode == nil {
		return item, r, &payload.BadRequest{Field: "episode.number", Detail: noNumber.With(watch.MaxEpisode)}
	}
	item.EpisodeTitle, item.EpisodeIDs = episode.Line("title"), idsOf(episode)
	r.Event.Season, r.Event.Episode, r.Event.EpisodeTitle = item.Season, item.Episode, item.EpisodeTitle
	r.Event.SeriesIDs, r.Event.ItemIDs = idsOf(show), idsOf(episode)
	r.Event.AirDate = aired(episode, show)
	return item, r, nil
}

func nameOf(action string) string {
	if !slices.Contains(Actions, action) {
		return Stop
	}
	return action
}

// idsOf are the ids of a show, an episode or a film. Trakt's own lead nowhere here.
func idsOf(o payload.Object) watch.IDs {
	ids := o.Object("ids").IDs()
	delete(ids, "trakt")
	delete(ids, "slug")
	if len(ids) == 0 {
		return nil
	}
	return ids
}

// aired is the day of an episode where it is broadcast, when the body says it: a day alone, or an instant, which Trakt has in UTC and by
// which a show of late night would fall on the day before (upstreams/tracker.md).
func aired(episode, show payload.Object) watch.Date {
	text := episode.Line("first_aired")
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return watch.ParseDate(text)
	}
	zone := time.UTC
	if name := show.Object("airs").Line("timezone"); name != "" && !strings.EqualFold(name, "local") {
		if known, err := time.LoadLocation(name); err == nil {
			zone = known
		}
	}
	return watch.DateOf(at.In(zone))
}
