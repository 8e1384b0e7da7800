package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/access"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/problem"
	"watchmark/internal/engine"
	"watchmark/internal/source"
	"watchmark/internal/source/scrobble"
	"watchmark/internal/watch"
)

const (
	// ScrobblePath is below where players send what they send to Trakt.
	ScrobblePath = "/scrobble/"
	// scrobbleBytes is the largest body of a player; one has some hundred.
	scrobbleBytes = 64 << 10
)

// scrobbled answers a player as Trakt does (docs/design/scrobble.md).
type scrobbled struct {
	ID       int64         `json:"id" doc:"The record that the watch became; 0 when there is none."`
	Action   string        `json:"action" enum:"start,pause,scrobble" doc:"scrobble for a watch; pause for a stop before 80 %."`
	Progress float64       `json:"progress" doc:"In percent, as it was sent."`
	Sharing  sharing       `json:"sharing" doc:"Nothing is shared."`
	Movie    *scrobbledOne `json:"movie,omitempty"`
	Episode  *scrobbledOne `json:"episode,omitempty"`
	Show     *scrobbledOne `json:"show,omitempty"`
}

type sharing struct {
	Twitter  bool `json:"twitter"`
	Mastodon bool `json:"mastodon"`
	Tumblr   bool `json:"tumblr"`
}

// scrobbledOne is a film, a show or an episode, as it was sent.
type scrobbledOne struct {
	Season *int         `json:"season,omitempty"`
	Number *float64     `json:"number,omitempty"`
	Title  *string      `json:"title" doc:"null when it was not sent."`
	Year   *int         `json:"year,omitempty"`
	IDs    scrobbledIDs `json:"ids"`
}

// scrobbledIDs has every id that clients look for; null where it is not known.
type scrobbledIDs struct {
	Trakt *int64  `json:"trakt" doc:"Always null: this is not Trakt."`
	Slug  *string `json:"slug" doc:"Always null."`
	TVDB  *int64  `json:"tvdb" doc:"null when it was not sent, as all of these."`
	IMDB  *string `json:"imdb"`
	TMDB  *int64  `json:"tmdb"`
}

// scrobbledBefore answers a stop that was told before.
type scrobbledBefore struct {
	WatchedAt time.Time `json:"watched_at" doc:"When the play was that is known already."`
	ExpiresAt time.Time `json:"expires_at" doc:"From when on a stop of it is another play."`
}

// registerScrobble adds what takes requests of players with the API key of the person whose watch it is. What is a watch is stored before
// the answer.
func (d *door) registerScrobble() {
	for _, action := range scrobble.Actions {
		rule, _ := access.Operation("scrobble-" + action)
		d.mux.HandleFunc("POST "+ScrobblePath+action, func(w http.ResponseWriter, r *http.Request) {
			who, known := auth.IdentityOf(r.Context())
			if rule.For(who, known) == access.Nothing {
				w.Header().Set("WWW-Authenticate", `Bearer realm="watchmark"`)
				d.conclude(w, r, watch.Scrobble, refuseStranger(scrobbleKey))
				return
			}
			d.conclude(w, r, watch.Scrobble, d.scrobbled(w, r, action, who))
		})
		d.describeScrobble(action)
	}
}

// scrobbled reads and judges a request of a player.
func (d *door) scrobbled(w http.ResponseWriter, r *http.Request, action string, who auth.Identity) outcome {
	person, name := int64(0), who.Name
	if who.Role != auth.RoleOwner {
		person = who.Person
	}
	if who.Person != 0 {
		names, err := d.People.Names(r.Context(), []int64{who.Person})
		if err != nil {
			return refuse(d.problemOf(r.Context(), "POST "+ScrobblePath+action, err))
		}
		name = names[who.Person]
	}
	o := d.receive(w, r, watch.Scrobble, action, min(scrobbleBytes, d.Settings.Current().Server.MaxBody), d.bodies)
	o.user = name
	if o.status >= http.StatusMultipleChoices {
		return o
	}
	for i := range o.events {
		o.events[i].UserName, o.events[i].PersonID = name, &person
	}
	item, nothing, err := scrobble.ItemOf(source.Request{Action: action, Body: o.body, ContentType: r.Header.Get("Content-Type")})
	if err == nil && nothing {
		err = problem.With(http.StatusUnprocessableEntity, scrobbleNothing.With())
	}
	if err != nil {
		refused := refuse(d.problemOf(r.Context(), "POST "+ScrobblePath+action, err))
		refused.user, refused.title, refused.label, refused.body = o.user, o.title, o.label, o.body
		return refused
	}
	if len(o.events) == 0 {
		o.status = http.StatusCreated // which the log counts as ignored
	}
	o.told = func(got engine.Accepted) (int, any) {
		if !got.Before.IsZero() {
			at := got.Before.UTC()
			return http.StatusConflict, scrobbledBefore{at, at.Add(engine.Retold)}
		}
		answer := scrobbledAs(item, action)
		if len(got.IDs) > 0 {
			answer.ID = got.IDs[0]
			if action == scrobble.Stop {
				answer.Action = "scrobble"
			}
		}
		return http.StatusCreated, answer
	}
	return o
}

