package catalogtest

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"watchmark/internal/catalog"
)

// Limits of the collection list (upstreams/catalog.md section 9).
const (
	collectionsUsual = 30
	collectionsMost  = 100
)

// wikiTime is the time zone of the catalog's time stamps.
var wikiTime = time.FixedZone("UTC+8", 8*60*60)

type meAnswer struct {
	ID         int       `json:"id"`
	Username   string    `json:"username"`
	Nickname   string    `json:"nickname"`
	UserGroup  int       `json:"user_group"`
	Avatar     images    `json:"avatar"`
	Sign       string    `json:"sign"`
	URL        string    `json:"url"`
	RegTime    time.Time `json:"reg_time"`
	Email      string    `json:"email"`
	TimeOffset int       `json:"time_offset"`
}

// getMe is GET /v0/me.
func (s *Server) getMe(w http.ResponseWriter, r *http.Request, who *User) {
	if who == nil {
		fail(w, r, http.StatusUnauthorized, "this API need authorization")
		return
	}
	registered := time.Date(2015, 1, 1, 0, 0, 0, 0, wikiTime)
	if who.Young {
		registered = s.cfg.Now().In(wikiTime).AddDate(0, 0, -10)
	}
	answer(w, http.StatusOK, meAnswer{
		ID: who.ID, Username: who.Username, Nickname: who.Nickname, UserGroup: 10,
		URL: "https://bgm.tv/user/" + who.Username, RegTime: registered, TimeOffset: 8,
	})
}

// collectionAnswer is an entry as user paths show it.
type collectionAnswer struct {
	SubjectID   catalog.SubjectID      `json:"subject_id"`
	SubjectType catalog.SubjectType    `json:"subject_type"`
	Type        catalog.CollectionType `json:"type"`
	Rate        int                    `json:"rate"`
	Comment     *string                `json:"comment"`
	Tags        []string               `json:"tags"`
	EpStatus    int                    `json:"ep_status"`
	VolStatus   int                    `json:"vol_status"`
	UpdatedAt   time.Time              `json:"updated_at"`
	Private     bool                   `json:"private"`
	Subject     slimSubject            `json:"subject"`
}

type slimSubject struct {
	ID              catalog.SubjectID   `json:"id"`
	Type            catalog.SubjectType `json:"type"`
	Name            string              `json:"name"`
	NameCN          string              `json:"name_cn"`
	Date            string              `json:"date"`
	ShortSummary    string              `json:"short_summary"`
	Images          images              `json:"images"`
	Tags            []tagAnswer         `json:"tags"`
	Score           float64             `json:"score"`
	Rank            int                 `json:"rank"`
	Eps             int                 `json:"eps"`
	Volumes         int                 `json:"volumes"`
	CollectionTotal int                 `json:"collection_total"`
}

// shortSummary is how many runes of a summary a list shows.
const shortSummary = 100

// showEntry shows an entry; marks is how many episodes of the subject are in any state.
func showEntry(e entry, subject *Subject, marks int) collectionAnswer {
	if subject.Type == catalog.Book {
		marks = e.EpStatus
	}
	summary := []rune(subject.Summary)
	return collectionAnswer{
		SubjectID: subject.ID, SubjectType: subject.Type, Type: e.Type, Rate: e.Rate, Comment: orNull(e.Comment),
		Tags: append([]string{}, e.Tags...), EpStatus: marks, VolStatus: e.VolStatus,
		UpdatedAt: e.updated.In(wikiTime).Truncate(time.Second), Private: e.hides(),
		Subject: slimSubject{
			ID: subject.ID, Type: subject.Type, Name: subject.Name, NameCN: subject.NameCN, Date: subject.Date,
			ShortSummary: string(summary[:min(len(summary), shortSummary)]), Images: imagesOf(subject.Image),
			Tags: tagsOf(subject), Score: subject.Rating.Score, Rank: subject.Rating.Rank, Eps: subject.Eps,
			CollectionTotal: subject.Favorite.total(),
		},
	}
}

