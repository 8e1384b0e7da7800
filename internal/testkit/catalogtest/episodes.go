package catalogtest

import (
	"net/http"
	"strconv"
	"time"

	"watchmark/internal/catalog"
)

// Limits of the episode lists (upstreams/catalog.md section 8).
const (
	episodesUsual = 100
	episodesMost  = 1000
)

// episodeAnswer is an episode as the API shows it.
type episodeAnswer struct {
	ID              catalog.EpisodeID   `json:"id"`
	SubjectID       catalog.SubjectID   `json:"subject_id"`
	Type            catalog.EpisodeType `json:"type"`
	Ep              float64             `json:"ep"`
	Sort            float64             `json:"sort"`
	Name            string              `json:"name"`
	NameCN          string              `json:"name_cn"`
	AirDate         string              `json:"airdate"`
	Duration        string              `json:"duration"`
	DurationSeconds int                 `json:"duration_seconds"`
	Desc            string              `json:"desc"`
	Comment         int                 `json:"comment"`
	Disc            int                 `json:"disc"`
}

// showEpisode shows an episode; first is the subject's firstSort.
func showEpisode(e *Episode, first float64) episodeAnswer {
	shown := episodeAnswer{
		ID: e.ID, SubjectID: e.subject, Type: e.Type, Sort: e.Sort, Name: e.Name, NameCN: e.NameCN,
		AirDate: e.AirDate, Duration: e.Duration, DurationSeconds: durationSeconds(e.Duration), Desc: e.Desc, Disc: e.Disc,
	}
	if e.Type == catalog.Main {
		shown.Ep = e.Sort - first + 1
	}
	return shown
}

// firstSort is the smallest sort of the main episodes on the lowest disc: the one that counts as ep 1.
func firstSort(episodes []*Episode) float64 {
	for _, e := range episodes { // ordered by disc, type, sort
		if e.Type == catalog.Main {
			return e.Sort
		}
	}
	return 0
}

// durationSeconds reads 24m, 1h30m or 00:24:00; 0 for anything else, as duration is free text.
func durationSeconds(text string) int {
	if d, err := time.ParseDuration(text); err == nil {
		return int(d / time.Second)
	}
	if t, err := time.Parse(time.TimeOnly, text); err == nil {
		return t.Hour()*3600 + t.Minute()*60 + t.Second()
	}
	return 0
}

// episodeTypes are the kinds a query may name; 5 is in the data and refused all the same.
var episodeTypes = []int{0, 1, 2, 3, 4, 6}

// listEpisodes is GET /v0/episodes.
func (s *Server) listEpisodes(w http.ResponseWriter, r *http.Request, who *User) {
	id, err := strconv.ParseUint(r.URL.Query().Get("subject_id"), 10, 32)
	if err != nil || id == 0 {
		fail(w, r, http.StatusBadRequest, "subject_id is not a valid ID")
		return
	}
	kind, given, ok := readOptionalInt(w, r, "type", episodeTypes...)
	if !ok {
		return
	}
	win, ok := readWindow(w, r, episodesUsual, episodesMost)
	if !ok {
		return
	}
	subject, ok := s.data.visible(catalog.SubjectID(id), who)
	if !ok {
		fail(w, r, http.StatusNotFound, gone)
		return
	}
	episodes := s.data.episodesOf(subject.ID)
	wanted := ofKind(episodes, kind, given)
	if win.beyond(w, r, len(wanted)) {
		return
	}
	list := page[episodeAnswer]{Data: []episodeAnswer{}, Total: len(wanted), Limit: win.limit, Offset: win.offset}
	for _, e := range cut(win, wanted) {
		list.Data = append(list.Data, showEpisode(e, firstSort(episodes)))
	}
	answer(w, http.StatusOK, list)
}

// ofKind is the episodes of one kind, or all of them when no kind is given.
func ofKind(episodes []*Episode, kind int, given bool) []*Episode {
	if !given {
		return episodes
	}
	var wanted []*Episode
	for _, e := range episodes {
		if int(e.Type) == kind {
			wanted = append(wanted, e)
		}
	}
	return wanted
}

// getEpisode is GET /v0/episodes/{id}.
func (s *Server) getEpisode(w http.ResponseWriter, r *http.Request, who *User) {
	id, ok := pathEpisode(w, r)
	if !ok {
		return
	}
	episode, ok := s.data.episode(id)
	if ok {
		_, ok = s.data.visible(episode.subject, who)
	}
	if !ok {
		fail(w, r, http.StatusNotFound, gone)
		return
	}
	answer(w, http.StatusOK, showEpisode(episode, firstSort(s.data.episodesOf(episode.subject))))
}
