package catalogtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"watchmark/internal/catalog"
)

// Subject is an entry of the catalog as tests write it down.
type Subject struct {
	ID     catalog.SubjectID
	Type   catalog.SubjectType
	Name   string
	NameCN string
	// Aliases go into the infobox as 别名; ignored when Infobox is given.
	Aliases []string
	// Infobox is the raw wiki text; empty makes one of NameCN, Aliases and Eps.
	// One syntax error in it empties the whole infobox, as in the real API.
	Infobox string
	// Date is YYYY-MM-DD; empty is unknown (null in the API).
	Date string
	// Platform is the API's label such as TV or 剧场版; empty is null.
	Platform string
	// Eps is the wiki's episode count; 0 takes 话数 or 集数 of the infobox.
	Eps      int
	Summary  string
	MetaTags []string
	Tags     []Tag
	// Image is the path of the cover at the image host, below /pic/cover/l/, with the ID before
	// its first underscore: 12/34/8_abcde.jpg. Empty for none.
	Image  string
	NSFW   bool
	Locked bool
	Series bool
	// MergedInto makes the subject answer 302 to that one, which need not exist; 0 is not merged.
	MergedInto catalog.SubjectID
	// RedirectsTo answers 302 as well, but is not banned: it still takes entries under its own id.
	RedirectsTo catalog.SubjectID
	// Deleted is what moderators took down: it still answers 200, and takes no entry any more.
	Deleted  bool
	Rating   Rating
	Favorite Favorite
}

// target is where reads of the subject are sent; 0 is nowhere.
func (s *Subject) target() catalog.SubjectID { return cmp.Or(s.MergedInto, s.RedirectsTo) }

// banned reports whether the subject takes no writes of entries.
func (s *Subject) banned() bool { return s.Locked || s.Deleted || s.MergedInto != 0 }

// hidden reports whether searches do not know the subject.
func (s *Subject) hidden() bool { return s.banned() || s.target() != 0 }

// Tag is a tag that people gave, and how many did.
type Tag struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Rating is how people rated a subject.
type Rating struct {
	Rank  int
	Score float64
	// Count is how many gave each rate from 1 to 10.
	Count [10]int
}

// Favorite counts people by the state of the subject on their list. The keys are those of the dump.
type Favorite struct {
	Wish    int `json:"wish"`
	Done    int `json:"done"`
	Doing   int `json:"doing"`
	OnHold  int `json:"on_hold"`
	Dropped int `json:"dropped"`
}

func (f Favorite) total() int { return f.Wish + f.Done + f.Doing + f.OnHold + f.Dropped }

// Episode is one chapter of a subject.
type Episode struct {
	ID     catalog.EpisodeID
	Type   catalog.EpisodeType
	Sort   float64
	Name   string
	NameCN string
	// AirDate and Duration are free text.
	AirDate  string
	Duration string
	Desc     string
	Disc     int

	subject catalog.SubjectID
}

// relation is one row: To is the <Code> of the subject it is kept under.
type relation struct {
	to    catalog.SubjectID
	code  int
	order int
}

// data is the catalog's content. Subjects and episodes are never changed once
// stored, so pointers to them may leave the lock.
type data struct {
	mu        sync.RWMutex
	subjects  map[catalog.SubjectID]*Subject
	episodes  map[catalog.SubjectID][]*Episode // ordered by disc, type, sort
	byEpisode map[catalog.EpisodeID]*Episode
	relations map[catalog.SubjectID][]relation
	index     *index // nil after a change
	shuffles  int    // how often relations were listed

	// permitted is when an NSFW subject was last read by somebody allowed to: the
	// server's cache is keyed by id alone and shows it to everybody for a minute.
	permitted map[catalog.SubjectID]time.Time
}

func (d *data) init() {
	d.subjects = map[catalog.SubjectID]*Subject{}
	d.episodes = map[catalog.SubjectID][]*Episode{}
	d.byEpisode = map[catalog.EpisodeID]*Episode{}
	d.relations = map[catalog.SubjectID][]relation{}
	d.permitted = map[catalog.SubjectID]time.Time{}
}

