package snapshot

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
)

// Format is what a list is taken out as.
type Format string

// The formats.
const (
	JSON Format = "json"
	CSV  Format = "csv"
	MAL  Format = "mal"
)

// Types are the media types of the formats.
var Types = map[Format]string{JSON: "application/json", CSV: "text/csv; charset=utf-8", MAL: "application/xml"}

// FileName is the name of the file that a list is taken out to.
func (f Format) FileName(s Snapshot) string {
	end := map[Format]string{JSON: "json", CSV: "csv", MAL: "xml"}[f]
	return fmt.Sprintf("bangumi-%s.%s", s.TakenAt.Format("20060102-150405"), end)
}

// exportVersion is the version of the JSON form: a reader refuses one that it does not know.
const exportVersion = 1

// Export writes a snapshot of an account's list.
func (k *Service) Export(ctx context.Context, a account.Account, s Snapshot, f Format, to io.Writer) error {
	switch f {
	case CSV:
		return k.exportCSV(ctx, s, to)
	case MAL:
		return k.exportMAL(ctx, a, s, to)
	}
	return k.exportJSON(ctx, a, s, to)
}

// exportJSON writes all that is kept, an entry a line.
func (k *Service) exportJSON(ctx context.Context, a account.Account, s Snapshot, to io.Writer) error {
	head, err := json.Marshal(struct {
		Format  int `json:"format"`
		Account any `json:"account"`
		Taken   any `json:"taken_at"`
		Total   int `json:"total"`
	}{exportVersion, map[string]any{"id": a.CatalogUserID, "username": a.Username}, s.TakenAt, s.Total})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(to, "%s,\"entries\":[", head[:len(head)-1]); err != nil {
		return err
	}
	comma := "\n"
	err = k.store.each(ctx, s, func(v version) error {
		text, err := json.Marshal(struct {
			catalog.Entry
			Marks []catalog.Mark `json:"marks"`
		}{v.Entry, v.Marks})
		if err == nil {
			_, err = fmt.Fprintf(to, "%s%s", comma, text)
		}
		comma = ",\n"
		return err
	})
	if err == nil {
		_, err = io.WriteString(to, "\n]}\n")
	}
	return err
}

// stateNames are the states of entries as tables name them.
var stateNames = map[catalog.CollectionType]string{catalog.Wish: "wish", catalog.Done: "done", catalog.Doing: "doing", catalog.OnHold: "on_hold", catalog.Dropped: "dropped"}

// exportCSV writes a table for people: with a byte order mark, without which some programs take it for another encoding.
func (k *Service) exportCSV(ctx context.Context, s Snapshot, to io.Writer) error {
	if _, err := io.WriteString(to, "\ufeff"); err != nil {
		return err
	}
	w := csv.NewWriter(to)
	w.UseCRLF = true
	if err := w.Write([]string{"subject_id", "name", "name_cn", "date", "type", "rate", "tags", "comment", "private", "watched", "episodes", "updated_at"}); err != nil {
		return err
	}
	err := k.store.each(ctx, s, func(v version) error {
		e := v.Entry
		changed := ""
		if !e.Changed.IsZero() {
			changed = e.Changed.Format(time.RFC3339)
		}
		return w.Write([]string{
			strconv.Itoa(int(e.Subject)), cell(e.About.Name), cell(e.About.NameCN), e.About.Date.String(), stateNames[e.Type], strconv.Itoa(e.Rate),
			cell(strings.Join(e.Tags, " ")), cell(e.Comment), strconv.FormatBool(e.Private), strconv.Itoa(watchedOf(v)), strconv.Itoa(e.About.Eps), changed,
		})
	})
	w.Flush()
	if err == nil {
		err = w.Error()
	}
	return err
}

// cell is a text that no table program takes for a formula.
func cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

// watchedOf is how many main episodes are marked as watched.
func watchedOf(v version) (n int) {
	for _, m := range v.Marks {
		if m.Kind == catalog.Main && m.State == catalog.EpisodeWatched {
			n++
		}
	}
	return n
}

// firstOnes is how many main episodes are marked as watched from the first one on without a gap: whoever reads the file takes a number as
// that.
func firstOnes(v version) (n int) {
	watched := map[float64]bool{}
	for _, m := range v.Marks {
		if m.Kind == catalog.Main && m.State == catalog.EpisodeWatched {
			watched[m.Ep] = true
		}
	}
	for watched[float64(n+1)] {
		n++
	}
	return n
}

// malNames are the states as MyAnimeList spells them (upstreams/exports.md section 3).
var malNames = map[catalog.CollectionType]string{
	catalog.Wish: "Plan to Watch", catalog.Done: "Completed", catalog.Doing: "Watching", catalog.OnHold: "On-Hold", catalog.Dropped: "Dropped",
}

// malEntry is an entry of MyAnimeList's export.
type malEntry struct {
	XMLName  xml.Name `xml:"anime"`
	ID       int      `xml:"series_animedb_id"`
	Title    string   `xml:"series_title"`
	Episodes int      `xml:"series_episodes"`
	MyID     int      `xml:"my_id"`
	Watched  int      `xml:"my_watched_episodes"`
	Start    string   `xml:"my_start_date"`
	Finish   string   `xml:"my_finish_date"`
	Score    int      `xml:"my_score"`
	Status   string   `xml:"my_status"`
	Comments string   `xml:"my_comments"`
	Times    int      `xml:"my_times_watched"`
	Tags     string   `xml:"my_tags"`
	Update   int      `xml:"update_on_import"`
}

// exportMAL writes the anime that MyAnimeList has, as its own export is. A done entry without marks counts as watched whole, which it does on
// Bangumi.
func (k *Service) exportMAL(ctx context.Context, a account.Account, s Snapshot, to io.Writer) error {
	if _, err := io.WriteString(to, xml.Header+"<myanimelist>\n"); err != nil {
		return err
	}
	e := xml.NewEncoder(to)
	e.Indent(" ", " ")
	type info struct {
		XMLName xml.Name `xml:"myinfo"`
		Name    string   `xml:"user_name"`
		Type    int      `xml:"user_export_type"`
	}
	if err := e.Encode(info{Name: a.Username, Type: 1}); err != nil {
		return err
	}
	err := k.store.each(ctx, s, func(v version) error {
		code := 0
		if v.Entry.SubjectType == catalog.Anime {
			code = k.Code(v.Entry.Subject)
		}
		if code == 0 {
			return nil
		}
		watched := firstOnes(v)
		if v.Entry.Type == catalog.Done {
			watched = max(watched, v.Entry.About.Eps)
		}
		return e.Encode(malEntry{
			ID: code, Title: v.Entry.About.Name, Episodes: v.Entry.About.Eps, Watched: watched, Start: "0000-00-00", Finish: "0000-00-00", Score: v.Entry.Rate,
			Status: malNames[v.Entry.Type], Comments: v.Entry.Comment, Tags: strings.Join(v.Entry.Tags, ", "), Update: 1,
		})
	})
	if err == nil {
		_, err = io.WriteString(to, "\n</myanimelist>\n")
	}
	return err
}
