package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/watch"
)

// Format is what a file is.
type Format string

// The formats: the zip of Trakt's export, Simkl's backup as zip or JSON, and the XML of MyAnimeList,
// which others write, too (upstreams/exports.md sections 1 to 3).
const (
	Trakt Format = "trakt"
	Simkl Format = "simkl"
	MAL   Format = "mal"
)

// Formats are all formats, in the order people see them.
var Formats = []Format{Trakt, Simkl, MAL}

// Product is the name of who gives such files out.
func (f Format) Product() string {
	return map[Format]string{Trakt: "Trakt", Simkl: "Simkl", MAL: "MyAnimeList"}[f]
}

// Export is where a person gets such a file.
func (f Format) Export() string {
	return map[Format]string{Trakt: "https://app.trakt.tv/settings/data", Simkl: "https://simkl.com/apps/backup", MAL: "https://myanimelist.net/panel.php?go=export"}[f]
}

const (
	// MaxFile is how large a file may be, in bytes.
	MaxFile = 100 << 20
	// rowsMost is how many rows of a file are read.
	rowsMost = 500_000
	// pageSize is how many items of a file are looked at together.
	pageSize = 250
)

// Files is what files need beside what histories of servers do.
type Files struct {
	// Folder is where a file is kept while it is read.
	Folder string
	// Entry is the catalog's entry that an id of another site stands for; false when the table of ids has none, or several.
	Entry func(provider, id string) (catalog.SubjectID, bool)
	// About is an entry with its episodes, as the accounts of a media-server user may see them: adult titles are hidden from others.
	About func(ctx context.Context, user string, id catalog.SubjectID) (catalog.Subject, []catalog.EpisodeInfo, error)
	// Known reports whether the tables of ids have a show or film, by ids that it has; true where there is no table to tell.
	Known func(ids watch.IDs, film bool) bool
	// Mapped reports whether a person mapped an event.
	Mapped func(ctx context.Context, titles []string, event watch.Event) (bool, error)
	// Plays are those of some plays of Trakt that became records already, by their number there.
	Plays func(ctx context.Context, plays []string) (map[string]bool, error)
	// Play is a play of Trakt's history as an event, with its number there; an error for what no event can say.
	Play func(raw []byte, user string) (id string, e watch.Event, err error)
}

// NewFile is a file to be filled and given to RunFile. Where the system can, it has no name from the start, so that nothing of it
// outlives the process.
func (k *Importer) NewFile() (*os.File, error) {
	f, err := os.CreateTemp(k.Files.Folder, "import-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("keep the file while it is read: %w", err)
	}
	_ = os.Remove(f.Name()) // on Windows it goes when it is closed
	return f, nil
}

// Discard ends the use of a file.
func Discard(f *os.File) {
	_ = f.Close()
	_ = os.Remove(f.Name())
}

// RunFile starts a task that takes in what a file holds for a media-server user, or with preview only tells what that would mark;
// the file is discarded when it ends. Its result is a Result or a Preview. Errors: *reason.FieldError, ErrRunning,
// task.ErrStopping, and what is wrong with the file.
func (k *Importer) RunFile(ctx context.Context, f *os.File, format Format, user string, preview bool) (*task.Task, error) {
	x := &export{Importer: k, Format: format, file: f, user: user}
	t, err := k.start(ctx, 0, preview, func() (*history, error) {
		if !slices.Contains(Formats, format) {
			return nil, reason.At("format", wrongFormat)
		}
		if err := k.routed(ctx, user); err != nil {
			return nil, err
		}
		// It is read whole before anything is taken in, so that a broken file changes nothing.
		if err := x.rows(func(row) error { x.total++; return ctx.Err() }); err != nil {
			return nil, err
		}
		if x.total == 0 {
			return nil, fileEmpty.With(format.Product())
		}
		taken := func(context.Context, []string) (map[string]bool, error) { return map[string]bool{}, nil }
		if format == Trakt {
			taken = k.Files.Plays
		}
		return &history{
			Importer: k, kind: watch.Source(format), user: user, serverName: format.Product(), userName: user,
			read: x.read, taken: taken, ended: func() { Discard(f) },
		}, nil
	})
	if err != nil {
		Discard(f)
	}
	return t, err
}

// Plays are those of some plays of Trakt, by their number there, that were imported from a file of anybody's.
func (k *Importer) Plays(ctx context.Context, plays []int64) (map[int64]bool, error) {
	names := make([]string, len(plays))
	for i, play := range plays {
		names[i] = strconv.FormatInt(play, 10)
	}
	list, args := db.In(names)
	imported := map[int64]bool{}
	err := db.Each(ctx, k.DB.Read(), "look for imported plays", func(row db.Row) error {
		var play int64
		err := row.Scan(&play)
		imported[play] = true
		return err
	}, `SELECT CAST(item_id AS BIGINT) FROM imported_items WHERE source = ? AND item_id IN `+list, append([]any{Trakt}, args...)...)
	return imported, err
}

// export is a file that is read.
type export struct {
	*Importer
	Format
	file  *os.File
	user  string
	total int // rows
}

