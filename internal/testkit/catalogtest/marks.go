package catalogtest

import (
	"fmt"
	"net/http"
	"strconv"

	"watchmark/internal/catalog"
)

// markAnswer is an episode and its state on somebody's list.
type markAnswer struct {
	Episode   episodeAnswer        `json:"episode"`
	Type      catalog.EpisodeState `json:"type"`
	UpdatedAt int64                `json:"updated_at"` // unix seconds, 0 when unmarked
}

func showMark(e *Episode, first float64, marks row) markAnswer {
	shown := markAnswer{Episode: showEpisode(e, first)}
	if mark, ok := marks[e.ID]; ok {
		shown.Type, shown.UpdatedAt = mark.state, mark.at.Unix()
	}
	return shown
}

// listMarks is GET /v0/users/-/collections/{id}/episodes. It does not tell
// whether the subject is collected, an empty page has null for data, and an offset beyond the end
// gives one.
func (s *Server) listMarks(w http.ResponseWriter, r *http.Request, who *User) {
	if who == nil {
		fail(w, r, http.StatusUnauthorized, "this API need authorization")
		return
	}
	id, ok := pathSubject(w, r)
	if !ok {
		return
	}
	kind, given, ok := readOptionalInt(w, r, "episode_type", episodeTypes...)
	if !ok {
		return
	}
	win, ok := readWindow(w, r, episodesUsual, episodesMost)
	if !ok {
		return
	}
	subject, ok := s.data.visible(id, who)
	if !ok {
		fail(w, r, http.StatusNotFound, gone)
		return
	}
	episodes := s.data.episodesOf(subject.ID)
	wanted := ofKind(episodes, kind, given)
	marks := s.lists.row(listKey{who.ID, id})
	list := page[markAnswer]{Total: len(wanted), Limit: win.limit, Offset: win.offset}
	for _, e := range cut(win, wanted) {
		list.Data = append(list.Data, showMark(e, firstSort(episodes), marks))
	}
	answer(w, http.StatusOK, list)
}

// getMark is GET /v0/users/-/collections/-/episodes/{id}.
func (s *Server) getMark(w http.ResponseWriter, r *http.Request, who *User) {
	if who == nil {
		fail(w, r, http.StatusUnauthorized, "this API need authorization")
		return
	}
	id, ok := pathEpisode(w, r)
	if !ok {
		return
	}
	e, ok := s.data.episode(id)
	if !ok {
		fail(w, r, http.StatusNotFound, gone)
		return
	}
	answer(w, http.StatusOK, showMark(e, firstSort(s.data.episodesOf(e.subject)), s.lists.row(listKey{who.ID, e.subject})))
}

// putMark is PUT /v0/users/-/collections/-/episodes/{id}. A missing type is 0 and
// removes the mark. Bans, locks and NSFW do not matter here.
func (s *Server) putMark(w http.ResponseWriter, r *http.Request, who *User) {
	id, ok := pathEpisode(w, r)
	if !ok {
		return
	}
	var body struct {
		Type sentState `json:"type"`
	}
	if !readBody(w, r, &body, true) {
		return
	}
	e, ok := s.data.episode(id)
	if !ok {
		fail(w, r, http.StatusNotFound, gone)
		return
	}
	s.storeMarks(w, r, who, e.subject, []*Episode{e}, catalog.EpisodeState(body.Type))
}

// patchMarks is PATCH /v0/users/-/collections/{id}/episodes.
func (s *Server) patchMarks(w http.ResponseWriter, r *http.Request, who *User) {
	id, ok := pathSubject(w, r)
	if !ok {
		return
	}
	var body struct {
		Episodes []catalog.EpisodeID `json:"episode_id"`
		Type     sentState           `json:"type"`
	}
	if !readBody(w, r, &body, true) {
		return
	}
	if len(body.Episodes) == 0 {
		fail(w, r, http.StatusBadRequest, "episode_id is required")
		return
	}
	if _, ok := s.data.subject(id); !ok {
		fail(w, r, http.StatusNotFound, gone)
		return
	}
	var episodes []*Episode
	for _, wanted := range body.Episodes {
		e, ok := s.data.episode(wanted)
		if !ok || e.subject != id {
			fail(w, r, http.StatusBadRequest, fmt.Sprintf("invalid input: episode %d is not episodes of subject %d", wanted, id))
			return
		}
		episodes = append(episodes, e)
	}
	s.storeMarks(w, r, who, id, episodes, catalog.EpisodeState(body.Type))
}

// sentState is the state in a body. Left out, it is 0, which removes the mark; null is refused.
type sentState catalog.EpisodeState

func (s *sentState) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 8)
	if err != nil || n > uint64(catalog.EpisodeDropped) {
		return fmt.Errorf("%s is not an episode collection type", text)
	}
	*s = sentState(n)
	return nil
}

// storeMarks ends both episode writes. A write that marks a main episode posts
// one entry to the timeline, in a private collection too (upstreams/catalog.md section 12).
func (s *Server) storeMarks(w http.ResponseWriter, r *http.Request, who *User, subject catalog.SubjectID, episodes []*Episode, state catalog.EpisodeState) {
	key := listKey{who.ID, subject}
	if s.lists.entry(key).Type == 0 {
		fail(w, r, http.StatusBadRequest, "you need to add subject to your collection first")
		return
	}
	done := s.applied(r, who, subject)
	done.Type = int(state)
	posts := false
	for _, e := range episodes {
		done.Episodes = append(done.Episodes, e.ID)
		posts = posts || (e.Type == catalog.Main && state != catalog.Unmarked)
	}
	defer s.lists.begin(key, done)()
	work := func() { s.work(r, lostUpdateWindow) }
	if s.cfg.AtomicMarks {
		work = nil
	}
	s.lists.mark(key, done.Episodes, state, posts, work, done)
	w.WriteHeader(http.StatusNoContent)
}
