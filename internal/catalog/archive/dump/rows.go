package dump

import (
	"bytes"
	"context"
	"errors"
	"math"
	"unicode/utf8"

	"github.com/valyala/fastjson"

	"watchmark/internal/catalog"
	"watchmark/internal/watch"
)

// maxID is the largest id that the catalog's database can hold.
const maxID = math.MaxInt32

// Subject is a row of subject.jsonlines (upstreams/archive.md section 4).
type Subject struct {
	ID       catalog.SubjectID
	Type     catalog.SubjectType
	Name     string
	NameCN   string
	Aliases  []string
	Platform int // a code that depends on Type
	Date     watch.Date
	Eps      int // the wiki's count; 0 when it gives none
	NSFW     bool
	// Fans is how many people have the subject on a list.
	Fans int
}

// Episode is a row of episode.jsonlines (section 5). Its texts share the memory of the
// line: they are gone when the function that is given the row returns.
type Episode struct {
	ID      catalog.EpisodeID
	Subject catalog.SubjectID
	Type    catalog.EpisodeType
	Sort    float64
	Disc    int
	Name    []byte
	NameCN  []byte
	AirDate watch.Date
}

// Relation is a row of subject-relations.jsonlines (section 6): Related is the Code of Subject.
type Relation struct {
	Subject catalog.SubjectID
	Related catalog.SubjectID
	Code    int
	Order   int
}

// EachSubject reads the anime and live action among the subjects. use is called by
// workers goroutines, each with its number. Errors of the dump are *Error.
func (d *Dump) EachSubject(ctx context.Context, workers int, p *Progress, use func(worker int, s Subject) error) error {
	return d.eachRow(ctx, Subjects, workers, p, isOfOtherType, func(worker int, v *fastjson.Value) error {
		s, err := subjectOf(v)
		if err != nil {
			return err
		}
		if s.Type != catalog.Anime && s.Type != catalog.Real {
			return nil
		}
		return use(worker, s)
	})
}

// EachEpisode reads the episodes of all subjects, as EachSubject does.
func (d *Dump) EachEpisode(ctx context.Context, workers int, p *Progress, use func(worker int, e *Episode) error) error {
	rows := make([]Episode, workers)
	return d.eachRow(ctx, Episodes, workers, p, nil, func(worker int, v *fastjson.Value) error {
		e := &rows[worker]
		*e = Episode{
			Type: catalog.EpisodeType(v.GetInt("type")), Sort: v.GetFloat64("sort"), Disc: v.GetInt("disc"),
			Name: cut(v.GetStringBytes("name")), NameCN: cut(v.GetStringBytes("name_cn")), AirDate: dateOf(v.GetStringBytes("airdate")),
		}
		id, subject := idOf(v, "id"), idOf(v, "subject_id")
		if id == 0 || subject == 0 {
			return &Error{What: noEpisodeID.With()}
		}
		if math.IsNaN(e.Sort) || e.Sort < 0 || e.Sort > 1e6 { // the parser takes nan for a number
			e.Sort = 0
		}
		e.ID, e.Subject = catalog.EpisodeID(id), catalog.SubjectID(subject)
		return use(worker, e)
	})
}

// EachRelation reads the relations between all subjects, as EachSubject does.
func (d *Dump) EachRelation(ctx context.Context, workers int, p *Progress, use func(worker int, r Relation) error) error {
	return d.eachRow(ctx, Relations, workers, p, nil, func(worker int, v *fastjson.Value) error {
		subject, related := idOf(v, "subject_id"), idOf(v, "related_subject_id")
		if subject == 0 || related == 0 {
			return &Error{What: noRelationID.With()}
		}
		return use(worker, Relation{
			Subject: catalog.SubjectID(subject), Related: catalog.SubjectID(related),
			Code: v.GetInt("relation_type"), Order: v.GetInt("order"),
		})
	})
}

