package catalogtest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"watchmark/internal/catalog"
)

// What is here changes lists without a request, as the website does, or as a test arranges them.

// Listed is an entry of somebody's list with all that is in it but its marks.
type Listed struct {
	Username  string
	SubjectID catalog.SubjectID
	Type      catalog.CollectionType
	Rate      int
	Comment   string
	Tags      []string
	Private   bool
	// Chapter and Volume are those of a book.
	Chapter, Volume int
}

// Put makes an entry what is given, whatever the rules for requests are. An unknown user or subject is an error.
func (s *Server) Put(l Listed) error {
	if err := s.Collect(l.Username, l.SubjectID, l.Type, l.Private); err != nil {
		return err
	}
	user, _ := s.people.byName(l.Username)
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	key := listKey{user.ID, l.SubjectID}
	e := s.lists.entries[key]
	e.Rate, e.Comment, e.Tags, e.EpStatus, e.VolStatus, e.hidden = l.Rate, l.Comment, slices.Clone(l.Tags), l.Chapter, l.Volume, false
	s.lists.entries[key] = e
	return nil
}

// Listed lists every entry of somebody, by subject.
func (s *Server) Listed(username string) []Listed {
	user, _ := s.people.byName(username)
	all := []Listed{}
	for _, k := range s.entriesOf(user.ID, func(catalog.SubjectID, entry) bool { return true }) {
		e := k.entry
		all = append(all, Listed{username, k.subject, e.Type, e.Rate, e.Comment, slices.Clone(e.Tags), e.hides(), e.EpStatus, e.VolStatus})
	}
	slices.SortFunc(all, func(a, b Listed) int { return int(a.SubjectID) - int(b.SubjectID) })
	return all
}

// Remove takes an entry off somebody's list, with its marks or leaving them for when it comes back.
func (s *Server) Remove(username string, subject catalog.SubjectID, marks bool) {
	user, _ := s.people.byName(username)
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	delete(s.lists.entries, listKey{user.ID, subject})
	if marks {
		delete(s.lists.rows, listKey{user.ID, subject})
	}
}

// RemoveEpisode takes an episode away, as editors of the wiki do.
func (s *Server) RemoveEpisode(id catalog.EpisodeID) {
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	if old := s.data.byEpisode[id]; old != nil {
		delete(s.data.byEpisode, id)
		s.data.episodes[old.subject] = slices.DeleteFunc(slices.Clone(s.data.episodes[old.subject]), func(e *Episode) bool { return e == old })
	}
}

// largeFirst is the subject that large lists begin with; the episodes of a subject have the hundred numbers from a hundred times its own.
const largeFirst = 3_000_000

// AddLarge gives somebody a list of so many entries with so many marks in all, the same for the same seed. Of each five one is a wish
// without marks. An unknown user is an error.
func (s *Server) AddLarge(username string, seed uint64, entries, marks int) error {
	user, ok := s.people.byName(username)
	if !ok {
		return fmt.Errorf("make a list: there is no user %q", username)
	}
	random := rand.New(rand.NewPCG(seed, 26))
	marked := entries - (entries+4)/5
	var subjects []Subject
	lists, rows := map[listKey]entry{}, map[listKey]row{}
	for i := range entries {
		id := catalog.SubjectID(largeFirst + i)
		key, now := listKey{user.ID, id}, s.cfg.Now()
		e := entry{Type: catalog.Wish, Private: random.IntN(20) == 0, updated: now, touch: i}
		n := 0
		if i%5 != 0 {
			n = marks / max(marked, 1)
			if marks -= n; marked > 0 {
				marked--
			}
			e.Type = []catalog.CollectionType{catalog.Done, catalog.Doing, catalog.OnHold, catalog.Dropped}[min(random.IntN(6), 3)]
			e.Rate = random.IntN(11)
		}
		if random.IntN(3) == 0 {
			e.Comment = fmt.Sprintf("comment %d, 吐槽", random.IntN(1000))
		}
		for range random.IntN(4) {
			e.Tags = append(e.Tags, []string{"TV", "原创", "2020年1月", "治愈", "科幻", "漫画改"}[random.IntN(6)])
		}
		slices.Sort(e.Tags)
		e.Tags = slices.Compact(e.Tags)
		eps := min(n+random.IntN(4), 99)
		subjects = append(subjects, Subject{ID: id, Type: catalog.Anime, Name: fmt.Sprintf("Large %d", i), NameCN: fmt.Sprintf("长列表 %d", i), Date: "2020-01-05", Eps: eps})
		marksOf := row{}
		for k := range eps {
			episode := Episode{ID: catalog.EpisodeID(int(id)*100 + k), Sort: float64(k + 1), subject: id}
			s.data.mu.Lock()
			s.data.addEpisode(episode)
			s.data.mu.Unlock()
			if k < n {
				marksOf[episode.ID] = markState{catalog.EpisodeWatched, now}
			}
		}
		lists[key], rows[key] = e, marksOf
	}
	s.AddSubject(subjects...)
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	s.lists.touches = max(s.lists.touches, entries)
	maps.Copy(s.lists.entries, lists)
	maps.Copy(s.lists.rows, rows)
	return nil
}
