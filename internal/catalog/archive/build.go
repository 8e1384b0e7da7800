package archive

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"watchmark/internal/catalog/archive/dump"
	"watchmark/internal/catalog/archive/titles"
	"watchmark/internal/platform/db"
	"watchmark/internal/watch/title"
)

const (
	// Bounds on what one archive holds, several times what the catalog has.
	maxSubjects  = 1_000_000
	maxEpisodes  = 6_000_000
	maxRelations = 2_000_000
	// maxTitles and maxTitleBytes bound the titles of the index, which are in memory together.
	maxTitles     = 1_500_000
	maxTitleBytes = 64 << 20

	// packBytes is how many bytes of episodes are gathered before they are written.
	packBytes = 24 << 20
	// partBits is how many times the episodes of one subject may be written, as a power of two.
	partBits = 8
	// ownersStep is how many episodes share a row of owners.
	ownersStep = 512
)

// schema of an archive file. All that changes it must change format too.
const schema = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE subjects (id INTEGER PRIMARY KEY, type INTEGER NOT NULL, platform INTEGER NOT NULL, name TEXT NOT NULL, name_cn TEXT NOT NULL,
	aliases TEXT NOT NULL, date INTEGER NOT NULL, eps INTEGER NOT NULL, nsfw INTEGER NOT NULL, fans INTEGER NOT NULL);
CREATE TABLE episodes (part INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE owners (first INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE relations (subject_id INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE airing (day INTEGER PRIMARY KEY, body BLOB NOT NULL);
`

// format is the version of schema, of the packed bodies, and of how title.Key folds, which
// the index was made with: whoever changes one of them counts it up. An archive of
// another format is imported anew.
const format = 2

// Phase is what an import is doing.
type Phase string

// The phases of an import, in order. Subjects, episodes and relations are read at the
// same time.
const (
	Fetching Phase = "download"
	Reading  Phase = "read"
	Indexing Phase = "index"
	Writing  Phase = "write"
)

// Counts is what an archive holds.
type Counts struct {
	Subjects  int64 `json:"subjects"`
	Episodes  int64 `json:"episodes"`
	Relations int64 `json:"relations"`
	Titles    int64 `json:"titles"`
}

// builder turns a dump into an archive file and its title index.
type builder struct {
	dump     *dump.Dump
	workers  int
	progress *dump.Progress
	report   func(Phase)

	mu    sync.Mutex // guards tx
	tx    *sql.Tx
	parts int // how often episodes were written

	// kept is complete once keptReady is closed.
	kept      map[uint32]struct{}
	keptReady chan struct{}
	counts    Counts
	owners    [][]uint64 // of each pack: episode id<<32 | subject
	airing    [][]uint64 // of each pack: day<<32 | subject
}

// build writes the archive of d to the new files at path and indexPath, with what meta
// answers when the counts are known.
//
// It leaves the limits of the garbage collector alone, because the rest of the service shares them.
// After each step that leaves much garbage it collects that itself and returns the memory.
func build(ctx context.Context, d *dump.Dump, path, indexPath string, meta func(Counts) (map[string]string, error), progress *dump.Progress, report func(Phase)) (err error) {
	defer func() {
		debug.FreeOSMemory() // else a service would keep for long what only the import needed
	}()

	if err := os.WriteFile(path, nil, 0o600); err != nil { // SQLite would let others read it
		return creating.With(err)
	}
	file := db.CreateFile(path)
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}()
	if _, err = file.ExecContext(ctx, schema); err != nil {
		return creating.With(err)
	}
	tx, err := file.BeginTx(ctx, nil)
	if err != nil {
		return creating.With(err)
	}
	defer func() { _ = tx.Rollback() }() // without a commit the file is thrown away
	b := &builder{
		dump: d, workers: max(1, min(runtime.GOMAXPROCS(0), 4)), progress: progress, report: report,
		tx: tx, kept: map[uint32]struct{}{}, keptReady: make(chan struct{}),
	}
	if err = b.run(ctx, indexPath); err != nil {
		return err
	}
	report(Writing)
	rows, err := meta(b.counts)
	if err != nil {
		return err
	}
	for name, value := range rows {
		if _, err = tx.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES (?, ?)`, name, value); err != nil {
			return writing.With(cmp.Or(ctx.Err(), err)) // a cancelled transaction says but that it was rolled back
		}
	}
	if err = tx.Commit(); err != nil {
		return writing.With(cmp.Or(ctx.Err(), err))
	}
	return nil
}