// eachRow decodes the lines of a member, but for those that skip recognises undecoded.
func (d *Dump) eachRow(ctx context.Context, member string, workers int, p *Progress, skip func([]byte) bool, use func(int, *fastjson.Value) error) error {
	parsers := make([]fastjson.Parser, workers)
	return d.eachChunk(ctx, member, workers, p, func(worker int, c chunk) error {
		err := c.eachLine(func(number int, line []byte) error {
			if skip != nil && skip(line) {
				return nil
			}
			v, err := decode(&parsers[worker], line)
			if err == nil {
				err = use(worker, v)
			}
			return at(err, number)
		})
		return in(err, member)
	})
}

// decode reads one line, which must be a JSON object in UTF-8.
func decode(p *fastjson.Parser, line []byte) (*fastjson.Value, error) {
	if !utf8.Valid(line) {
		return nil, &Error{What: noUTF8.With()}
	}
	if len(line) > longLine && bytes.Count(line, []byte{','})+bytes.Count(line, []byte{'['})+bytes.Count(line, []byte{'{'}) > maxParts {
		return nil, &Error{What: manyParts.With()}
	}
	v, err := p.ParseBytes(line)
	if err != nil {
		// The library's own words quote the rest of the line, however long it is.
		return nil, &Error{What: noJSON.With()}
	}
	if v.Type() != fastjson.TypeObject {
		return nil, &Error{What: noObject.With()}
	}
	return v, nil
}

// at adds the line to an error of the dump.
func at(err error, line int) error {
	var e *Error
	if errors.As(err, &e) && e.Line == 0 {
		e.Line = line
	}
	return err
}

// in adds the member to an error of the dump.
func in(err error, member string) error {
	var e *Error
	if errors.As(err, &e) && e.Member == "" {
		e.Member = member
	}
	return err
}

// isOfOtherType recognises most subjects that are neither anime nor live action by how
// their line begins: four of five lines need not be decoded. It says no when in doubt.
func isOfOtherType(line []byte) bool {
	rest, ok := after(line, "{", `"id"`, ":")
	if !ok {
		return false
	}
	for len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' {
		rest = rest[1:]
	}
	if rest, ok = after(rest, ",", `"type"`, ":"); !ok {
		return false
	}
	kind := bytes.TrimLeft(rest, " ")
	return len(kind) > 1 && kind[1] == ',' && (kind[0] == '1' || kind[0] == '3' || kind[0] == '4')
}

// after is what follows the tokens that text must begin with, spaces aside.
func after(text []byte, tokens ...string) (rest []byte, ok bool) {
	for _, token := range tokens {
		text = bytes.TrimLeft(text, " ")
		if len(text) < len(token) || string(text[:len(token)]) != token {
			return nil, false
		}
		text = text[len(token):]
	}
	return bytes.TrimLeft(text, " "), true
}

func subjectOf(v *fastjson.Value) (Subject, error) {
	id := idOf(v, "id")
	if id == 0 {
		return Subject{}, &Error{What: noID.With()}
	}
	s := Subject{
		ID: catalog.SubjectID(id), Type: catalog.SubjectType(v.GetInt("type")), Platform: v.GetInt("platform"), NSFW: v.GetBool("nsfw"),
		Name: text(v.GetStringBytes("name")), NameCN: text(v.GetStringBytes("name_cn")), Date: dateOf(v.GetStringBytes("date")),
	}
	if s.Type != catalog.Anime && s.Type != catalog.Real {
		return s, nil
	}
	for _, list := range []string{"wish", "done", "doing", "on_hold", "dropped"} {
		s.Fans += max(0, min(v.GetInt("favorite", list), 1<<24))
	}
	box := readInfobox(v.GetStringBytes("infobox"), s.Name, s.NameCN)
	s.Aliases, s.Eps = box.aliases, box.eps
	return s, nil
}

// idOf is the id in a field; 0 when there is none that the catalog could have given.
func idOf(v *fastjson.Value, field string) int {
	id := v.GetInt64(field)
	if id < 1 || id > maxID {
		return 0
	}
	return int(id)
}

// dateOf reads a date as watch.ParseDate does; what is longer than any is cut.
func dateOf(text []byte) watch.Date { return watch.ParseDate(string(text[:min(len(text), 32)])) }
