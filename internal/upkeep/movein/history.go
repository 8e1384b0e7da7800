package movein

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/match"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// History counts watches.
type History struct {
	// Past came out there and are kept as they did; Open waited there and go through the engine.
	Past, Open int
	// Known were taken before.
	Known int
	// Unusable cannot be read: no title, no time, or numbers that cannot be.
	Unusable int
}

// batchSize is how many watches are written at once: enough to share a commit, few enough to be kept in memory.
const batchSize = 5000

// history takes the watches of the database, or with dry only counts them. A batch is one transaction with what says that
// it was taken.
func (p *Plan) history(ctx context.Context, h Home, dry bool) (History, error) {
	var told History
	if p.database == nil {
		return told, nil
	}
	waiting, err := p.database.open(ctx)
	if err != nil {
		return told, err
	}
	owners, err := ownersOf(ctx, h.Accounts)
	if err != nil {
		return told, err
	}
	of := map[int64]watchRow{} // by the row of sync_records they belong to
	for _, r := range waiting {
		if r.record != 0 {
			of[r.record] = r
		}
	}
	var batch []taken
	flush := func() error {
		err := h.take(ctx, batch, &told, dry)
		batch = batch[:0]
		return err
	}
	add := func(place string, r watchRow) error {
		t, ok := r.taken(place)
		if !ok {
			told.Unusable++
			return nil
		}
		if owner, only := owners[r.user]; only && owner.ID != 0 && !t.open {
			t.past.Outcome.AccountID, t.past.Outcome.AccountName = owner.ID, owner.Username
		}
		if batch = append(batch, t); len(batch) == batchSize {
			return flush()
		}
		return nil
	}
	err = p.database.records(ctx, func(r watchRow) error {
		if open, waits := of[r.id]; waits {
			delete(of, r.id)
			r.waits, r.subject, r.chapter, r.released, r.label = true, open.subject, open.chapter, open.released, open.label
			r.original = cmp.Or(strings.TrimSpace(r.original), open.original)
		}
		return add("sync_records", r)
	})
	if err != nil {
		return told, err
	}
	for _, r := range waiting {
		if _, alone := of[r.record]; alone || r.record == 0 {
			delete(of, r.record)
			if err := add("waiting", r); err != nil {
				return told, err
			}
		}
	}
	return told, flush()
}

// ownersOf is the account of each media-server user; an empty one where several name them.
func ownersOf(ctx context.Context, store *account.Store) (map[string]account.Account, error) {
	accounts, err := store.List(ctx)
	if err != nil {
		return nil, err
	}
	owners := map[string]account.Account{}
	for _, a := range accounts {
		for _, user := range a.MediaUserNames {
			owner := a
			if _, twice := owners[user]; twice {
				owner = account.Account{}
			}
			owners[user] = owner
		}
	}
	return owners, nil
}

// taken is a watch on its way into our records.
type taken struct {
	digest string
	past   record.Past
	// open is set for one that the engine is to work on.
	open bool
}

