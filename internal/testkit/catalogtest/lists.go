package catalogtest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"watchmark/internal/catalog"
)

// lists is what people keep: their collection entries and their episode marks.
type lists struct {
	mu      sync.Mutex
	entries map[listKey]entry
	// rows holds all marks of one person on one subject. A row is replaced as a
	// whole, never changed in place: the real catalog keeps it as one serialised
	// value, which is why parallel writes lose marks.
	rows     map[listKey]row
	touches  int // orders entries that were updated at the same time
	writes   []Write
	timeline int

	// active are the writes that are being worked on, and overlaps those that met one of the same key.
	active   map[listKey][]Write
	overlaps [][2]Write

	// rowMu makes reading, changing and replacing a row one step where Config.AtomicMarks asks for it.
	rowMu sync.Mutex
}

// listKey is one person's one subject.
type listKey struct {
	user    int
	subject catalog.SubjectID
}

type row map[catalog.EpisodeID]markState

type markState struct {
	state catalog.EpisodeState // never Unmarked
	at    time.Time
}

// entry is a collection entry. Its zero Type means there is none.
type entry struct {
	Type      catalog.CollectionType
	Rate      int
	Comment   string
	Tags      []string
	Private   bool
	EpStatus  int // books only; elsewhere the number of marks counts
	VolStatus int
	hidden    bool // by the word filter
	updated   time.Time
	touch     int
}

// hides reports whether only the owner sees it.
func (e entry) hides() bool { return e.Private || e.hidden }

func (l *lists) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries, l.rows, l.writes, l.timeline = map[listKey]entry{}, map[listKey]row{}, nil, 0
	l.active, l.overlaps = map[listKey][]Write{}, nil
}

// begin notes that a write is being worked on, until end is called.
func (l *lists) begin(key listKey, w Write) (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, other := range l.active[key] {
		l.overlaps = append(l.overlaps, [2]Write{other, w})
	}
	active := l.active
	active[key] = append(active[key], w)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		i := slices.IndexFunc(active[key], func(other Write) bool { return other.At.Equal(w.At) && other.Path == w.Path })
		if active[key] = slices.Delete(active[key], i, i+1); len(active[key]) == 0 {
			delete(active, key)
		}
	}
}

// entry is a person's entry for a subject; its Type is 0 when there is none.
func (l *lists) entry(key listKey) entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries[key]
}

// change lets edit work on an entry and stores it as updated at now. done is
// kept as an applied write; posts says whether it is shown on the public timeline.
func (l *lists) change(key listKey, now time.Time, edit func(*entry) (posts bool), done Write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[key]
	posts := edit(&e)
	l.store(key, e, now)
	if posts {
		l.timeline++
	}
	l.writes = append(l.writes, done)
}

// store keeps e as the newest entry; the caller holds mu.
func (l *lists) store(key listKey, e entry, now time.Time) {
	l.touches++
	e.updated, e.touch = now, l.touches
	l.entries[key] = e
}

// row is a person's marks on a subject, to read only.
func (l *lists) row(key listKey) row {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rows[key]
}

// lostUpdateWindow is the usual time between reading and replacing a row. Writes that
// overlap in it lose marks; 50 ms apart the real catalog lost none.
const lostUpdateWindow = 2 * time.Millisecond

