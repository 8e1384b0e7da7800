package catalog

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"watchmark/internal/watch"
)

const (
	// listPage is the most entries that the server gives at once (upstreams/list.md section 2).
	listPage = 100
	// listTries is how often a list is read that changes while it is read.
	listTries = 3
)

// Entry is a person's entry for a subject with all that the catalog tells of it.
type Entry struct {
	Subject     SubjectID      `json:"subject_id"`
	SubjectType SubjectType    `json:"subject_type"`
	Type        CollectionType `json:"type"`
	Rate        int            `json:"rate"` // 1 to 10; 0 for none
	Comment     string         `json:"comment"`
	Tags        []string       `json:"tags"`
	// Private is also set for what the catalog's word filter hides.
	Private bool `json:"private"`
	// Marked is how many episodes have a mark; of a book it is the chapter. Volume is that of a book.
	Marked  int       `json:"ep_status"`
	Volume  int       `json:"vol_status"`
	Changed time.Time `json:"updated_at,omitzero"`
	About   About     `json:"subject"`
}

// About is what an Entry tells of its subject.
type About struct {
	Name   string     `json:"name"`
	NameCN string     `json:"name_cn"`
	Date   watch.Date `json:"date,omitzero"`
	Eps    int        `json:"eps"`
}

// List is a whole list.
type List struct {
	Entries []Entry
	// Total is how many the catalog counts: those whose subject is gone among them, which it does not show.
	Total int
}

// apiEntry is an entry of the list as /v0 sends it (upstreams/list.md section 2).
type apiEntry struct {
	Subject     SubjectID      `json:"subject_id"`
	SubjectType SubjectType    `json:"subject_type"`
	Type        CollectionType `json:"type"`
	Rate        int            `json:"rate"`
	Comment     *string        `json:"comment"`
	Tags        []string       `json:"tags"`
	Private     bool           `json:"private"`
	Marked      int            `json:"ep_status"`
	Volume      int            `json:"vol_status"`
	Changed     moment         `json:"updated_at"`
	About       struct {
		Name   string  `json:"name"`
		NameCN string  `json:"name_cn"`
		Date   *string `json:"date"`
		Eps    int     `json:"eps"`
	} `json:"subject"`
}

func (e apiEntry) known() bool {
	return e.Subject > 0 && e.Type >= Wish && e.Type <= Dropped && e.Rate >= 0 && e.Rate <= 10
}

func (e apiEntry) entry() Entry {
	one := Entry{
		Subject: e.Subject, SubjectType: e.SubjectType, Type: e.Type, Rate: e.Rate, Tags: e.Tags, Private: e.Private, Marked: e.Marked, Volume: e.Volume,
		Changed: e.Changed.UTC(), About: About{Name: e.About.Name, NameCN: e.About.NameCN, Eps: e.About.Eps},
	}
	if e.Changed.IsZero() {
		one.Changed = time.Time{}
	}
	if e.Comment != nil {
		one.Comment = *e.Comment
	}
	if e.About.Date != nil {
		one.About.Date = watch.ParseDate(*e.About.Date)
	}
	if one.Tags == nil {
		one.Tags = []string{}
	}
	return one
}

// List reads the whole list of the owner of the token, whose name is username, each entry once. The server reads it by pages that move when an
// entry is written meanwhile: so it is read again until nothing moved, and otherwise the error is ErrUnreachable.
// progress is told how many were read of how many.
func (s Session) List(ctx context.Context, username string, progress func(read, of int)) (List, error) {
	for range listTries {
		list, still, err := s.listOnce(ctx, username, progress)
		if err != nil || still {
			return list, err
		}
	}
	return List{}, &Error{Op: opReadList.With(), Kind: ErrUnreachable, Description: listMoves.With()}
}

// listOnce reads the list, and reports whether it stood still meanwhile: every page counts the same, no entry comes twice, and the first
// page is at the end as it was at the beginning, since what is written goes there.
func (s Session) listOnce(ctx context.Context, username string, progress func(read, of int)) (list List, still bool, err error) {
	var first []SubjectID
	seen := map[SubjectID]bool{}
	still = true
	for offset := 0; ; offset += listPage {
		p, err := s.listPage(ctx, username, offset)
		if err != nil {
			return List{}, false, err
		}
		if offset == 0 {
			list.Total, first = *p.Total, subjectsOn(p.Data.all)
		}
		still = still && *p.Total == list.Total
		for _, row := range p.Data.all {
			if seen[row.Subject] {
				still = false
				continue
			}
			seen[row.Subject] = true
			list.Entries = append(list.Entries, row.entry())
		}
		progress(min(offset+listPage, list.Total), list.Total)
		// Entries whose subject is gone are counted and not shown: pages are told by where they begin.
		if !still || offset+listPage >= list.Total {
			break
		}
		if offset > maxRows {
			return List{}, false, &Error{Op: opReadList.With(), Kind: ErrUnreachable, Description: tooManyRows.With(maxRows)}
		}
	}
	if !still || list.Total <= listPage {
		return list, still, nil
	}
	p, err := s.listPage(ctx, username, 0)
	if err != nil {
		return List{}, false, err
	}
	return list, *p.Total == list.Total && slices.Equal(subjectsOn(p.Data.all), first), nil
}

// wholeEntry is an entry of the list. Errors are those of collection.
func (s Session) wholeEntry(ctx context.Context, username string, subject SubjectID) (Entry, error) {
	var e apiEntry
	k := call{op: opReadEntry.With(subject), path: fmt.Sprintf("/v0/users/%s/collections/%d", url.PathEscape(username), subject)}
	if err := s.read(ctx, k, &e, func() bool { return e.Subject == subject && e.known() }); err != nil {
		return Entry{}, err
	}
	return e.entry(), nil
}

func (s Session) listPage(ctx context.Context, username string, offset int) (p page[apiEntry], err error) {
	k := call{
		op: opReadList.With(), path: fmt.Sprintf("/v0/users/%s/collections", url.PathEscape(username)),
		query: url.Values{"limit": {strconv.Itoa(listPage)}, "offset": {strconv.Itoa(offset)}},
	}
	err = s.read(ctx, k, &p, func() bool { return p.fits(offset, apiEntry.known) })
	return p, err
}

func subjectsOn(rows []apiEntry) []SubjectID {
	ids := make([]SubjectID, len(rows))
	for i, row := range rows {
		ids[i] = row.Subject
	}
	return ids
}

// Mark is the mark of an episode with what names the episode where its id is gone.
type Mark struct {
	Episode EpisodeID    `json:"id"`
	Kind    EpisodeType  `json:"kind"`
	Sort    float64      `json:"sort"`
	Ep      float64      `json:"ep"`
	State   EpisodeState `json:"state"`
	// At is when it got the state, in unix seconds; 0 when that is not known.
	At int64 `json:"updated_at"`
}

// mark is the mark of an episode with what names the episode.
func (m episodeMark) mark() Mark {
	one := Mark{Episode: m.Episode.ID, Kind: m.Episode.Type, Sort: m.Episode.Sort, Ep: m.Episode.Ep, State: m.State}
	if !m.At.IsZero() {
		one.At = m.At.Unix()
	}
	return one
}

// Marks are the marks that the owner of the token has on a subject.
func (s Session) Marks(ctx context.Context, subject SubjectID) ([]Mark, error) {
	rows, err := s.episodeMarks(ctx, subject)
	if err != nil {
		return nil, err
	}
	marks := []Mark{}
	for _, row := range rows {
		if row.State != Unmarked {
			marks = append(marks, row.mark())
		}
	}
	return marks, nil
}