// take writes a batch, but for what was taken before.
func (h Home) take(ctx context.Context, batch []taken, told *History, dry bool) error {
	var done History
	write := func(ctx context.Context, tx *sql.Tx) error {
		done = History{}
		for _, t := range batch {
			known, err := t.known(ctx, tx)
			switch {
			case err != nil:
				return err
			case known:
				done.Known++
				continue
			case t.open:
				done.Open++
			default:
				done.Past++
			}
			if dry {
				continue
			}
			if err := t.insert(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	}
	if err := h.DB.Write(ctx, write); err != nil {
		return fmt.Errorf("take the history: %w", err)
	}
	told.Known, told.Open, told.Past = told.Known+done.Known, told.Open+done.Open, told.Past+done.Past
	return nil
}

func (t taken) known(ctx context.Context, tx *sql.Tx) (bool, error) {
	var id int64
	err := tx.QueryRowContext(ctx, `SELECT record_id FROM moved_records WHERE digest = ?`, t.digest).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func (t taken) insert(ctx context.Context, tx *sql.Tx) (err error) {
	var id int64
	if t.open {
		id, err = record.Insert(ctx, tx, t.past.Event, t.past.Test, t.past.At)
	} else {
		id, err = record.InsertPast(ctx, tx, t.past)
	}
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO moved_records (digest, record_id) VALUES (?, ?)`, t.digest, id)
	return err
}

// sources are ours by the names of theirs.
var sources = map[string]watch.Source{
	"plex": watch.Plex, "emby": watch.Emby, "jellyfin": watch.Jellyfin, "custom": watch.Custom, "feiniu": watch.NAS, "fongmi": watch.Device, "trakt": watch.Tracker,
}

// medias are ours by the names of theirs; the empty one is of versions that knew episodes only.
var medias = map[string]watch.Media{
	"": watch.Episode, "episode": watch.Episode, "movie": watch.Movie, "ova": watch.OVA, "oad": watch.OVA, "real_action": watch.RealAction,
}

// methods are the layers that find subjects, by the names of theirs.
var methods = map[string]match.StepName{
	"custom_mapping": match.StepMapping, "bangumi_data": match.StepDataset, "archive": match.StepArchive, "api_search": match.StepAPI,
}

// taken is what becomes of a watch; false when it cannot be one. place names the table it is of, for the
// digest: together with what never changes in the row that tells it from every other one, also after the tool began a new database.
func (r watchRow) taken(place string) (taken, bool) {
	at, ok := localTime(r.at)
	if !ok {
		return taken{}, false
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s\x00%s\x00%s\x00%d\x00%d", place, r.id, r.at, r.user, r.title, r.season, r.episode))
	source := strings.TrimPrefix(r.source, "retry-")
	e := watch.Event{
		Source: sources[source], Action: watch.Watched, Media: medias[r.media], Title: line(r.title), OriginalTitle: line(r.original),
		AirDate: watch.ParseDate(r.released), UserName: cut(r.user), OccurredAt: at,
	}
	if e.Source == "" {
		e.Source, e.Label = watch.Custom, line(source)
	} else if e.Source == watch.Custom && r.label != source {
		e.Label = line(r.label)
	}
	if !e.IsFilm() {
		season, episode := int(r.season), float64(r.episode)
		e.Season, e.Episode = &season, &episode
	}
	t := taken{digest: hex.EncodeToString(sum[:16]), open: r.waits, past: record.Past{Test: strings.HasPrefix(source, "test"), At: at}}
	if t.open {
		e.CatalogSubject, e.CatalogEpisode = int(number(r.subject)), int(number(r.chapter))
	}
	t.past.Event = e
	t.past.Outcome = r.outcome(e)
	return t, e.Validate() == nil
}

// number is one that can be of a subject or episode; 0 for others.
func number(n int64) int64 {
	if n < 0 || n > 1<<31-1 {
		return 0
	}
	return n
}

// outcome is how a watch came out there, in our words.
func (r watchRow) outcome(e watch.Event) record.Outcome {
	o := record.Outcome{
		SubjectID: catalog.SubjectID(number(r.subject)), EpisodeID: catalog.EpisodeID(number(r.chapter)), SubjectName: line(r.subjectName),
		Method: string(methods[r.method]), Message: reason.Text(line(r.message)),
	}
	if r.score > 0 && r.score <= 1 {
		o.Confidence = r.score
	}
	result := match.Result{Status: match.Matched, SubjectID: o.SubjectID, SubjectName: o.SubjectName, EpisodeID: o.EpisodeID, Film: e.IsFilm(),
		Method: o.Method, Confidence: o.Confidence, Reason: fromBangumiSyncer.With()}
	switch r.status {
	case "success", "retried":
		o.Status = record.Success
	case "error", "queued": // what is still in its queue is not taken as past
		o.Status, o.ErrorKind = record.Failed, record.Abandoned
		switch {
		case o.SubjectID == 0:
			o.ErrorKind, result.Status = record.NotMatched, match.NotFound
		case o.EpisodeID == 0 && !e.IsFilm():
			o.ErrorKind, result.Status = record.EpisodeNotFound, match.EpisodeNotFound
		}
	default:
		o.Status = record.Ignored
	}
	if o.SubjectID == 0 {
		result.Status = match.NotFound
	}
	trace, err := json.Marshal(match.Trace{Result: result, Steps: []match.Step{{
		Name: "moved", Status: "hit", Input: map[string]any{"title": e.Title, "user_name": e.UserName, "time": r.at},
		Output: map[string]any{"result": line(r.status), "source": line(r.source)}, Candidates: []match.Candidate{},
	}}})
	if err == nil { // texts and numbers always can be encoded
		o.Trace = trace
	}
	return o
}

// line is a text as one line of what can be read, cut as events are.
func line(text string) string {
	return cut(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " "))
}

// cut bounds a text as events do.
func cut(text string) string {
	text = strings.ToValidUTF8(text, "")
	if len(text) <= watch.MaxText {
		return text
	}
	end := watch.MaxText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
