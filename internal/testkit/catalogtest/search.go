package catalogtest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/catalog"
)

// Limits of the new and the legacy search (upstreams/catalog.md section 6).
const (
	searchUsual  = 10
	searchMost   = 20   // silently clamped
	searchTotal  = 1000 // the estimate stops here
	legacyMost   = 25
	legacyOnPage = 10
)

type searchBody struct {
	Keyword string       `json:"keyword"`
	Sort    string       `json:"sort"`
	Filter  searchFilter `json:"filter"`
}

type searchFilter struct {
	Type    []catalog.SubjectType `json:"type"`
	AirDate []string              `json:"air_date"`
	NSFW    *bool                 `json:"nsfw"`
}

// hitAnswer is a subject as the search shows it; reads of one subject have no single image.
type hitAnswer struct {
	subjectAnswer
	Image string `json:"image"`
}

// searchSubjects is POST /v0/search/subjects. Unknown body fields and the
// content type do not matter here.
func (s *Server) searchSubjects(w http.ResponseWriter, r *http.Request, who *User) {
	if s.cfg.SearchOff {
		answerText(w, http.StatusOK, "text/plain; charset=UTF-8", "search is not enable")
		return
	}
	win, problem := parseWindow(r.URL.Query(), searchUsual)
	if problem != "" {
		fail(w, r, http.StatusBadRequest, problem)
		return
	}
	win.limit = min(win.limit, searchMost)
	var body searchBody
	if !readBody(w, r, &body, false) {
		return
	}
	dates, ok := parseDateBounds(body.Filter.AirDate)
	if !ok {
		fail(w, r, http.StatusBadRequest, "invalid air_date filter")
		return
	}
	hideNSFW := !who.seesNSFW() || (body.Filter.NSFW != nil && !*body.Filter.NSFW)
	hits := s.data.searchIndex().search(body.Keyword, func(subject *Subject) bool {
		return (len(body.Filter.Type) == 0 || slices.Contains(body.Filter.Type, subject.Type)) &&
			(!hideNSFW || !subject.NSFW) && dates.hold(subject.Date)
	})
	if !sortHits(hits, body.Sort) {
		fail(w, r, http.StatusBadRequest, "sort not supported")
		return
	}
	hits = hits[:min(len(hits), searchTotal)]
	found := page[hitAnswer]{Data: []hitAnswer{}, Total: len(hits), Limit: win.limit, Offset: win.offset}
	for _, hit := range cut(win, hits) {
		found.Data = append(found.Data, hitAnswer{describe(hit.subject, hit.subject.Eps), imagesOf(hit.subject.Image).Large})
	}
	answer(w, http.StatusOK, found)
}

// readBody decodes the JSON body into v and answers the 400 itself. A strict
// body must not have unknown fields. What follows the first value is not looked at.
func readBody(w http.ResponseWriter, r *http.Request, v any, strict bool) bool {
	decoder := json.NewDecoder(r.Body)
	if strict {
		decoder.DisallowUnknownFields()
	}
	if err := decoder.Decode(v); err != nil {
		failTitled(w, r, http.StatusBadRequest, "JSON Error", "can't parse request body as JSON: "+err.Error())
		return false
	}
	return true
}

// sortHits orders hits that come best match first; ok is false for an order the catalog does not know.
func sortHits(hits []hit, order string) (ok bool) {
	var compare func(a, b hit) int
	switch order {
	case "", "match":
		return true
	case "heat":
		compare = func(a, b hit) int { return cmp.Compare(b.subject.Favorite.total(), a.subject.Favorite.total()) }
	case "score":
		compare = func(a, b hit) int { return cmp.Compare(b.subject.Rating.Score, a.subject.Rating.Score) }
	case "rank": // 0 is unranked and comes last
		compare = func(a, b hit) int {
			return cmp.Compare(uint(a.subject.Rating.Rank)-1, uint(b.subject.Rating.Rank)-1)
		}
	default:
		return false
	}
	slices.SortStableFunc(hits, compare)
	return true
}

// dateBounds all have to hold.
type dateBounds []dateBound

type dateBound struct{ operator, date string }