// row is what a file says of one play, one title or a title's episodes.
type row struct {
	id    string // of the item in imported_items; each number of numbers has its own
	title string
	// event is complete for what names itself; for the others it has what is known beside the entry.
	event watch.Event
	// ids lead to the catalog's entry of which the first episodes, or some by their place, are meant; empty where event tells all.
	ids     []providerID
	numbers []int
	all     bool          // of its main episodes are meant, however many these are
	why     reason.Reason // it cannot be a record
}

type providerID struct{ provider, id string }

// rows gives each row of the file to take. An error that is not take's says what is wrong with the file.
func (x *export) rows(take func(row) error) error {
	n := 0
	var failed error
	counted := func(r row) error {
		if n++; n > rowsMost {
			return fileTooMany.With(rowsMost)
		}
		failed = take(r)
		return failed
	}
	read := map[Format]func(func(row) error) error{Trakt: x.trakt, Simkl: x.simkl, MAL: x.mal}[x.Format]
	if err := read(counted); err != nil && failed == nil {
		return x.broken(err)
	}
	return failed
}

// read is history.read.
func (x *export) read(ctx context.Context, _ func([]mediaserver.Show) error, each func(library string, items []watched, left int) error) error {
	var page []watched
	done, seen := 0, map[string]bool{}
	flush := func() error {
		err := each(x.Product(), page, x.total-done)
		page = nil
		return err
	}
	err := x.rows(func(r row) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		items, err := x.items(ctx, r)
		if err != nil {
			return err
		}
		for _, item := range items {
			if len(item.events) > 0 && seen[item.id] {
				continue // some files say a thing twice
			}
			seen[item.id] = true
			page = append(page, item)
		}
		if done++; len(page) < pageSize {
			return nil
		}
		return flush()
	})
	if err == nil && len(page) > 0 {
		err = flush()
	}
	return err
}

// items are what a row says, each an episode or a film.
func (x *export) items(ctx context.Context, r row) ([]watched, error) {
	item := watched{id: r.id, title: r.title, why: r.why}
	if !r.why.IsZero() {
		return []watched{item}, nil
	}
	r.event.Source, r.event.Label, r.event.Action, r.event.UserName, r.event.RawEvent = watch.File, x.Product(), watch.Watched, x.user, watch.FromHistory
	if len(r.ids) > 0 {
		return x.placed(ctx, r)
	}
	ids := r.event.SeriesIDs
	if r.event.IsFilm() {
		ids = r.event.ItemIDs
	}
	if !x.Files.Known(ids, r.event.IsFilm()) {
		mapped, err := x.Files.Mapped(ctx, []string{r.event.Title}, r.event)
		if err != nil {
			return nil, err
		}
		if !mapped {
			item.why = fileOther.With()
			return []watched{item}, nil
		}
	}
	if err := r.event.Validate(); err != nil {
		item.why = reason.Of(err)
	} else {
		item.events = []watch.Event{r.event}
	}
	return []watched{item}, nil
}

// placed are the episodes of the catalog's entry that a row means by their places among its main ones. Those with a number between two
// others are recaps, which other sites do not count. What lies behind the last one is skipped: other sites count parts in other ways, so
// it may be anything. A film is one whatever the other site calls it, and has no episodes to count.
func (x *export) placed(ctx context.Context, r row) ([]watched, error) {
	skipped := func(why reason.Reason) []watched { return []watched{{id: r.id, title: r.title, why: why}} }
	subject, found := x.entry(r.ids)
	if !found {
		return skipped(fileNoEntry.With()), nil
	}
	about, all, err := x.Files.About(ctx, x.user, subject)
	if errors.Is(err, catalog.ErrNotFound) {
		return skipped(fileHidden.With(subject)), nil
	}
	if err != nil {
		return nil, err
	}
	main := slices.DeleteFunc(slices.Clone(all), func(e catalog.EpisodeInfo) bool { return e.Type != catalog.Main || e.Sort != math.Trunc(e.Sort) })
	slices.SortStableFunc(main, func(a, b catalog.EpisodeInfo) int { return cmp.Compare(a.Sort, b.Sort) })
	r.event.CatalogSubject = int(subject)
	if about.IsFilm() && len(main) <= 1 {
		r.event.Media = watch.Movie
	}
	if r.event.IsFilm() {
		return []watched{x.item(r, r.id)}, nil
	}
	if r.all {
		r.numbers = firstOnes(len(main))
	}
	var items []watched
	beyond := 0
	for _, n := range r.numbers {
		if n > len(main) {
			beyond++
			continue
		}
		one := r
		one.event.CatalogEpisode, one.event.Season, one.event.Episode = int(main[n-1].ID), new(1), new(main[n-1].Sort)
		items = append(items, x.item(one, r.id+"/"+strconv.Itoa(n)))
	}
	if beyond > 0 {
		items = append(items, skipped(fileBeyond.With(len(main), beyond))...)
	}
	return items, nil
}

// item is a row as what was watched.
func (x *export) item(r row, id string) watched {
	item := watched{id: id, title: r.title}
	if err := r.event.Validate(); err != nil {
		item.why = reason.Of(err)
	} else {
		item.events = []watch.Event{r.event}
	}
	return item
}

// entry is the catalog's entry that the first known one of some ids stands for.
func (x *export) entry(ids []providerID) (catalog.SubjectID, bool) {
	for _, id := range ids {
		if subject, found := x.Files.Entry(id.provider, id.id); found {
			return subject, true
		}
	}
	return 0, false
}