// scrobbledAs is the answer to a request about an item that marks nothing.
func scrobbledAs(item scrobble.Item, action string) scrobbled {
	answer := scrobbled{Action: action, Progress: item.Progress}
	if action == scrobble.Stop {
		answer.Action = scrobble.Pause
	}
	work := &scrobbledOne{Title: given(item.Title), Year: given(item.Year), IDs: idsTold(item.IDs)}
	if item.Film {
		answer.Movie = work
		return answer
	}
	answer.Show = work
	answer.Episode = &scrobbledOne{Season: item.Season, Number: item.Episode, Title: given(item.EpisodeTitle), IDs: idsTold(item.EpisodeIDs)}
	return answer
}

// given is v, or nil when it is empty.
func given[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}

// idsTold are ids as Trakt tells them: those of TVDB and TMDB are numbers.
func idsTold(ids watch.IDs) scrobbledIDs {
	return scrobbledIDs{TVDB: number(ids["tvdb"]), TMDB: number(ids["tmdb"]), IMDB: given(ids["imdb"])}
}

// number is a text as a number; nil when it is none.
func number(text string) *int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// describeScrobble documents the door for players, for one action.
func (s *server) describeScrobble(action string) {
	object := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
	s.api.OpenAPI().AddOperation(&huma.Operation{
		Method: http.MethodPost, Path: ScrobblePath + action, OperationID: "scrobble-" + action, Tags: []string{"Webhooks"},
		Summary: "Tell that a player did this, as to Trakt: " + action,
		Description: "For Kodi and players whose Trakt address can be changed. The API key of a person says whose watch it is. " +
			"A stop from 80 % on is a watch and stored before the answer; start and pause mark nothing. Unknown fields are passed over.",
		Security: []map[string][]string{{"apiKey": {}}},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{
			Type: huma.TypeObject, Required: []string{"progress"}, AdditionalProperties: true,
			Properties: map[string]*huma.Schema{
				"movie": object, "show": object, "episode": object,
				"progress":   {Type: huma.TypeNumber, Description: "In percent, 0 to 100."},
				"watched_at": {Type: huma.TypeString, Format: "date-time", Description: "When it was watched, for a stop that comes late. Trakt does not have it."},
			},
		}, Example: map[string]any{
			"show":     map[string]any{"title": "灯塔守望者", "year": 2024, "ids": map[string]any{"tmdb": 209867}},
			"episode":  map[string]any{"season": 2, "number": 7, "first_aired": "2025-02-19"},
			"progress": 97.5,
		}}}},
		Responses: map[string]*huma.Response{
			"201": s.response("Understood; the action says as what.", scrobbled{}),
			"400": s.response("The body is broken or lacks something.", &problem.Document{}),
			"401": s.response("The API key is missing or wrong.", &problem.Document{}),
			"403": s.response("A page of another site sent it.", &problem.Document{}),
			"408": s.response("The body did not arrive in time.", &problem.Document{}),
			"409": s.response("This play was told before, and is a record already.", scrobbledBefore{}),
			"413": s.response("The body is too large.", &problem.Document{}),
			"415": s.response("The body is neither JSON nor a form.", &problem.Document{}),
			"422": s.response("A stop below 1 % tells nothing.", &problem.Document{}),
			"429": s.response("Too many requests without a good API key.", &problem.Document{}),
			"500": s.response("Something went wrong inside.", &problem.Document{}),
			"503": s.response("The service is busy: send it again after Retry-After seconds.", &problem.Document{}),
		},
	})
}

// people tells the names of people; *auth.Store is one.
type people interface {
	Names(ctx context.Context, ids []int64) (map[int64]string, error)
}