// parseDateBounds reads air_date filters: an operator, no blank, a full date.
func parseDateBounds(texts []string) (bounds dateBounds, ok bool) {
	for _, text := range texts {
		bound := dateBound{"=", text}
		for _, operator := range []string{">=", "<=", ">", "<"} {
			if date, found := strings.CutPrefix(text, operator); found {
				bound = dateBound{operator, date}
				break
			}
		}
		if !isDate(bound.date) {
			return nil, false
		}
		bounds = append(bounds, bound)
	}
	return bounds, true
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// hold reports whether a subject's date passes. No date passes only where there is no bound.
func (bounds dateBounds) hold(date string) bool {
	if len(bounds) > 0 && !isDate(date) {
		return false
	}
	for _, bound := range bounds {
		order := strings.Compare(date, bound.date)
		var holds bool
		switch bound.operator {
		case ">=":
			holds = order >= 0
		case "<=":
			holds = order <= 0
		case ">":
			holds = order > 0
		case "<":
			holds = order < 0
		default:
			holds = order == 0
		}
		if !holds {
			return false
		}
	}
	return true
}

// legacyItem is a subject as the legacy search shows it.
type legacyItem struct {
	ID      catalog.SubjectID   `json:"id"`
	URL     string              `json:"url"`
	Type    catalog.SubjectType `json:"type"`
	Name    string              `json:"name"`
	NameCN  string              `json:"name_cn"`
	Summary string              `json:"summary"`
	AirDate string              `json:"air_date"`
	Images  images              `json:"images"`
}

// legacySearch is GET /search/subject/{keywords}. It knows no neighbours: a title
// has to hold the keyword or be in it. `results` counts every kind and what is
// hidden, so the list may be shorter than it says.
func (s *Server) legacySearch(w http.ResponseWriter, r *http.Request, who *User) {
	keyword, query := r.PathValue("keywords"), r.URL.Query()
	if strings.Contains(keyword, " -") {
		answerText(w, http.StatusOK, "text/html; charset=UTF-8", legacyNothing)
		return
	}
	wanted, _ := strconv.Atoi(query.Get("type"))        // odd values mean every kind
	start, _ := strconv.Atoi(query.Get("start"))        // odd values mean the start
	most, err := strconv.Atoi(query.Get("max_results")) // odd values mean the usual page
	if err != nil || most <= 0 {
		most = legacyOnPage
	}
	win := window{limit: min(most, legacyMost), offset: max(start, 0)}

	all := s.data.searchIndex().search(keyword, func(*Subject) bool { return true })
	all = slices.DeleteFunc(all, func(h hit) bool { return h.score < 1 })
	ofKind := slices.DeleteFunc(slices.Clone(all), func(h hit) bool { return wanted != 0 && int(h.subject.Type) != wanted })
	list := []legacyItem{}
	for _, hit := range cut(win, ofKind) {
		if hit.subject.NSFW && !who.seesNSFW() {
			continue
		}
		list = append(list, legacyDescribe(hit.subject, query.Get("responseGroup")))
	}
	switch {
	case len(list) > 0:
		answer(w, http.StatusOK, map[string]any{"results": len(all), "list": list})
	case len(all) > 0: // both answers to "nothing found" are met in life
		answerText(w, http.StatusOK, "text/html; charset=UTF-8", legacyNothing)
	default:
		answer(w, http.StatusNotFound, map[string]any{"request": r.URL.Path, "code": http.StatusNotFound, "error": "Not Found"})
	}
}

const legacyNothing = `<!DOCTYPE html><html><body><p>对不起，没有找到符合条件的条目，或您在秒内只能进行一次搜索。</p></body></html>`

// legacyDescribe shows a subject; the group small, which is the usual one, leaves date and summary out.
func legacyDescribe(subject *Subject, group string) legacyItem {
	item := legacyItem{
		ID: subject.ID, Type: subject.Type, Name: subject.Name, NameCN: subject.NameCN,
		URL:    "http://bgm.tv/subject/" + strconv.Itoa(int(subject.ID)),
		Images: legacyImagesOf(subject.Image),
	}
	if group == "medium" || group == "large" {
		item.AirDate, item.Summary = subject.Date, subject.Summary
	}
	return item
}
