package idmap

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
	"watchmark/internal/platform/reason"
)

const (
	// maxList bounds a list in bytes; that of 2026 has 1.7 million.
	maxList = 32 << 20
	// maxAnime bounds the entries of a list; that of 2026 has 10,731.
	maxAnime = 100_000
	// maxExceptions bounds what a list says of single episodes of one entry; the longest of 2026 has 120 pairs.
	maxExceptions = 5_000
)

// ReadAnimeLists reads anime-list.xml of Anime-Lists. What it does not understand of an entry it leaves out, since one bad
// entry is not to lose the others. The error wraps errListFormat when it is not such a list, or is cut.
func ReadAnimeLists(document io.Reader) (*Seasons, error) {
	decoder := xml.NewDecoder(document)
	root, err := firstElement(decoder)
	if err != nil {
		return nil, noList(err)
	}
	if root.Name.Local != "anime-list" {
		return nil, reason.Because.With(errListFormat, delimiterMissing.With("anime-list"))
	}
	list := &Seasons{Name: "Anime-Lists", of: aniDB}
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil, noList(err)
		}
		switch element := token.(type) {
		case xml.StartElement:
			if element.Name.Local != "anime" {
				if err := decoder.Skip(); err != nil {
					return nil, noList(err)
				}
				continue
			}
			var item listed
			if err := decoder.DecodeElement(&item, &element); err != nil {
				return nil, noList(err)
			}
			if len(list.entries) == maxAnime {
				return nil, reason.Because.With(errListFormat, tooManyEntries.With(maxAnime))
			}
			list.add(item)
		case xml.EndElement: // that of the root: what follows it says nothing
			if len(list.entries) == 0 {
				return nil, reason.Because.With(errListFormat, noItems)
			}
			list.index()
			return list, nil
		}
	}
}

// firstElement skips what stands before the root.
func firstElement(decoder *xml.Decoder) (xml.StartElement, error) {
	for {
		token, err := decoder.Token()
		if err != nil {
			return xml.StartElement{}, err
		}
		if element, ok := token.(xml.StartElement); ok {
			return element, nil
		}
	}
}

// noList is the error for a document that ends early or is no XML. A failure of what it is read from stays itself.
func noList(err error) error {
	var syntax *xml.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return reason.Because.With(errListFormat, endsEarly)
	case errors.As(err, &syntax):
		return reason.Because.With(errListFormat, noXML.With(syntax.Line))
	}
	return err
}

// listed is what is read of an entry of the list.
type listed struct {
	AniDB      string `xml:"anidbid,attr"`
	TVDB       string `xml:"tvdbid,attr"`
	Season     string `xml:"defaulttvdbseason,attr"`
	Offset     string `xml:"episodeoffset,attr"`
	TMDB       string `xml:"tmdbtv,attr"`
	TMDBSeason string `xml:"tmdbseason,attr"`
	TMDBOffset string `xml:"tmdboffset,attr"`
	TMDBFilms  string `xml:"tmdbid,attr"`
	IMDBFilms  string `xml:"imdbid,attr"`
	Name       string `xml:"name"`
	Mappings   []struct {
		AniDBSeason string `xml:"anidbseason,attr"`
		TVDBSeason  string `xml:"tvdbseason,attr"`
		TMDBSeason  string `xml:"tmdbseason,attr"`
		Start       string `xml:"start,attr"`
		End         string `xml:"end,attr"`
		Offset      string `xml:"offset,attr"`
		Pairs       string `xml:",chardata"`
	} `xml:"mapping-list>mapping"`
}

// add takes an entry up; one without an id is left out.
func (l *Seasons) add(item listed) {
	id, ok := parseID(item.AniDB)
	if !ok {
		return
	}
	a := anime{id: id.id}
	if name := strings.TrimSpace(strings.ToValidUTF8(item.Name, "")); len(name) <= maxTitle {
		a.name = strings.Clone(name)
	}
	a.at[TVDB] = numberedOf(item.TVDB, item.Season, item.Offset)
	a.at[TMDB] = numberedOf(item.TMDB, item.TMDBSeason, item.TMDBOffset)
	left := maxExceptions
	for _, m := range item.Mappings {
		if m.AniDBSeason != "0" && m.AniDBSeason != "1" || left <= 0 {
			continue
		}
		row := exception{special: m.AniDBSeason == "0", season: [numberings]int16{seasonOf(m.TVDBSeason), seasonOf(m.TMDBSeason)}}
		row.start, row.end, row.offset = number(m.Start), number(m.End), number(m.Offset)
		row.pairs = pairsOf(m.Pairs, left)
		if row.start == 0 && len(row.pairs) == 0 {
			continue
		}
		left -= 1 + len(row.pairs)
		a.rows = append(a.rows, row)
	}
	for _, films := range []struct {
		ids  string
		imdb bool
	}{{item.IMDBFilms, true}, {item.TMDBFilms, false}} {
		for i, text := range strings.SplitN(films.ids, ",", maxIDs) {
			if id, ok := parseID(strings.TrimPrefix(strings.TrimSpace(text), "tt")); ok {
				l.films = append(l.films, filmID{imdb: films.imdb, id: id.id, part: uint16(i + 1), of: a.id})
			}
		}
	}
	l.entries = append(l.entries, a)
}

// numberedOf reads where the regular episodes of an entry stand; series may be a word, such as "movie".
func numberedOf(series, season, offset string) numbered {
	id, ok := parseID(series)
	if !ok {
		return numbered{season: unnumbered}
	}
	return numbered{series: id.id, season: seasonOf(season), offset: number(offset)}
}

func seasonOf(text string) int16 {
	if text == "a" {
		return through
	}
	n, err := strconv.ParseUint(text, 10, 15)
	if err != nil {
		return unnumbered
	}
	return int16(n)
}

// number reads a number that may be missing; one that cannot be read is 0, too.
func number(text string) int16 {
	n, err := strconv.ParseInt(text, 10, 16)
	if err != nil {
		return 0
	}
	return int16(n)
}

// pairsOf reads ";1-5;2-6+7;": an episode of AniDB and those that it is at the site. At most most are read.
func pairsOf(text string, most int) []pair {
	var pairs []pair
	for field := range strings.SplitSeq(strings.TrimSpace(text), ";") {
		own, there, ok := strings.Cut(strings.TrimSpace(field), "-")
		if !ok || number(own) <= 0 {
			continue
		}
		for part := range strings.SplitSeq(there, "+") {
			if n, err := strconv.ParseUint(strings.TrimSpace(part), 10, 15); err == nil && len(pairs) < most {
				pairs = append(pairs, pair{number(own), int16(n)})
			}
		}
	}
	return pairs
}
