package idmap

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
)

const (
	// maxDocument bounds a document in bytes; that of 2026 has 7.3 million.
	maxDocument = 64 << 20
	// maxEntries bounds a table; that of 2026 has 8,404.
	maxEntries = 200_000
	// maxTitle bounds a title in bytes; longer ones are left out.
	maxTitle = 1000
	// maxTitles bounds the titles of an entry; what follows is left out.
	maxTitles = 1000
)

// errLarge is the error for a document of more than maxDocument bytes.
var errLarge = reason.Because.With(ErrFormat, tooLarge.With(maxDocument>>20))

// japan is the zone that days are counted in.
var japan = time.FixedZone("JST", 9*60*60)

// row is an entry on its way into a packed table.
type row struct {
	subject    catalog.SubjectID
	kind       uint8 // a place in kinds
	begin      watch.Date
	broadcast  Broadcast // the zero one when the document has none
	titles     []string
	references [sites][]reference
}

// item is what is read of an item of the document.
type item struct {
	Title          string
	TitleTranslate map[string][]string
	Type           string
	Begin          string
	Broadcast      string
	Sites          []struct{ Site, ID string }
}

// parse reads the document of bangumi-data, data.json, and gives its rows by subject. An
// item that cannot be read, and one without a subject, is left out; items of one
// subject become one row. The error wraps ErrFormat when it is not such a document, or is cut.
func parse(document io.Reader) ([]row, error) {
	decoder := json.NewDecoder(&bounded{from: document, left: maxDocument})
	found := map[catalog.SubjectID]*row{}
	if err := eachItem(decoder, func(i item) error {
		next, ok := i.row()
		if !ok {
			return nil
		}
		if known := found[next.subject]; known != nil {
			known.merge(next)
			return nil
		}
		if len(found) == maxEntries {
			return reason.Because.With(ErrFormat, tooManyEntries.With(maxEntries))
		}
		found[next.subject] = &next
		return nil
	}); err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, reason.Because.With(ErrFormat, noEntries)
	}
	rows := make([]row, 0, len(found))
	for _, subject := range slices.Sorted(maps.Keys(found)) {
		rows = append(rows, *found[subject])
	}
	return rows, nil
}

// eachItem gives every item of the document to take, and reads it to its end.
func eachItem(decoder *json.Decoder, take func(item) error) error {
	if err := expect(decoder, json.Delim('{')); err != nil {
		return err
	}
	seen := false
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return unreadable(err)
		}
		if key != "items" {
			var other json.RawMessage
			if err := decoder.Decode(&other); err != nil {
				return unreadable(err)
			}
			continue
		}
		seen = true
		if err := eachOf(decoder, take); err != nil {
			return err
		}
	}
	if err := expect(decoder, json.Delim('}')); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return reason.Because.With(ErrFormat, trailingText)
	}
	if !seen {
		return reason.Because.With(ErrFormat, noItems)
	}
	return nil
}

func eachOf(decoder *json.Decoder, take func(item) error) error {
	if err := expect(decoder, json.Delim('[')); err != nil {
		return err
	}
	for decoder.More() {
		var next item
		err := decoder.Decode(&next)
		var odd *json.UnmarshalTypeError
		if errors.As(err, &odd) {
			continue // one bad item does not lose the others
		}
		if err != nil {
			return unreadable(err)
		}
		if err := take(next); err != nil {
			return err
		}
	}
	return expect(decoder, json.Delim(']'))
}

func expect(decoder *json.Decoder, want json.Delim) error {
	token, err := decoder.Token()
	if err != nil {
		return unreadable(err)
	}
	if token != want {
		return reason.Because.With(ErrFormat, delimiterMissing.With(want))
	}
	return nil
}

// unreadable is the error for a document that ends early or is no JSON. A failure of
// what it is read from stays itself.
func unreadable(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return reason.Because.With(ErrFormat, endsEarly)
	case errors.As(err, &syntax):
		return reason.Because.With(ErrFormat, noJSON.With(syntax.Offset))
	}
	return err
}

// bounded fails when more is read than left.
type bounded struct {
	from io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errLarge
	}
	return n, err
}

// row is the entry that the item is; ok is false when it names no subject.
func (i item) row() (r row, ok bool) {
	for _, s := range i.Sites {
		switch s.Site {
		case "bangumi":
			if id, good := parseID(s.ID); good {
				r.subject = catalog.SubjectID(id.id)
			}
		case "tmdb":
			if at, id, good := parseTMDB(s.ID); good {
				r.refer(at, id)
			}
		default:
			if at, known := providers[strings.ToLower(s.Site)]; known {
				if id, good := parseID(s.ID); good {
					r.refer(at, id)
				}
			}
		}
	}
	if r.subject == 0 {
		return r, false
	}
	r.kind = uint8(max(0, slices.Index(kinds[:], Kind(i.Type))))
	if begin, err := time.Parse(time.RFC3339, i.Begin); err == nil && begin.Year() >= 1900 && begin.Year() <= 2200 {
		r.begin = watch.DateOf(begin.In(japan))
	}
	r.broadcast, _ = parseBroadcast(i.Broadcast)
	r.call(i.Title)
	for _, lang := range slices.Sorted(maps.Keys(i.TitleTranslate)) {
		for _, title := range i.TitleTranslate[lang] {
			r.call(title)
		}
	}
	return r, true
}

func (r *row) call(title string) {
	title = strings.TrimSpace(strings.ToValidUTF8(title, ""))
	if title != "" && len(title) <= maxTitle && len(r.titles) < maxTitles && !slices.Contains(r.titles, title) {
		r.titles = append(r.titles, title)
	}
}

func (r *row) refer(at site, id reference) {
	if len(r.references[at]) < maxIDs && !slices.Contains(r.references[at], id) {
		r.references[at] = append(r.references[at], id)
	}
}

// merge adds what another item tells of the same subject.
func (r *row) merge(other row) {
	r.kind = cmp.Or(r.kind, other.kind)
	if r.begin.IsZero() || !other.begin.IsZero() && other.begin.Time().Before(r.begin.Time()) {
		r.begin = other.begin
	}
	if other.broadcast.First.After(r.broadcast.First) { // the newest rule holds for what is on now
		r.broadcast = other.broadcast
	}
	for _, title := range other.titles {
		r.call(title)
	}
	for at, ids := range other.references {
		for _, id := range ids {
			r.refer(site(at), id)
		}
	}
}
