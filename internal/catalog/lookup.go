package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"watchmark/internal/platform/httpx"
	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
)

const (
	episodePage = 200 // documented maximum (upstreams/catalog.md section 8)
	// maxMerges is how many merges in a row are followed.
	maxMerges = 5
	// MaxAliases is how many other titles of a subject are kept.
	MaxAliases = 100
)

// IsTitleField reports whether an infobox field of that key holds other titles, as
// volunteers write them (upstreams/archive.md section 8).
func IsTitleField(key string) bool {
	switch key {
	case "别名", "中文名", "英文名", "日文名", "原名", "又名", "其他名", "其它名", "其他译名", "其它译名",
		"第二中文名", "罗马字", "罗马名", "英文标题", "官方译名", "简称", "略称", "台湾名称", "港澳名称", "马新名称":
		return true
	}
	return false
}

// apiSubject is a subject as /v0 sends it (upstreams/catalog.md section 7).
type apiSubject struct {
	ID       SubjectID   `json:"id"`
	Type     SubjectType `json:"type"`
	Name     string      `json:"name"`
	NameCN   string      `json:"name_cn"`
	Date     string      `json:"date"`
	AirDate  string      `json:"air_date"` // legacy
	Platform string      `json:"platform"`
	NSFW     bool        `json:"nsfw"`
	Locked   bool        `json:"locked"`
	// Eps, Images and Infobox come in several shapes; the legacy search may send a list of episodes as eps.
	Eps     json.RawMessage `json:"eps"`
	Images  json.RawMessage `json:"images"`
	Infobox json.RawMessage `json:"infobox"`
}

func (s apiSubject) subject() Subject {
	date := s.Date
	if date == "" {
		date = s.AirDate
	}
	var eps int
	if json.Unmarshal(s.Eps, &eps) != nil {
		eps = 0
	}
	return Subject{
		ID: s.ID, Type: s.Type, Name: s.Name, NameCN: s.NameCN, Date: watch.ParseDate(date), Platform: s.Platform,
		Eps: eps, Image: cover(s.Images), NSFW: s.NSFW, Locked: s.Locked, Aliases: aliases(s.Infobox, s.Name, s.NameCN),
	}
}

func cover(raw json.RawMessage) string {
	var images struct{ Large, Common, Medium string }
	if json.Unmarshal(raw, &images) != nil {
		return "" // no images
	}
	for _, address := range []string{images.Common, images.Large, images.Medium} {
		if address != "" {
			return strings.Replace(address, "http://", "https://", 1) // the legacy API says http
		}
	}
	return ""
}

// AppendAlias adds a title to the aliases found in an infobox, unless it is one already
// or one of the known titles, is empty, or is a lone * left over from the template of the
// page (upstreams/archive.md section 8). At most MaxAliases are kept.
func AppendAlias(found []string, text string, known []string) []string {
	text = strings.TrimSpace(text)
	if text == "" || text == "*" || len(found) >= MaxAliases || slices.Contains(known, text) || slices.Contains(found, text) {
		return found
	}
	return append(found, text)
}

// aliases are the titles in an infobox other than those known already. Keys may
// repeat; a value is a text, or a list of {v} or {k,v}; what is of another shape
// is passed over.
func aliases(infobox json.RawMessage, known ...string) []string {
	var fields []struct {
		Key   string          `json:"key"`
		Value json.RawMessage `json:"value"`
	}
	if json.Unmarshal(infobox, &fields) != nil {
		return nil // a syntax error in the wiki text empties it
	}
	var found []string
	for _, field := range fields {
		if !IsTitleField(strings.TrimSpace(field.Key)) {
			continue
		}
		var text string
		var items []json.RawMessage
		if json.Unmarshal(field.Value, &text) == nil {
			found = AppendAlias(found, text, known)
		} else if json.Unmarshal(field.Value, &items) == nil {
			for _, item := range items {
				var value struct {
					V string `json:"v"`
				}
				if json.Unmarshal(item, &value) == nil {
					found = AppendAlias(found, value.V, known)
				} else if json.Unmarshal(item, &text) == nil {
					found = AppendAlias(found, text, known)
				}
			}
		}
	}
	return found
}

// Subject reads one subject, anonymously. The id of a merged subject gives the
// one it was merged into: keep the ID of the answer. ErrNotFound also means
// hidden from anonymous readers (upstreams/catalog.md section 7, NSFW).
func (c *Client) Subject(ctx context.Context, id SubjectID) (Subject, error) {
	return Session{c: c}.Subject(ctx, id)
}

