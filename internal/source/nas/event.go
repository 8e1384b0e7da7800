package nas

import (
	"context"
	"strings"

	"watchmark/internal/platform/reason"
	"watchmark/internal/source/payload"
	"watchmark/internal/watch"
	"watchmark/internal/watch/title"
)

// event is the watch that a finished play is; why says why it is none, in words that fit
// all such rows.
func (v view) event(ctx context.Context, p play, user User) (e watch.Event, why reason.Reason, err error) {
	chain, err := v.chain(ctx, p.item)
	if err != nil {
		return e, why, err
	}
	if len(chain) == 0 {
		return e, itemGone.With(), nil
	}
	f := familyOf(chain)
	file, err := v.fileName(ctx, f.self)
	if err != nil {
		return e, why, err
	}
	r, why := f.report(file)
	if !why.IsZero() {
		return e, why, nil
	}
	r.Event.Source, r.Event.RawEvent = watch.NAS, "item_user_play"
	r.Event.UserName, r.Event.UserID, r.Event.ItemID = payload.Clean(user.UserName, watch.MaxText), p.user, p.item
	r.Event.Path = payload.Clean(f.self.path, watch.MaxText)
	r.Event.OccurredAt = p.time()
	d, err := r.Deliver(watch.Watched)
	if err != nil || len(d.Events) != 1 {
		return e, oddNumbers.With(), nil // one odd row must not keep the others from being read
	}
	return d.Events[0], why, nil
}

// report is what is told of the item itself (upstreams/nas.md, section 4); why says why it
// is neither a film nor an episode.
func (f family) report(file string) (r payload.Report, why reason.Reason) {
	self := f.self
	numbered := self.episode.Valid
	if !numbered {
		_, numbered = parseName(self.title)
	}
	switch {
	case self.kind == typeVideo, self.kind != typeEpisode && strings.HasPrefix(self.title, placeholder), f.show != nil && strings.HasPrefix(f.show.title, placeholder):
		return unrecognised(file)
	case self.kind == typeMovie:
		return f.film(), why
	case self.isShow(), self.kind == typeSeason, self.kind == typeDirectory:
		return r, wholeShow.With()
	case self.kind == typeEpisode, numbered, f.show != nil:
		return f.episode(file)
	}
	return f.film(), why
}

// film is the report of an item that stands for itself.
func (f family) film() payload.Report {
	return payload.Report{ItemType: string(watch.Movie), Event: watch.Event{
		Title: f.self.title, OriginalTitle: f.self.original, AirDate: watch.ParseDate(f.self.date), ItemIDs: f.self.ids,
	}}
}

// episode is the report of an episode, whose show has the titles and the ids.
func (f family) episode(file string) (r payload.Report, why reason.Reason) {
	if f.show == nil {
		return r, showGone.With()
	}
	r = payload.Report{ItemType: string(watch.Episode), Event: watch.Event{
		Title: f.show.title, OriginalTitle: f.show.original, SeasonTitle: f.seasonTitle(),
		AirDate: watch.ParseDate(f.self.date), SeriesIDs: f.show.ids, ItemIDs: watch.IDs{},
	}}
	e := &r.Event
	for provider, id := range f.self.ids {
		if f.show.ids[provider] != id { // some libraries copy the show's down
			e.ItemIDs[provider] = id
		}
	}
	if !strings.HasPrefix(f.self.title, placeholder) {
		e.EpisodeTitle = f.self.title
	}
	named, found := parseName(f.self.title)
	if !found {
		named, found = parseName(file)
	}
	switch {
	case f.self.episode.Valid:
		e.Episode = &f.self.episode.Float64
	case found:
		e.Episode = &named.episode
	default:
		return r, unnumbered.With()
	}
	e.Season = f.seasonNumber(named)
	return r, why
}

// seasonNumber is nil when nothing tells it. 0 is what it is: specials.
func (f family) seasonNumber(named name) *int {
	for _, it := range []*item{f.self, f.season} {
		if it != nil && it.season.Valid {
			n := int(min(it.season.Int64, watch.MaxSeason+1)) // more is refused as well
			return &n
		}
	}
	if named.season == nil && f.season == nil {
		first := 1 // a show whose episodes stand in no season has one
		return &first
	}
	return named.season
}

// seasonTitle is the title of the season's row where it names the show, and so more than
// a number: "Show 第二季", but not "第 2 季".
func (f family) seasonTitle() string {
	if f.season == nil {
		return ""
	}
	show, season := title.Key(f.show.title), title.Key(f.season.title)
	if show == season || !strings.Contains(season, show) {
		return ""
	}
	return f.season.title
}

// unrecognised is the report of a file that the NAS knows nothing of but its name.
func unrecognised(file string) (r payload.Report, why reason.Reason) {
	named, found := parseName(file)
	if !found || named.title == "" || strings.HasPrefix(named.title, placeholder) {
		return r, unrecognisedFile.With()
	}
	return payload.Report{ItemType: string(watch.Episode), Event: watch.Event{
		Title: named.title, Season: named.season, Episode: &named.episode,
	}}, why
}
