package payload

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
)

// Delivery is what one webhook request came to: events, or the reason why there
// are none. Exactly one of Events and Ignored is set.
type Delivery struct {
	Events []watch.Event
	// Ignored names the event and says why it is no watch.
	Ignored reason.Reason
	// Test is set when the sender only tried its connection; Ignored says so too.
	Test bool

	// UserName, Title, Label (such as S2 E7) and RawEvent are for the webhook log; each may be empty.
	UserName string
	Title    string
	Label    string
	RawEvent string
}

// maxEpisodesInFile bounds what one file can mark. A wider range is an odd value, not a file.
const maxEpisodesInFile = 20

// Report is what an adapter read from one request, before it is judged.
type Report struct {
	// Event holds what was read. Action and Media are set by Deliver.
	Event watch.Event
	// ItemType is the sender's word for the kind of item, in any case.
	ItemType string
	// LastEpisode is the number of the last episode in a file of several; nil for a single one.
	LastEpisode *float64
}

// Ignore is the delivery that is no watch, for the reason why.
func (r Report) Ignore(why reason.Reason) Delivery {
	name := r.Event.UserName
	if checkUserName(name) != nil {
		name = Clean(name, watch.MaxText)
	}
	return Delivery{
		Ignored:  why,
		UserName: name,
		Title:    r.Event.Title,
		Label:    r.Event.EpisodeLabel(),
		RawEvent: r.Event.RawEvent,
	}
}

// ConnectionTest is the delivery of a sender's test button.
func (r Report) ConnectionTest() Delivery {
	d := r.Ignore(connectionWorks.With())
	d.Test = true
	return d
}

// Deliver is the delivery of a watch or a start. An item that is neither an
// episode nor a film, has no title, or is an episode without a number is ignored
// with a reason. A file of several episodes gives one event for each.
// It returns a *BadRequest when the user name cannot be a user name.
func (r Report) Deliver(action watch.Action) (Delivery, error) {
	e := r.Event
	if err := checkUserName(e.UserName); err != nil {
		return Delivery{}, err
	}
	media, known := watch.MediaOf(r.ItemType)
	switch {
	case r.ItemType == "":
		return r.Ignore(noItemType.With(e.RawEvent)), nil
	case !known, media == watch.Episode && !strings.EqualFold(r.ItemType, string(watch.Episode)) && (e.Season == nil || e.Episode == nil):
		// Of a media server, a series is all of its episodes, unless it says which one.
		return r.Ignore(notSingle.With(e.RawEvent, Clean(r.ItemType, maxEventName))), nil
	case e.Title == "":
		return r.Ignore(noTitle.With(e.RawEvent)), nil
	case media != watch.Movie && e.Episode == nil:
		return r.Ignore(noEpisodeNumber.With(e.RawEvent)), nil
	}
	e.Action, e.Media = action, media
	placeCatalogIDs(&e)
	events := []watch.Event{e}
	if e.IsFilm() {
		events[0].Season, events[0].Episode, events[0].EpisodeTitle, events[0].SeriesIDs, events[0].SeriesID = nil, nil, "", nil, ""
	} else {
		events = expand(e, r.LastEpisode)
	}
	for _, event := range events {
		var wrong *reason.FieldError
		if errors.As(event.Validate(), &wrong) {
			return Delivery{}, &BadRequest{wrong.Field, badField.With(wrong.Field, wrong.What)}
		}
	}
	label := events[0].EpisodeLabel()
	if last := events[len(events)-1]; len(events) > 1 {
		label += "–" + last.EpisodeLabel()[strings.LastIndex(last.EpisodeLabel(), "E")+1:]
	}
	return Delivery{Events: events, UserName: e.UserName, Title: e.Title, Label: label, RawEvent: e.RawEvent}, nil
}

func checkUserName(name string) error {
	switch {
	case len(name) > watch.MaxText:
		return &BadRequest{"user_name", userNameTooLong.With(watch.MaxText)}
	case strings.ContainsRune(name, 0):
		return &BadRequest{"user_name", userNameWithNUL.With()}
	}
	return nil
}

// catalogProvider is the provider name under which a metadata plugin writes the
// ids of the catalog itself (upstreams/media-servers.md, section 4a).
const catalogProvider = "bangumi"

// placeCatalogIDs moves the catalog's own ids to their fields: an episode's item
// id is a catalog episode, a film's is a subject. The subject of a show is
// that of its first season, so it stands for the event in season 1 only and
// stays a series id beside that.
func placeCatalogIDs(e *watch.Event) {
	if id := catalogID(e.ItemIDs[catalogProvider]); e.IsFilm() {
		e.CatalogSubject = id
	} else {
		e.CatalogEpisode = id
		if e.Season == nil || *e.Season == 1 {
			e.CatalogSubject = catalogID(e.SeriesIDs[catalogProvider])
		}
	}
	delete(e.ItemIDs, catalogProvider)
	if len(e.ItemIDs) == 0 {
		e.ItemIDs = nil
	}
}

func catalogID(text string) int {
	id, err := strconv.Atoi(text)
	if err != nil || id < 1 || id > math.MaxInt32 {
		return 0
	}
	return id
}

// expand is e once for each episode from its own number to last. Ids, title and
// day belong to the first episode of the file only.
func expand(e watch.Event, last *float64) []watch.Event {
	events := []watch.Event{e}
	if last == nil || *e.Episode != math.Trunc(*e.Episode) || *last != math.Trunc(*last) ||
		*last-*e.Episode >= maxEpisodesInFile {
		return events
	}
	for n := *e.Episode + 1; n <= *last; n++ {
		number, next := n, e
		next.Episode = &number
		next.ItemIDs, next.CatalogEpisode, next.EpisodeTitle = nil, 0, ""
		next.AirDate.Day = 0
		events = append(events, next)
	}
	return events
}