// run reads the members side by side and makes the index as soon as the titles are known.
func (b *builder) run(ctx context.Context, indexPath string) error {
	b.report(Reading)
	g, reading := errgroup.WithContext(ctx)
	g.Go(func() error {
		lists, err := b.readSubjects(reading)
		if err != nil {
			return err
		}
		close(b.keptReady)
		if err := b.readRelations(reading); err != nil {
			return err
		}
		debug.FreeOSMemory()
		b.report(Indexing)
		n, err := titles.Build(reading, indexPath, b.workers, lists...)
		b.counts.Titles = int64(n)
		return err
	})
	g.Go(func() error { return b.readEpisodes(reading) })
	if err := g.Wait(); err != nil {
		return err
	}
	if err := b.writeOwners(ctx); err != nil {
		return err
	}
	return b.writeAiring(ctx)
}

// readSubjects writes the subjects and answers their titles, folded and sorted, in one list a worker.
func (b *builder) readSubjects(ctx context.Context) ([][]titles.Entry, error) {
	lists := make([][]titles.Entry, b.workers)
	seen := make([][]uint32, b.workers)
	batches := make([][]dump.Subject, b.workers)
	var number, bytes atomic.Int64 // of the titles
	err := b.dump.EachSubject(ctx, b.workers, b.progress, func(worker int, s dump.Subject) error {
		seen[worker] = append(seen[worker], uint32(s.ID))
		before := len(lists[worker])
		lists[worker] = appendTitles(lists[worker], s)
		for _, added := range lists[worker][before:] {
			if number.Add(1) > maxTitles || bytes.Add(int64(len(added.Key))) > maxTitleBytes {
				return &dump.Error{Member: dump.Subjects, What: manyTitles.With(maxTitles, maxTitleBytes>>20)}
			}
		}
		batches[worker] = append(batches[worker], s)
		if len(batches[worker]) < 256 {
			return nil
		}
		batch := batches[worker]
		batches[worker] = batch[:0]
		return b.writeSubjects(ctx, batch)
	})
	if err != nil {
		return nil, err
	}
	for _, batch := range batches {
		if err := b.writeSubjects(ctx, batch); err != nil {
			return nil, err
		}
	}
	debug.FreeOSMemory()
	for _, ids := range seen {
		for _, id := range ids {
			b.kept[id] = struct{}{}
		}
	}
	var g errgroup.Group
	for _, list := range lists {
		g.Go(func() error {
			titles.Sort(list)
			return nil
		})
	}
	return lists, g.Wait()
}

// appendTitles adds the titles of a subject as the index wants them.
func appendTitles(list []titles.Entry, s dump.Subject) []titles.Entry {
	add := func(text string, kind titles.Kind) {
		if key := title.Key(text); key != "" {
			list = append(list, titles.Entry{Key: key, Subject: uint32(s.ID), Type: uint8(s.Type), Kind: kind})
		}
	}
	add(s.Name, titles.Name)
	add(s.NameCN, titles.NameCN)
	for _, alias := range s.Aliases {
		add(alias, titles.Alias)
	}
	return list
}