// listCollections is GET /v0/users/{username}/collections. The total counts
// entries whose subject is not shown, so a page can be shorter than its limit.
func (s *Server) listCollections(w http.ResponseWriter, r *http.Request, who *User) {
	kind, byKind, ok := readOptionalInt(w, r, "subject_type", 1, 2, 3, 4, 6)
	if !ok {
		return
	}
	state, byState, ok := readOptionalInt(w, r, "type", 1, 2, 3, 4, 5)
	if !ok {
		return
	}
	win, ok := readWindow(w, r, collectionsUsual, collectionsMost)
	if !ok {
		return
	}
	// `-` is nobody's name, so it is unknown here, as in the real catalog.
	owner, ok := s.people.byName(r.PathValue("username"))
	if !ok {
		fail(w, r, http.StatusNotFound, "user doesn't exist or has been removed")
		return
	}
	ownerAsks := who != nil && who.ID == owner.ID
	kept := s.entriesOf(owner.ID, func(subject catalog.SubjectID, e entry) bool {
		known, ok := s.data.subject(subject)
		return (ownerAsks || !e.hides()) && (!byState || int(e.Type) == state) && (!byKind || (ok && int(known.Type) == kind))
	})
	if win.beyond(w, r, len(kept)) {
		return
	}
	list := page[collectionAnswer]{Data: []collectionAnswer{}, Total: len(kept), Limit: win.limit, Offset: win.offset}
	for _, k := range cut(win, kept) {
		if subject, ok := s.data.subject(k.subject); ok { // adult ones too, whoever asks
			list.Data = append(list.Data, showEntry(k.entry, subject, len(s.lists.row(listKey{owner.ID, k.subject}))))
		}
	}
	answer(w, http.StatusOK, list)
}

type keptEntry struct {
	subject catalog.SubjectID
	entry   entry
}

// entriesOf is a person's entries that keep wants, newest update first.
func (s *Server) entriesOf(user int, keep func(catalog.SubjectID, entry) bool) []keptEntry {
	s.lists.mu.Lock()
	var all []keptEntry
	for key, e := range s.lists.entries {
		if key.user == user {
			all = append(all, keptEntry{key.subject, e})
		}
	}
	s.lists.mu.Unlock()
	all = slices.DeleteFunc(all, func(k keptEntry) bool { return !keep(k.subject, k.entry) })
	slices.SortFunc(all, func(a, b keptEntry) int { return cmp.Compare(b.entry.touch, a.entry.touch) })
	return all
}

// getCollection is GET /v0/users/{username}/collections/{id}.
func (s *Server) getCollection(w http.ResponseWriter, r *http.Request, who *User) {
	id, ok := pathSubject(w, r)
	if !ok {
		return
	}
	subject, ok := s.data.visible(id, who)
	if !ok {
		fail(w, r, http.StatusNotFound, gone)
		return
	}
	owner, ok := s.people.byName(r.PathValue("username"))
	if !ok {
		fail(w, r, http.StatusNotFound, "user doesn't exist or has been removed")
		return
	}
	key := listKey{owner.ID, id}
	e := s.lists.entry(key)
	if e.Type == 0 || (e.hides() && (who == nil || who.ID != owner.ID)) {
		fail(w, r, http.StatusNotFound, "subject is not collected by user")
		return
	}
	answer(w, http.StatusOK, showEntry(e, subject, len(s.lists.row(key))))
}

// collectionBody is what POST and PATCH take; every field may be left out.
type collectionBody struct {
	Type      *int      `json:"type"`
	Rate      *int      `json:"rate"`
	Comment   *string   `json:"comment"`
	Private   *bool     `json:"private"`
	Tags      *[]string `json:"tags"`
	EpStatus  *int      `json:"ep_status"`
	VolStatus *int      `json:"vol_status"`
}

