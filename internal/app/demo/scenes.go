package demo

import (
	"context"

	"watchmark/internal/app"
	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/secret"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// scene is one webhook and how it must come out.
type scene struct {
	what        string
	source      watch.Source
	contentType string
	body        string
	// ignored is set when the request must be answered without storing a record.
	ignored bool
	// want has one outcome for each record.
	want []outcome
	// writesNothing is set when the list must not be touched.
	writesNothing bool
}

// outcome is how a record must come out; subject 0 and sort < 0 are not looked at.
type outcome struct {
	status  record.Status
	subject catalog.SubjectID
	sort    float64
}

const (
	jsonType = "application/json"
	formType = "multipart/form-data; boundary=scene"
)

// multipart is a form with one field, as Plex and older Emby servers send it.
func multipart(field, text string) string {
	return "--scene\r\nContent-Disposition: form-data; name=\"" + field + "\"\r\nContent-Type: application/json\r\n\r\n" + text + "\r\n--scene--\r\n"
}

const plexEpisode = `{"event":"media.scrobble","user":true,"owner":true,"Account":{"id":101,"title":"Mira"},
 "Server":{"title":"attic","uuid":"f00d"},"Player":{"local":true,"title":"TV","uuid":"pl-1"},
 "Metadata":{"librarySectionType":"show","librarySectionTitle":"动画","type":"episode","title":"第七夜","grandparentTitle":"灯塔守望者",
  "originalTitle":"灯台守のうた","index":7,"parentIndex":2,"year":2025,"originallyAvailableAt":"2025-02-19","ratingKey":"4812",
  "guid":"plex://episode/0123456789abcdef01234567","Guid":[{"id":"tmdb://900001"},{"id":"tvdb://900002"}]}}`

var scenes = []scene{
	{
		what: "episode 7 of season 2; Bangumi counts on from season 1", source: watch.Plex, contentType: formType,
		body: multipart("payload", plexEpisode),
		want: []outcome{{record.Success, 900002, 19}},
	},
	{
		what: "episode 14 of one long season that Bangumi splits in two", source: watch.Tautulli, contentType: jsonType,
		body: `{"event":"watched","media_type":"episode","title":"沙漏之城","season":"1","episode":"14","release_date":"2024-10-12","year":"2024",
			"user_name":"Mira","user_id":"101","tmdb_id":"","tvdb_id":"","imdb_id":"","rating_key":"77","progress":"93","server":"attic"}`,
		want: []outcome{{record.Success, 900005, 14}},
	},
	{
		what: "episode 3, its air date written as the evening before in UTC", source: watch.Emby, contentType: jsonType,
		body: `{"Title":"Mira 在 TV 上播完了 深海电车","Date":"2023-07-15T12:24:10.1230000Z","Event":"playback.stop","User":{"Name":"Mira","Id":"a1"},
			"Item":{"Name":"三","Id":"5521","Type":"Episode","SeriesName":"深海电车","ParentIndexNumber":2,"IndexNumber":3,
			"PremiereDate":"2023-07-14T16:00:00.0000000Z","ProductionYear":2023,"ProviderIds":{}},
			"Server":{"Name":"attic","Version":"4.9.1.0"},"PlaybackInfo":{"PlayedToCompletion":true,"PositionTicks":14300000000}}`,
		want: []outcome{{record.Success, 900007, 3}},
	},
	{
		what: "one file with two episodes, marked by hand", source: watch.Emby, contentType: formType,
		body: multipart("data", `{"Event":"item.markplayed","User":{"Name":"Mira","Id":"a1"},
			"Item":{"Name":"一、二","Id":"5600","Type":"Episode","SeriesName":"发条王国","ParentIndexNumber":1,"IndexNumber":1,"IndexNumberEnd":2,
			"PremiereDate":"2024-07-12T00:00:00.0000000Z","ProviderIds":{}},"Server":{"Name":"attic","Version":"4.8.0.0"}}`),
		want: []outcome{{record.Success, 900015, 1}, {record.Success, 900015, 2}},
	},
	{
		what: "a film", source: watch.Jellyfin, contentType: "text/plain; charset=utf-8",
		body: `{"ServerName":"attic","ServerVersion":"10.11.0","NotificationType":"PlaybackStop","Name":"剧场版 灯塔守望者 北之光","ItemType":"Movie",
			"Year":2025,"PremiereDate":"2025-09-12","PlayedToCompletion":true,"DeviceName":"TV","NotificationUsername":"Mira"}`,
		want: []outcome{{record.Success, 900003, 1}},
	},
	{
		what: "an episode 0, marked by hand", source: watch.Jellyfin, contentType: "text/plain; charset=utf-8",
		body: `{"ServerName":"attic","NotificationType":"UserDataSaved","SaveReason":"TogglePlayed","Played":true,"Name":"約束の前に","ItemType":"Episode",
			"SeriesName":"第零个约定","SeasonNumber":1,"EpisodeNumber":0,"PremiereDate":"2023-10-04","NotificationUsername":"Mira"}`,
		want: []outcome{{record.Success, 900009, 0}},
	},
	{
		what: "a script reports season 1, episode 1", source: watch.Custom, contentType: jsonType,
		body: `{"media_type":"episode","title":"灯塔守望者","ori_title":"灯台守のうた","season":1,"episode":"1","release_date":"2024-01-10","user_name":"Mira","source":"script"}`,
		want: []outcome{{record.Success, 900001, 1}},
	},
	{
		what: "a title with a blocked keyword", source: watch.Custom, contentType: jsonType,
		body:          `{"title":"灯塔守望者 花絮","season":1,"episode":1,"user_name":"Mira"}`,
		want:          []outcome{{record.Ignored, 0, -1}},
		writesNothing: true,
	},
	{
		what: "a title that two shows share, without a date: a person must say which", source: watch.Custom, contentType: jsonType,
		body:          `{"title":"Moonshade Teahouse","season":1,"episode":1,"user_name":"Mira"}`,
		want:          []outcome{{record.Review, 0, -1}},
		writesNothing: true,
	},
	{
		what: "the first episode once more: nothing is written", source: watch.Plex, contentType: formType,
		body:          multipart("payload", plexEpisode),
		want:          []outcome{{record.Success, 900002, 19}},
		writesNothing: true,
	},
	{
		what: "somebody whom no account names", source: watch.Custom, contentType: jsonType,
		body:          `{"title":"灯塔守望者","season":1,"episode":2,"user_name":"a guest"}`,
		want:          []outcome{{record.Failed, 0, -1}},
		writesNothing: true,
	},
	{
		what: "a pause", source: watch.Plex, contentType: formType,
		body:    multipart("payload", `{"event":"media.pause","Account":{"id":101,"title":"Mira"},"Metadata":{"type":"episode","title":"x","grandparentTitle":"灯塔守望者","index":8,"parentIndex":2}}`),
		ignored: true,
	},
}

// prepare makes the owner, the account and the blocked keyword of the demo.
func prepare(ctx context.Context, service *app.App) error {
	if err := service.SetUp(ctx, adminName, adminPassword); err != nil {
		return err
	}
	_, err := service.Accounts.Create(ctx, account.Draft{
		Username: listOwner, Method: account.ByToken, Tokens: account.Tokens{Access: secret.Text(token)},
		MediaUserNames: []string{mediaUser}, Enabled: true, CompleteFilms: true,
	})
	if err != nil {
		return err
	}
	_, err = service.Mappings.Block(ctx, mapping.Blocked{Keyword: "花絮", Kind: mapping.Contains, Source: mapping.ByPerson})
	return err
}