// AddSubject adds subjects, or replaces those with the same id.
func (s *Server) AddSubject(subjects ...Subject) {
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	for _, subject := range subjects {
		s.data.addSubject(subject)
	}
}

// AddEpisodes adds episodes to a subject, or replaces those with the same id.
func (s *Server) AddEpisodes(subject catalog.SubjectID, episodes ...Episode) {
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	for _, episode := range episodes {
		episode.subject = subject
		s.data.addEpisode(episode)
	}
	s.data.orderEpisodes(subject)
}

// AddRelation says that to is the <code> of from, as a dump row does: with code 3
// to is the sequel of from. The reverse direction is a row of its own.
func (s *Server) AddRelation(from catalog.SubjectID, code int, to catalog.SubjectID) {
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	rows := s.data.relations[from]
	s.data.relations[from] = append(rows, relation{to: to, code: code, order: len(rows)})
}

// AddUnordered is AddRelation for several neighbours that volunteers put into no order. The catalog
// breaks no tie: these come in another order each time they are asked for.
func (s *Server) AddUnordered(from catalog.SubjectID, code int, to ...catalog.SubjectID) {
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	rows := s.data.relations[from]
	order := len(rows)
	for _, id := range to {
		rows = append(rows, relation{to: id, code: code, order: order})
	}
	s.data.relations[from] = rows
}

// addSubject is AddSubject for a caller that holds mu.
func (d *data) addSubject(subject Subject) {
	if subject.Infobox == "" {
		subject.Infobox = makeInfobox(subject)
	}
	if subject.Eps == 0 {
		subject.Eps = infoboxEps(subject.Infobox)
	}
	d.subjects[subject.ID] = &subject
	d.index = nil
}

// addEpisode stores an episode out of order; the caller holds mu and calls orderEpisodes after.
func (d *data) addEpisode(episode Episode) {
	if old := d.byEpisode[episode.ID]; old != nil {
		rest := slices.Clone(d.episodes[old.subject]) // readers may hold the old one
		d.episodes[old.subject] = slices.DeleteFunc(rest, func(e *Episode) bool { return e == old })
	}
	d.byEpisode[episode.ID] = &episode
	d.episodes[episode.subject] = append(d.episodes[episode.subject], &episode)
}

// orderEpisodes brings a subject's episodes into the API's order; the caller holds mu.
func (d *data) orderEpisodes(subject catalog.SubjectID) {
	// A new slice: readers may hold the old one.
	ordered := slices.Clone(d.episodes[subject])
	slices.SortStableFunc(ordered, func(a, b *Episode) int {
		return cmp.Or(cmp.Compare(a.Disc, b.Disc), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Sort, b.Sort), cmp.Compare(a.ID, b.ID))
	})
	d.episodes[subject] = ordered
}

func (d *data) subject(id catalog.SubjectID) (*Subject, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	subject, ok := d.subjects[id]
	return subject, ok
}

// visible is the subject when it exists for who.
func (d *data) visible(id catalog.SubjectID, who *User) (*Subject, bool) {
	subject, ok := d.subject(id)
	if !ok || (subject.NSFW && !who.seesNSFW()) {
		return nil, false
	}
	return subject, true
}

func (d *data) episodesOf(id catalog.SubjectID) []*Episode {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.episodes[id]
}

func (d *data) episode(id catalog.EpisodeID) (*Episode, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	episode, ok := d.byEpisode[id]
	return episode, ok
}

func (d *data) forgetPermittedReads() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.permitted)
}

// makeInfobox writes the wiki text that a subject of these values would have.
func makeInfobox(subject Subject) string {
	var b strings.Builder
	b.WriteString("{{Infobox animanga/TVAnime\r\n")
	fmt.Fprintf(&b, "|中文名= %s\r\n", subject.NameCN)
	if len(subject.Aliases) > 0 {
		b.WriteString("|别名={\r\n")
		for _, alias := range subject.Aliases {
			fmt.Fprintf(&b, "[%s]\r\n", alias)
		}
		b.WriteString("}\r\n")
	}
	if subject.Eps > 0 {
		fmt.Fprintf(&b, "|话数= %d\r\n", subject.Eps)
	}
	b.WriteString("}}")
	return b.String()
}
