package match

import (
	"watchmark/internal/catalog"
	"watchmark/internal/watch"
)

// request is what an event asks for, read once.
type request struct {
	event watch.Event
	// names are the title, the original title and the season's.
	names []name
	// season is the season wanted: the mark in the title, or what the event told, or 1; 0 is specials.
	season int
	// number is the episode wanted; 0 for films.
	number float64
	// date is the item's date, or the year that the title carries.
	date  watch.Date
	types []catalog.SubjectType
}

func newRequest(event watch.Event) request {
	r := request{event: event, season: 1, date: event.AirDate, types: []catalog.SubjectType{catalog.Anime}}
	if event.Media == watch.RealAction {
		r.types = []catalog.SubjectType{catalog.Real}
	}
	r.names = appendName(appendName(appendName(nil, event.Title), event.OriginalTitle), event.SeasonTitle)
	if event.Episode != nil {
		r.number = *event.Episode
	}
	if event.Season != nil {
		r.season = *event.Season
	}
	for _, n := range r.names {
		if r.date.IsZero() {
			r.date.Year = n.Year
		}
	}
	// A media server that keeps every season as a show of its own says season 1 of
	// "Show 第三季": the title knows better. A lone number may belong to the name, so
	// it does not overrule a season that was told.
	for _, n := range r.names {
		if n.Season > 1 && (r.season == 1 || r.season > 1 && !n.Bare) {
			r.season = n.Season
			break
		}
	}
	return r
}

// titles is every spelling that mappings and blocked keywords are compared with.
func (r request) titles() []string {
	if r.event.OriginalTitle == "" || r.event.OriginalTitle == r.event.Title {
		return []string{r.event.Title}
	}
	return []string{r.event.Title, r.event.OriginalTitle}
}

// input is what the trace shows of the event.
func (r request) input() map[string]any {
	in := map[string]any{"title": r.event.Title, "media": r.event.Media}
	if r.event.OriginalTitle != "" {
		in["original_title"] = r.event.OriginalTitle
	}
	if r.event.SeasonTitle != "" {
		in["season_title"] = r.event.SeasonTitle
	}
	if !r.event.IsFilm() {
		in["season"], in["episode"] = r.season, r.number
	}
	if !r.date.IsZero() {
		in["date"] = r.date.String()
	}
	return in
}