// mark sets episodes of one subject to a state, the way the real catalog does:
// a change from one state to another that is not Unmarked is answered well and lost
// (upstreams/catalog.md section 8). done is kept as an applied write. work takes the time that it takes; nil makes the
// whole of it one step.
func (l *lists) mark(key listKey, episodes []catalog.EpisodeID, state catalog.EpisodeState, posts bool, work func(), done Write) {
	if work == nil {
		l.rowMu.Lock()
		defer l.rowMu.Unlock()
	}
	changed := maps.Clone(l.row(key))
	if changed == nil {
		changed = row{}
	}
	if work != nil {
		work()
	}
	for _, id := range episodes {
		before, marked := changed[id]
		switch {
		case state == catalog.Unmarked:
			delete(changed, id)
		case !marked || before.state == state:
			changed[id] = markState{state, done.At}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows[key] = changed
	l.store(key, l.entries[key], done.At)
	if posts {
		l.timeline++
	}
	l.writes = append(l.writes, done)
}

// Write is one write request that was applied, whether or not it changed anything.
type Write struct {
	Username  string
	SubjectID catalog.SubjectID
	// Episodes is what an episode write named; nil for a write of the collection entry.
	Episodes []catalog.EpisodeID
	// Type is the state that was sent: of the episodes, or of the subject (0 when the body left it out).
	Type   int
	At     time.Time
	Method string
	Path   string
	// Body is that of a write of the collection entry.
	Body string
}

// Mark is one marked episode.
type Mark struct {
	Username  string               `json:"username"`
	SubjectID catalog.SubjectID    `json:"subject_id"`
	EpisodeID catalog.EpisodeID    `json:"episode_id"`
	Type      catalog.EpisodeState `json:"type"`
	At        time.Time            `json:"at"`
}

// Collection is one subject on somebody's list.
type Collection struct {
	Username  string                 `json:"username"`
	SubjectID catalog.SubjectID      `json:"subject_id"`
	Type      catalog.CollectionType `json:"type"`
	Private   bool                   `json:"private"`
}

// Writes lists the writes applied since the start or the last Reset, in their order.
func (s *Server) Writes() []Write {
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	return slices.Clone(s.lists.writes)
}

// Overlaps lists pairs of writes of one person and subject that were worked on at the same time, by which the real catalog
// may lose one of them.
func (s *Server) Overlaps() [][2]Write {
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	return slices.Clone(s.lists.overlaps)
}

// Working is how many writes are being worked on, those whose clients have gone included.
func (s *Server) Working() (n int) {
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	for _, writes := range s.lists.active {
		n += len(writes)
	}
	return n
}

// Timeline counts the public timeline entries that were posted.
func (s *Server) Timeline() int {
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	return s.lists.timeline
}

// Marks lists every marked episode of now by user name, subject and episode; never nil.
func (s *Server) Marks() []Mark {
	names := s.people.names()
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	marks := []Mark{}
	for key, row := range s.lists.rows {
		for id, mark := range row {
			marks = append(marks, Mark{names[key.user], key.subject, id, mark.state, mark.at})
		}
	}
	slices.SortFunc(marks, func(a, b Mark) int {
		return cmp.Or(cmp.Compare(a.Username, b.Username), cmp.Compare(a.SubjectID, b.SubjectID), cmp.Compare(a.EpisodeID, b.EpisodeID))
	})
	return marks
}

// Collections lists every collection entry of now by user name and subject; never nil.
func (s *Server) Collections() []Collection {
	names := s.people.names()
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	collections := []Collection{}
	for key, e := range s.lists.entries {
		collections = append(collections, Collection{names[key.user], key.subject, e.Type, e.hides()})
	}
	slices.SortFunc(collections, func(a, b Collection) int {
		return cmp.Or(cmp.Compare(a.Username, b.Username), cmp.Compare(a.SubjectID, b.SubjectID))
	})
	return collections
}

// Collect puts a subject on somebody's list without a request, to arrange a
// test. An unknown user or subject is an error.
func (s *Server) Collect(username string, subject catalog.SubjectID, state catalog.CollectionType, private bool) error {
	user, ok := s.people.byName(username)
	if !ok {
		return fmt.Errorf("collect subject %d: there is no user %q", subject, username)
	}
	if _, ok := s.data.subject(subject); !ok {
		return fmt.Errorf("collect subject %d: it does not exist", subject)
	}
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	key := listKey{user.ID, subject}
	e := s.lists.entries[key]
	e.Type, e.Private = state, private
	s.lists.store(key, e, s.cfg.Now())
	return nil
}

// Age makes every entry and every mark so much older, to arrange a test.
func (s *Server) Age(by time.Duration) {
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	for key, e := range s.lists.entries {
		e.updated = e.updated.Add(-by)
		s.lists.entries[key] = e
	}
	for key, before := range s.lists.rows {
		older := row{}
		for id, mark := range before {
			older[id] = markState{mark.state, mark.at.Add(-by)}
		}
		s.lists.rows[key] = older
	}
}

// SetMark puts an episode into a state without a request, to arrange a test; the
// lost-write habits do not apply. An unknown user or episode is an error.
func (s *Server) SetMark(username string, episode catalog.EpisodeID, state catalog.EpisodeState) error {
	user, ok := s.people.byName(username)
	if !ok {
		return fmt.Errorf("mark episode %d: there is no user %q", episode, username)
	}
	e, ok := s.data.episode(episode)
	if !ok {
		return fmt.Errorf("mark episode %d: it does not exist", episode)
	}
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	key := listKey{user.ID, e.subject}
	changed := row{}
	maps.Copy(changed, s.lists.rows[key])
	delete(changed, episode)
	if state != catalog.Unmarked {
		changed[episode] = markState{state, s.cfg.Now()}
	}
	s.lists.rows[key] = changed
	return nil
}
