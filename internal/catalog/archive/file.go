package archive

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/archive/titles"
	"watchmark/internal/platform/db"
	"watchmark/internal/watch"
)

// Info says what an archive is.
type Info struct {
	// Version is that of the dump: its time for a published one, else the beginning of its digest.
	Version    string    `json:"version"`
	Digest     string    `json:"digest" doc:"SHA-256 of the dump, in hex."`
	DumpSize   int64     `json:"dump_size" doc:"Bytes of the dump's zip."`
	ImportedAt time.Time `json:"imported_at,omitzero"`
	Counts
}

// metaInfo is the row of meta that holds an Info as JSON; metaFormat the format.
const (
	metaInfo   = "info"
	metaFormat = "format"
)

// file is one archive, open for reading. It may be used by several goroutines.
type file struct {
	db    *sql.DB
	index *titles.Index
	info  Info

	// using is held for reading by every look-up, and for writing by close.
	using  sync.RWMutex
	closed bool
}

func openFile(ctx context.Context, path, indexPath string) (*file, error) {
	database, err := db.OpenFile(ctx, path)
	if err != nil {
		return nil, opening.With(err)
	}
	f := &file{db: database}
	if err = f.readInfo(ctx); err == nil {
		f.index, err = titles.Open(indexPath)
	}
	if err != nil {
		return nil, errors.Join(opening.With(err), f.db.Close())
	}
	return f, nil
}

func (f *file) readInfo(ctx context.Context) error {
	var written string
	if err := f.db.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = ?`, metaFormat).Scan(&written); err != nil {
		return err
	}
	if written != fmt.Sprint(format) {
		return errFormat
	}
	var info []byte
	if err := f.db.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = ?`, metaInfo).Scan(&info); err != nil {
		return err
	}
	return json.Unmarshal(info, &f.info)
}

// close waits for the look-ups under way.
func (f *file) close() error {
	f.using.Lock()
	defer f.using.Unlock()
	f.closed = true
	return errors.Join(f.index.Close(), f.db.Close())
}

const subjectColumns = `id, type, platform, name, name_cn, aliases, date, eps, nsfw, fans`

// stored is a subject with what only the archive knows of it.
type stored struct {
	catalog.Subject
	fans int
}

func scanSubject(scan func(...any) error) (stored, error) {
	var s stored
	var platform int
	var aliases string
	var date uint64
	if err := scan(&s.ID, &s.Type, &platform, &s.Name, &s.NameCN, &aliases, &date, &s.Eps, &s.NSFW, &s.fans); err != nil {
		return s, err
	}
	s.Platform, s.Date = catalog.PlatformLabel(s.Type, platform), unpackDate(date)
	if aliases != "" {
		s.Aliases = strings.Split(aliases, "\n")
	}
	return s, nil
}

func (f *file) subject(ctx context.Context, id catalog.SubjectID) (stored, error) {
	s, err := scanSubject(f.db.QueryRowContext(ctx, `SELECT `+subjectColumns+` FROM subjects WHERE id = ?`, int64(id)).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return s, noSubject.With(id, catalog.ErrNotFound)
	}
	if err != nil {
		return s, readSubject.With(id, err)
	}
	return s, nil
}

func (f *file) relations(ctx context.Context, id catalog.SubjectID) ([]catalog.Relation, error) {
	links, err := f.links(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(links) == 0 {
		_, err := f.subject(ctx, id)
		return []catalog.Relation{}, err
	}
	relations := make([]catalog.Relation, 0, len(links))
	for _, l := range links {
		r := catalog.Relation{ID: l.to}
		err := f.db.QueryRowContext(ctx, `SELECT type, name, name_cn FROM subjects WHERE id = ?`, int64(l.to)).Scan(&r.Type, &r.Name, &r.NameCN)
		if err != nil {
			return nil, readRelations.With(id, err)
		}
		r.Label = catalog.RelationLabel(r.Type, l.code)
		relations = append(relations, r)
	}
	return relations, nil
}

// link is a relation as it is stored.
type link struct {
	to   catalog.SubjectID
	code int
}

func (f *file) links(ctx context.Context, id catalog.SubjectID) ([]link, error) {
	var body []byte
	err := f.db.QueryRowContext(ctx, `SELECT body FROM relations WHERE subject_id = ?`, int64(id)).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, readRelations.With(id, err)
	}
	var links []link
	r := reader{body: body}
	for len(r.body) > 0 {
		links = append(links, link{to: catalog.SubjectID(r.uvarint()), code: int(r.uvarint())})
	}
	return links, r.err()
}