func (b *builder) writeSubjects(ctx context.Context, batch []dump.Subject) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range batch {
		nsfw := 0
		if s.NSFW {
			nsfw = 1
		}
		done, err := b.tx.ExecContext(ctx, `INSERT INTO subjects (id, type, platform, name, name_cn, aliases, date, eps, nsfw, fans)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			int64(s.ID), int64(s.Type), int64(s.Platform), s.Name, s.NameCN, strings.Join(s.Aliases, "\n"), int64(packDate(s.Date)), int64(s.Eps), nsfw, int64(s.Fans))
		if err != nil {
			return writeSubject.With(s.ID, err)
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(&dump.Error{Member: dump.Subjects, What: subjectTwice.With(s.ID)}, err)
		}
		if b.counts.Subjects++; b.counts.Subjects > maxSubjects {
			return &dump.Error{Member: dump.Subjects, What: manySubjects.With(maxSubjects)}
		}
	}
	return nil
}

// pack is the episodes that one worker has gathered.
type pack struct {
	refs []packRef
	body []byte
}

type packRef struct {
	subject, id uint32
	from, to    uint32 // in body
	day         uint32 // on which it airs, as dayOf gives it
}

func (b *builder) readEpisodes(ctx context.Context) error {
	packs := make([]pack, b.workers)
	limit := packBytes / b.workers
	for i := range packs {
		packs[i] = pack{body: make([]byte, 0, limit), refs: make([]packRef, 0, limit/64)}
	}
	var rows atomic.Int64
	err := b.dump.EachEpisode(ctx, b.workers, b.progress, func(worker int, e *dump.Episode) error {
		p := &packs[worker]
		from := len(p.body)
		p.body = appendEpisode(p.body, e)
		p.refs = append(p.refs, packRef{uint32(e.Subject), uint32(e.ID), uint32(from), uint32(len(p.body)), uint32(dayOf(e.AirDate))})
		if len(p.body)+20*len(p.refs) < limit {
			return nil
		}
		if rows.Add(int64(len(p.refs))) > maxEpisodes {
			return &dump.Error{Member: dump.Episodes, What: manyEpisodes.With(maxEpisodes)}
		}
		return b.writePack(ctx, p)
	})
	if err != nil {
		return err
	}
	for i := range packs {
		if err := b.writePack(ctx, &packs[i]); err != nil {
			return err
		}
	}
	return nil
}

// writePack writes what was gathered, without the episodes of subjects that are not
// there, and empties it.
func (b *builder) writePack(ctx context.Context, p *pack) error {
	select {
	case <-b.keptReady:
	case <-ctx.Done():
		return ctx.Err()
	}
	slices.SortFunc(p.refs, func(x, y packRef) int {
		return cmp.Or(cmp.Compare(x.subject, y.subject), cmp.Compare(x.id, y.id))
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.parts++; b.parts > 1<<partBits {
		return &dump.Error{Member: dump.Episodes, What: muchText.With()}
	}
	var body []byte
	owners, airing := make([]uint64, 0, len(p.refs)), make([]uint64, 0, len(p.refs))
	for refs := p.refs; len(refs) > 0; {
		subject := refs[0].subject
		n := 1
		for n < len(refs) && refs[n].subject == subject {
			n++
		}
		group := refs[:n]
		refs = refs[n:]
		if _, kept := b.kept[subject]; !kept {
			continue
		}
		body = body[:0]
		before, day := uint32(0), uint32(0)
		for _, r := range group {
			body = binary.AppendVarint(body, int64(r.id)-int64(before))
			body = append(body, p.body[r.from:r.to]...)
			before = r.id
			owners = append(owners, uint64(r.id)<<32|uint64(subject))
			if r.day != 0 && r.day != day {
				day = r.day
				airing = append(airing, uint64(day)<<32|uint64(subject))
			}
		}
		part := int64(subject)<<partBits | int64(b.parts-1)
		if _, err := b.tx.ExecContext(ctx, `INSERT INTO episodes (part, body) VALUES (?, ?)`, part, body); err != nil {
			return writeEpisodes.With(subject, err)
		}
		b.counts.Episodes += int64(n)
	}
	b.owners, b.airing = append(b.owners, owners), append(b.airing, airing)
	p.refs, p.body = p.refs[:0], p.body[:0]
	debug.FreeOSMemory()
	return nil
}

// readRelations writes the relations whose ends are both there, each once.
func (b *builder) readRelations(ctx context.Context) error {
	type relation struct {
		subject, related uint32
		code, order      int32
	}
	lists := make([][]relation, b.workers)
	var rows atomic.Int64
	err := b.dump.EachRelation(ctx, b.workers, b.progress, func(worker int, r dump.Relation) error {
		_, from := b.kept[uint32(r.Subject)]
		_, to := b.kept[uint32(r.Related)]
		if !from || !to {
			return nil
		}
		if rows.Add(1) > maxRelations {
			return &dump.Error{Member: dump.Relations, What: manyRelations.With(maxRelations)}
		}
		lists[worker] = append(lists[worker], relation{uint32(r.Subject), uint32(r.Related), int32(r.Code), int32(r.Order)})
		return nil
	})
	if err != nil {
		return err
	}
	all := slices.Concat(lists...)
	same := func(x, y relation) int {
		return cmp.Or(cmp.Compare(x.subject, y.subject), cmp.Compare(x.related, y.related), cmp.Compare(x.code, y.code))
	}
	slices.SortFunc(all, func(x, y relation) int { return cmp.Or(same(x, y), cmp.Compare(x.order, y.order)) })
	all = slices.CompactFunc(all, func(x, y relation) bool { return same(x, y) == 0 })
	slices.SortFunc(all, func(x, y relation) int {
		return cmp.Or(cmp.Compare(x.subject, y.subject), cmp.Compare(x.order, y.order), same(x, y))
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.Relations = int64(len(all))
	var body []byte
	for len(all) > 0 {
		subject := all[0].subject
		body = body[:0]
		for len(all) > 0 && all[0].subject == subject {
			body = binary.AppendUvarint(body, uint64(all[0].related))
			body = binary.AppendUvarint(body, uint64(max(all[0].code, 0)))
			all = all[1:]
		}
		if _, err := b.tx.ExecContext(ctx, `INSERT INTO relations (subject_id, body) VALUES (?, ?)`, int64(subject), body); err != nil {
			return writeRelations.With(subject, err)
		}
	}
	return nil
}

// writeOwners writes which subject an episode belongs to, many to a row: the
// differences of the ids and the subjects. It finds out whether an id is there twice.
func (b *builder) writeOwners(ctx context.Context) error {
	owners := slices.Concat(b.owners...)
	slices.Sort(owners)
	var body []byte
	for rest := owners; len(rest) > 0; {
		n := min(ownersStep, len(rest))
		body = body[:0]
		id, subject := uint64(0), int64(0)
		for _, pair := range rest[:n] {
			if pair>>32 == id {
				return &dump.Error{Member: dump.Episodes, What: episodeTwice.With(id)}
			}
			body = binary.AppendUvarint(body, pair>>32-id)
			body = binary.AppendVarint(body, int64(uint32(pair))-subject)
			id, subject = pair>>32, int64(uint32(pair))
		}
		if _, err := b.tx.ExecContext(ctx, `INSERT INTO owners (first, body) VALUES (?, ?)`, int64(rest[0]>>32), body); err != nil {
			return writeOwners.With(err)
		}
		if rest = rest[n:]; len(rest) > 0 && rest[0]>>32 == id {
			return &dump.Error{Member: dump.Episodes, What: episodeTwice.With(id)}
		}
	}
	return nil
}

// writeAiring writes for each day the subjects of which an episode airs on it, as differences.
func (b *builder) writeAiring(ctx context.Context) error {
	airing := slices.Concat(b.airing...)
	slices.Sort(airing)
	var body []byte
	for rest := slices.Compact(airing); len(rest) > 0; {
		day := rest[0] >> 32
		body = body[:0]
		before := uint64(0)
		for len(rest) > 0 && rest[0]>>32 == day {
			subject := rest[0] & 0xFFFFFFFF
			body = binary.AppendUvarint(body, subject-before)
			before, rest = subject, rest[1:]
		}
		if _, err := b.tx.ExecContext(ctx, `INSERT INTO airing (day, body) VALUES (?, ?)`, int64(day), body); err != nil {
			return writeAiring.With(err)
		}
	}
	return nil
}