// problem is the rule that the body breaks for a subject, empty when it breaks none.
func (body collectionBody) problem(subject *Subject) string {
	switch {
	case body.Type != nil && (*body.Type < 1 || *body.Type > 5):
		return strconv.Itoa(*body.Type) + " is not a valid collection type"
	case body.Rate != nil && (*body.Rate < 0 || *body.Rate > 10):
		return "rate overflow"
	case body.Comment != nil && utf8.RuneCountInString(*body.Comment) > 380:
		return "comment too long, only allow less equal than 380 characters"
	case body.Comment != nil && strings.ContainsFunc(*body.Comment, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\n\t\r", r) }):
		return "invalid comment, only printable characters are allowed"
	case (body.EpStatus != nil || body.VolStatus != nil) && subject.Type != catalog.Book:
		return "can't set ep_status or vol_status on a non-book subject"
	case (body.EpStatus != nil && *body.EpStatus < 0) || (body.VolStatus != nil && *body.VolStatus < 0):
		return "ep_status and vol_status must not be negative"
	}
	if body.Tags != nil {
		if len(*body.Tags) > 10 {
			return "can't use more than 10 tags"
		}
		for _, tag := range *body.Tags {
			if utf8.RuneCountInString(tag) < 2 || strings.ContainsAny(tag, " \t\r\n\u3000") {
				return strconv.Quote(tag) + " is not a valid tag"
			}
		}
	}
	return ""
}

// apply changes the entry as the body says; an entry that is new becomes "doing". A rate that is sent
// with "wish" is forgotten, one that was there before is kept. filtered says what the word filter hides: that goes before
// private, which does nothing while an entry is hidden (upstreams/list.md section 4).
// It reports whether the public timeline shows it: only what names a type, or the progress in a book, and is not private.
func (body collectionBody) apply(e *entry, filtered func(text string) bool) (posts bool) {
	if e.Type == 0 {
		e.Type = catalog.Doing
	}
	if body.Comment != nil || body.Tags != nil {
		text := e.Comment + " " + strings.Join(e.Tags, " ")
		if body.Comment != nil {
			e.Comment = strings.TrimSpace(*body.Comment)
			text = e.Comment
		}
		if body.Tags != nil {
			e.Tags = slices.Sorted(slices.Values(*body.Tags))
			text += " " + strings.Join(e.Tags, " ")
		}
		hidden := filtered(text)
		e.Private = e.Private || e.hidden && !hidden
		e.hidden = hidden
	}
	if body.Private != nil && !e.hidden {
		e.Private = *body.Private
	}
	if body.VolStatus != nil {
		e.VolStatus = *body.VolStatus
	}
	if body.EpStatus != nil {
		e.EpStatus = *body.EpStatus
	}
	if body.Type != nil {
		e.Type = catalog.CollectionType(*body.Type)
	}
	if body.Rate != nil {
		e.Rate = *body.Rate
		if e.Type == catalog.Wish {
			e.Rate = 0
		}
	}
	return (body.Type != nil || body.EpStatus != nil || body.VolStatus != nil) && !e.hides()
}

// writeCollection is POST and PATCH /v0/users/-/collections/{id}. Every call
// that names a type posts to the timeline, changed or not.
func (s *Server) writeCollection(w http.ResponseWriter, r *http.Request, who *User) {
	id, ok := pathSubject(w, r)
	if !ok {
		return
	}
	sent, _ := io.ReadAll(r.Body) // it was read before
	r.Body = io.NopCloser(bytes.NewReader(sent))
	var body collectionBody
	if !readBody(w, r, &body, true) {
		return
	}
	if who.Banned {
		fail(w, r, http.StatusForbidden, "you are not allowed to do this")
		return
	}
	subject, ok := s.data.visible(id, who)
	if !ok {
		fail(w, r, http.StatusNotFound, "subject not found")
		return
	}
	if subject.banned() {
		fail(w, r, http.StatusNotFound, "subject locked or merged")
		return
	}
	if problem := body.problem(subject); problem != "" {
		fail(w, r, http.StatusBadRequest, problem)
		return
	}
	key := listKey{who.ID, id}
	if r.Method == http.MethodPatch && s.lists.entry(key).Type == 0 {
		fail(w, r, http.StatusNotFound, "subject not collected")
		return
	}
	done := s.applied(r, who, id)
	done.Body = string(sent)
	if body.Type != nil {
		done.Type = *body.Type
	}
	defer s.lists.begin(key, done)()
	s.work(r, 0)
	s.lists.change(key, done.At, func(e *entry) bool { return body.apply(e, s.filtered) }, done)
	if r.Method == http.MethodPost {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// filtered reports whether the word filter hides a text.
func (s *Server) filtered(text string) bool {
	return slices.ContainsFunc(s.cfg.Filter, func(word string) bool { return strings.Contains(text, word) })
}

// work takes the time of a write, and longer when its client goes meanwhile.
func (s *Server) work(r *http.Request, usual time.Duration) {
	if s.cfg.WriteTime != nil {
		usual = s.cfg.WriteTime()
	}
	time.Sleep(usual)
	if s.cfg.Linger != nil && r.Context().Err() != nil {
		time.Sleep(s.cfg.Linger())
	}
}

// applied is what is kept of a write request.
func (s *Server) applied(r *http.Request, who *User, subject catalog.SubjectID) Write {
	return Write{Username: who.Username, SubjectID: subject, At: s.cfg.Now(), Method: r.Method, Path: r.URL.Path}
}