// chain is the subjects that prequels and sequels lead to from one, itself among them, by date.
func (f *file) chain(ctx context.Context, id catalog.SubjectID) ([]catalog.Subject, error) {
	start, err := f.subject(ctx, id)
	if err != nil {
		return nil, err
	}
	const most = 64
	seen := map[catalog.SubjectID]bool{id: true}
	chain := []catalog.Subject{start.Subject}
	for i := 0; i < len(chain) && len(chain) < most; i++ {
		links, err := f.links(ctx, chain[i].ID)
		if err != nil {
			return nil, err
		}
		for _, l := range links {
			if l.code != catalog.CodePrequel && l.code != catalog.CodeSequel || seen[l.to] {
				continue
			}
			seen[l.to] = true
			next, err := f.subject(ctx, l.to)
			if err != nil {
				return nil, err
			}
			if next.Type == start.Type {
				chain = append(chain, next.Subject)
			}
		}
	}
	slices.SortStableFunc(chain, func(x, y catalog.Subject) int { return x.Date.Time().Compare(y.Date.Time()) })
	return chain, nil
}

func (f *file) episodes(ctx context.Context, id catalog.SubjectID) (list []catalog.EpisodeInfo, err error) {
	defer func() {
		if err != nil {
			err = readEpisodes.With(id, err)
		}
	}()
	rows, err := f.db.QueryContext(ctx, `SELECT body FROM episodes WHERE part >= ? AND part < ?`, int64(id)<<partBits, (int64(id)+1)<<partBits)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err tells what went wrong
	var body sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&body); err != nil {
			return nil, err
		}
		if list, err = unpack(list, id, body); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		if _, err := f.subject(ctx, id); err != nil {
			return nil, err
		}
		return []catalog.EpisodeInfo{}, nil
	}
	arrange(list)
	return list, nil
}

// owner is the subject that an episode belongs to.
func (f *file) owner(ctx context.Context, id catalog.EpisodeID) (catalog.SubjectID, error) {
	var body []byte
	err := f.db.QueryRowContext(ctx, `SELECT body FROM owners WHERE first <= ? ORDER BY first DESC LIMIT 1`, int64(id)).Scan(&body)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, readEpisode.With(id, err)
	}
	episode, subject := uint64(0), int64(0)
	for r := (reader{body: body}); len(r.body) > 0; {
		episode += r.uvarint()
		subject += r.varint()
		if episode == uint64(id) && !r.bad {
			return catalog.SubjectID(subject), nil
		}
	}
	return 0, noEpisode.With(id, catalog.ErrNotFound)
}

// airingOn is the subjects of which an episode airs from one day to another, each once.
func (f *file) airingOn(ctx context.Context, from, to watch.Date) ([]catalog.SubjectID, error) {
	rows, err := f.db.QueryContext(ctx, `SELECT body FROM airing WHERE day BETWEEN ? AND ? ORDER BY day`, int64(dayOf(from)), int64(dayOf(to)))
	if err != nil {
		return nil, readAiring.With(from, to, err)
	}
	defer func() { _ = rows.Close() }()
	var list []catalog.SubjectID
	seen := map[catalog.SubjectID]bool{}
	for rows.Next() {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return nil, readAiring.With(from, to, err)
		}
		r := reader{body: body}
		for id := catalog.SubjectID(0); len(r.body) > 0; {
			id += catalog.SubjectID(r.uvarint())
			if !seen[id] {
				seen[id] = true
				list = append(list, id)
			}
		}
		if err := r.err(); err != nil {
			return nil, err
		}
	}
	return list, rows.Err()
}

func (f *file) onAir(ctx context.Context, from, to watch.Date) ([]catalog.Subject, error) {
	ids, err := f.airingOn(ctx, from, to)
	if err != nil {
		return nil, err
	}
	subjects := make([]catalog.Subject, 0, len(ids))
	for _, id := range ids {
		s, err := f.subject(ctx, id)
		if err != nil {
			return nil, err
		}
		subjects = append(subjects, s.Subject)
	}
	return subjects, nil
}

// Airing is an episode with its subject.
type Airing struct {
	Subject catalog.Subject
	Episode catalog.EpisodeInfo
}

// airing is the episodes that air from one day to another, the earliest first; see Archive.Airing.
func (f *file) airing(ctx context.Context, from, to watch.Date, of func(catalog.SubjectID) bool) ([]Airing, error) {
	subjects, err := f.airingOn(ctx, from, to)
	if err != nil {
		return nil, err
	}
	list := []Airing{}
	for _, id := range subjects {
		if of != nil && !of(id) {
			continue
		}
		episodes, err := f.episodes(ctx, id)
		if err != nil {
			return nil, err
		}
		var subject stored
		for _, e := range episodes {
			if day := dayOf(e.AirDate); day < dayOf(from) || day > dayOf(to) {
				continue
			}
			if subject.ID == 0 {
				if subject, err = f.subject(ctx, id); err != nil {
					return nil, err
				}
			}
			list = append(list, Airing{Subject: subject.Subject, Episode: e})
		}
	}
	slices.SortStableFunc(list, func(a, b Airing) int { return cmp.Compare(dayOf(a.Episode.AirDate), dayOf(b.Episode.AirDate)) })
	return list, nil
}
