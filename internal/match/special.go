package match

import (
	"context"
	"errors"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/watch/title"
)

const (
	// showsMost is how many shows of the title are searched for specials.
	showsMost = 2
	// storiesMost is how many related subjects of one show are looked at.
	storiesMost = 24
)

// weighSpecials proposes what season 0 may mean: a special row of the show, or a
// side story, OVA or film of its own. The numbers of a server's season 0 are its
// own, so the air date or the title of the special must say which one it is.
func (s *session) weighSpecials(ctx context.Context, hits []catalog.Subject) ([]proposal, error) {
	proposals := []proposal{}
	shows := []start{}
	stories := []catalog.Subject{}
	for _, h := range hits {
		l := s.likeness(h)
		switch {
		case l.exact:
			shows = append(shows, start{subject: h, likeness: l})
		case l.family >= 0.8 && !s.isSeason(h):
			stories = append(stories, h)
		}
	}
	for _, show := range shows[:min(len(shows), showsMost)] {
		p, found, err := s.specialRow(ctx, show)
		if err != nil {
			return nil, err
		}
		if found {
			proposals = append(proposals, p)
		}
		related, err := s.sideStories(ctx, show.subject)
		if err != nil {
			return nil, err
		}
		stories = append(stories, related...)
	}
	seen := map[catalog.SubjectID]bool{}
	for _, story := range stories {
		if seen[story.ID] {
			continue
		}
		seen[story.ID] = true
		p, found, err := s.sideStory(ctx, story)
		if err != nil {
			return nil, err
		}
		if found {
			proposals = append(proposals, p)
		}
	}
	return proposals, nil
}

// sideStories are the related subjects of the same type, whatever the catalog calls the relation.
func (s *session) sideStories(ctx context.Context, show catalog.Subject) ([]catalog.Subject, error) {
	relations, err := s.cached.related(ctx, show.ID)
	if err != nil {
		return nil, err
	}
	relations = slices.Clone(relations) // the catalog may hand the same list to others
	slices.SortStableFunc(relations, func(a, b catalog.Relation) int {
		switch {
		case a.Label == b.Label:
			return 0
		case a.Label == catalog.SideStory:
			return -1
		case b.Label == catalog.SideStory:
			return 1
		}
		return 0
	})
	stories := []catalog.Subject{}
	for _, r := range relations {
		if r.Type != show.Type || len(stories) == storiesMost {
			continue
		}
		subject, err := s.cached.subject(ctx, r.ID)
		if errors.Is(err, catalog.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !s.isSeason(subject) {
			stories = append(stories, subject)
		}
	}
	return stories, nil
}

// isSeason reports whether a series bears the title of the show with the mark of a later
// season: its episodes are no specials.
func (s *session) isSeason(subject catalog.Subject) bool {
	return formOf(subject) == series && slices.ContainsFunc(s.cached.namesOf(subject), func(have name) bool {
		return have.Season > 1 && slices.ContainsFunc(s.names, func(want name) bool { return want.base == have.base })
	})
}

// specialRow looks among the special rows of a show: by air date, by title, and, for a person to confirm, by number.
func (s *session) specialRow(ctx context.Context, show start) (proposal, bool, error) {
	_, special, err := s.cached.episodesOf(ctx, show.subject.ID)
	if err != nil {
		return proposal{}, false, err
	}
	t := target{start: show.subject, subject: show.subject}
	if row := s.onDay(special); row != nil {
		t.row, t.fit, t.how = row, 1, specialOfDay.With()
	} else if row := s.titled(special); row != nil {
		t.row, t.fit, t.how = row, 1, specialTitled.With()
	} else if row := bySort(special, s.number); row != nil {
		t.row, t.fit, t.how = row, 0.4, specialNumbered.With()
	} else {
		return proposal{}, false, nil
	}
	p, err := s.scored(ctx, show, t)
	return p, true, err
}

// titled is the only row that bears the title of the event's episode.
func (s *session) titled(rows []catalog.EpisodeInfo) *catalog.EpisodeInfo {
	key := title.Key(s.event.EpisodeTitle)
	if key == "" {
		return nil
	}
	var found *catalog.EpisodeInfo
	for i, row := range rows {
		if key == title.Key(row.Name) || key == title.Key(row.NameCN) {
			if found != nil {
				return nil
			}
			found = &rows[i]
		}
	}
	return found
}

// sideStory proposes a related subject when the air date or the title of the special points at it.
func (s *session) sideStory(ctx context.Context, story catalog.Subject) (proposal, bool, error) {
	st := start{subject: story, likeness: likeness{own: 0.9}}
	named := s.event.EpisodeTitle != "" && slices.ContainsFunc(s.cached.namesOf(story), func(n name) bool {
		return title.Similarity(n.full, title.Key(s.event.EpisodeTitle)) >= 0.85
	})
	if !named && !s.mayHold(story) {
		return proposal{}, false, nil
	}
	main, _, err := s.cached.episodesOf(ctx, story.ID)
	if err != nil {
		return proposal{}, false, err
	}
	t := target{start: story, subject: story}
	// A weekly series is on air on most days: that one of its episodes shares the date means nothing.
	weekly := formOf(story) == series && len(main) > 3 && !s.sameDay(story.Date)
	switch row := s.onDay(main); {
	case row != nil && !weekly:
		t.row, t.fit, t.how = row, 1, storyOfDay.With()
	case s.titled(main) != nil:
		t.row, t.fit, t.how = s.titled(main), 1, storyTitled.With()
	case s.sameDay(story.Date) && len(main) > 0:
		// What is dated on the day a side story began is its first episode, unless the number says which of that day it is.
		t.row, t.fit, t.how = &main[0], 0.9, storyBegan.With()
		if row := bySort(main, s.number); s.isMapped() && len(main) > 1 && s.sameDay(main[1].AirDate) {
			t.fit = ambiguous // the day is that of several episodes, and the map does not know the number
		} else if row != nil && s.sameDay(row.AirDate) {
			t.row = row
		}
	case named && len(main) == 1:
		t.row, t.fit, t.how = &main[0], 1, storyOnly.With()
	case named && len(main) == 0 && story.IsFilm():
		t.whole, t.fit, t.how = true, 1, filmItself.With()
	default:
		return proposal{}, false, nil
	}
	if named {
		st.likeness.own = 0.97
	}
	p, err := s.scored(ctx, st, t)
	return p, true, err
}

// mayHold reports whether the date of the event lies in the run of a subject, as far as its entry tells.
func (s *session) mayHold(subject catalog.Subject) bool {
	fit, known, _ := s.dateFit(target{start: subject, subject: subject}, make([]catalog.EpisodeInfo, max(subject.Eps, 13)))
	return known && fit >= 0.5 && s.date.IsFull()
}