// Subject is Client.Subject with what only the owner of the token is shown.
func (s Session) Subject(ctx context.Context, id SubjectID) (Subject, error) {
	op := opReadSubject.With(id)
	for range maxMerges {
		var found apiSubject
		var merged bool
		asked := id
		due := s.c.reading(&found, func() bool { return found.ID == asked })
		_, err := s.c.send(ctx, call{op: op, path: fmt.Sprintf("/v0/subjects/%d", asked), token: s.token}, func(op reason.Reason, resp *httpx.Response) error {
			if id, merged = s.c.mergedInto(resp); merged {
				return nil
			}
			return due(op, resp)
		})
		if err != nil {
			return Subject{}, err
		}
		if !merged {
			return found.subject(), nil
		}
	}
	return Subject{}, &Error{Op: op, Kind: ErrUnreachable, Status: http.StatusFound, Description: tooManyMerges.With()}
}

// Relations reads the neighbours of a subject, anonymously. Ids of merged
// subjects are not redirected here: ErrNotFound.
func (c *Client) Relations(ctx context.Context, id SubjectID) ([]Relation, error) {
	return Session{c: c}.Relations(ctx, id)
}

// Relations is Client.Relations with what only the owner of the token is shown.
func (s Session) Relations(ctx context.Context, id SubjectID) ([]Relation, error) {
	type row struct {
		ID       SubjectID   `json:"id"`
		Type     SubjectType `json:"type"`
		Name     string      `json:"name"`
		NameCN   string      `json:"name_cn"`
		Relation string      `json:"relation"`
	}
	var l rows[row]
	k := call{op: opReadRelations.With(id), path: fmt.Sprintf("/v0/subjects/%d/subjects", id)}
	err := s.read(ctx, k, &l, func() bool {
		return l.all != nil && !slices.ContainsFunc(l.all, func(r row) bool { return r.ID <= 0 })
	})
	if err != nil {
		return nil, err
	}
	relations := make([]Relation, 0, len(l.all))
	for _, r := range l.all {
		relations = append(relations, Relation{ID: r.ID, Type: r.Type, Name: r.Name, NameCN: r.NameCN, Label: r.Relation})
	}
	return relations, nil
}

// apiEpisode is an episode as /v0 sends it (upstreams/catalog.md section 8).
type apiEpisode struct {
	ID      EpisodeID   `json:"id"`
	Subject SubjectID   `json:"subject_id"`
	Type    EpisodeType `json:"type"`
	Sort    float64     `json:"sort"`
	Ep      float64     `json:"ep"`
	Name    string      `json:"name"`
	NameCN  string      `json:"name_cn"`
	AirDate string      `json:"airdate"`
	Disc    int         `json:"disc"`
}

func (e apiEpisode) info() EpisodeInfo {
	return EpisodeInfo{
		ID: e.ID, Subject: e.Subject, Type: e.Type, Sort: e.Sort, Ep: e.Ep, Name: e.Name, NameCN: e.NameCN,
		AirDate: watch.ParseDate(e.AirDate), Disc: e.Disc,
	}
}

// Episodes reads all chapters of a subject, of every type, anonymously, in the
// catalog's order: disc, type, sort. A subject without chapters gives an empty list.
func (c *Client) Episodes(ctx context.Context, id SubjectID) ([]EpisodeInfo, error) {
	k := call{
		op: opReadEpisodes.With(id), path: "/v0/episodes",
		query: url.Values{"subject_id": {strconv.Itoa(int(id))}},
	}
	rows, err := all(ctx, c, k, episodePage, func(e apiEpisode) bool { return e.ID > 0 })
	if err != nil {
		return nil, err
	}
	episodes := make([]EpisodeInfo, 0, len(rows))
	for _, r := range rows {
		episodes = append(episodes, r.info())
	}
	return episodes, nil
}

// Episode reads one chapter, anonymously.
func (c *Client) Episode(ctx context.Context, id EpisodeID) (EpisodeInfo, error) {
	return Session{c: c}.Episode(ctx, id)
}

// Episode is Client.Episode with what only the owner of the token is shown.
func (s Session) Episode(ctx context.Context, id EpisodeID) (EpisodeInfo, error) {
	var e apiEpisode
	err := s.read(ctx, call{op: opReadEpisode.With(id), path: fmt.Sprintf("/v0/episodes/%d", id)}, &e, func() bool { return e.ID == id && e.Subject > 0 })
	if err != nil {
		return EpisodeInfo{}, err
	}
	return e.info(), nil
}
