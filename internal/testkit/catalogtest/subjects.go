package catalogtest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"watchmark/internal/catalog"
)

// subjectAnswer is a subject as GET /v0/subjects/{id} shows it.
type subjectAnswer struct {
	ID            catalog.SubjectID   `json:"id"`
	Type          catalog.SubjectType `json:"type"`
	Name          string              `json:"name"`
	NameCN        string              `json:"name_cn"`
	Date          *string             `json:"date"`
	Platform      *string             `json:"platform"`
	Images        images              `json:"images"`
	Summary       string              `json:"summary"`
	Tags          []tagAnswer         `json:"tags"`
	MetaTags      []string            `json:"meta_tags"`
	Infobox       []infoboxField      `json:"infobox"`
	Rating        ratingAnswer        `json:"rating"`
	Collection    map[string]int      `json:"collection"`
	Eps           int                 `json:"eps"`
	TotalEpisodes int                 `json:"total_episodes"`
	Volumes       int                 `json:"volumes"`
	Series        bool                `json:"series"`
	Locked        bool                `json:"locked"`
	NSFW          bool                `json:"nsfw"`
}

type images struct {
	Large  string `json:"large"`
	Common string `json:"common"`
	Medium string `json:"medium"`
	Small  string `json:"small"`
	Grid   string `json:"grid"`
}

type tagAnswer struct {
	Tag
	TotalCount int `json:"total_count"`
}

type ratingAnswer struct {
	Rank  int            `json:"rank"`
	Total int            `json:"total"`
	Count map[string]int `json:"count"`
	Score float64        `json:"score"`
}

// describe shows a subject with a total_episodes that depends on where it is shown.
func describe(subject *Subject, totalEpisodes int) subjectAnswer {
	infobox, _ := parseInfobox(subject.Infobox) // a mistake leaves an empty infobox, as in the real API
	shown := subjectAnswer{
		ID: subject.ID, Type: subject.Type, Name: subject.Name, NameCN: subject.NameCN,
		Date: orNull(subject.Date), Platform: orNull(subject.Platform),
		Images: imagesOf(subject.Image), Summary: subject.Summary,
		Tags: tagsOf(subject), MetaTags: append([]string{}, subject.MetaTags...), Infobox: infobox,
		Rating: ratingAnswer{Rank: subject.Rating.Rank, Score: subject.Rating.Score, Count: map[string]int{}},
		Collection: map[string]int{
			"wish": subject.Favorite.Wish, "collect": subject.Favorite.Done, "doing": subject.Favorite.Doing,
			"on_hold": subject.Favorite.OnHold, "dropped": subject.Favorite.Dropped,
		},
		Eps: subject.Eps, TotalEpisodes: totalEpisodes, Series: subject.Series, Locked: subject.Locked, NSFW: subject.NSFW,
	}
	for i, n := range subject.Rating.Count {
		shown.Rating.Count[strconv.Itoa(i+1)] = n
		shown.Rating.Total += n
	}
	return shown
}

func tagsOf(subject *Subject) []tagAnswer {
	tags := []tagAnswer{}
	for _, tag := range subject.Tags {
		tags = append(tags, tagAnswer{Tag: tag})
	}
	return tags
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// permittedFor is how long a permitted read shows an NSFW subject to everybody.
const permittedFor = 60 * time.Second

// getSubject is GET /v0/subjects/{id}.
func (s *Server) getSubject(w http.ResponseWriter, r *http.Request, who *User) {
	id, ok := pathSubject(w, r)
	if !ok {
		return
	}
	subject, ok := s.data.subject(id)
	if !ok || (subject.NSFW && !s.data.readNSFW(id, who, s.cfg.Now())) {
		fail(w, r, http.StatusNotFound, gone)
		return
	}
	if target := subject.target(); target != 0 {
		http.Redirect(w, r, "/v0/subjects/"+strconv.Itoa(int(target)), http.StatusFound)
		return
	}
	if subject.NSFW {
		w.Header().Set("Cache-Control", "no-store")
	} else {
		w.Header().Set("Cache-Control", "public, max-age=3600")
	}
	answer(w, http.StatusOK, describe(subject, len(s.data.episodesOf(id))))
}

// readNSFW reports whether who gets to see an NSFW subject: by permission, or
// because the cache still holds the answer to somebody with permission
// (upstreams/catalog.md sections 7 and 12).
func (d *data) readNSFW(id catalog.SubjectID, who *User, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if who.seesNSFW() {
		d.permitted[id] = now
		return true
	}
	at, ok := d.permitted[id]
	return ok && now.Sub(at) < permittedFor
}

// relatedSubject is a neighbour; Relation says what it is, seen from the subject asked for.
type relatedSubject struct {
	ID       catalog.SubjectID   `json:"id"`
	Type     catalog.SubjectType `json:"type"`
	Name     string              `json:"name"`
	NameCN   string              `json:"name_cn"`
	Images   images              `json:"images"`
	Relation string              `json:"relation"`
}

// getRelations is GET /v0/subjects/{id}/subjects. A merged subject answers its own rows here, and
// is listed under its old id among the rows of others.
func (s *Server) getRelations(w http.ResponseWriter, r *http.Request, who *User) {
	id, ok := pathSubject(w, r)
	if !ok {
		return
	}
	if _, ok := s.data.visible(id, who); !ok {
		fail(w, r, http.StatusNotFound, gone)
		return
	}
	related := []relatedSubject{}
	for _, row := range s.data.relationsOf(id) {
		listed, ok := s.data.visible(row.to, who)
		if !ok {
			continue
		}
		related = append(related, relatedSubject{
			ID: listed.ID, Type: listed.Type, Name: listed.Name, NameCN: listed.NameCN,
			Images: imagesOf(listed.Image), Relation: catalog.RelationLabel(listed.Type, row.code),
		})
	}
	answer(w, http.StatusOK, related)
}

// relationsOf is the rows of a subject in their order, each once. Rows of the same place come in
// another order each time: the catalog asks its database for no other order than the place.
func (d *data) relationsOf(id catalog.SubjectID) []relation {
	d.mu.Lock()
	rows := slices.Clone(d.relations[id])
	turn := d.shuffles
	d.shuffles++
	d.mu.Unlock()
	slices.SortFunc(rows, func(a, b relation) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.code, b.code), cmp.Compare(a.to, b.to))
	})
	rows = slices.CompactFunc(rows, func(a, b relation) bool { return a.to == b.to && a.code == b.code })
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && rows[to].order == rows[from].order {
			to++
		}
		tied := rows[from:to]
		first := turn % len(tied)
		copy(tied, slices.Concat(tied[first:], tied[:first]))
		from = to
	}
	return rows
}
