package snapshot

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/rowread"
	"watchmark/internal/platform/task"
)

// FileTask is the kind of the task that stores a file.
const FileTask = "snapshot_file"

// What a file may have at most; longer lists and texts are nobody's.
const (
	MaxFile     = 64 << 20 // bytes
	entriesMost = 100_000
	marksMost   = 20_000 // of an entry
	tagsMost    = 100
	textMost    = 10_000 // bytes of a text
	countMost   = 1_000_000
)

// File is a list that was taken out, as it was read.
type File struct {
	taken    time.Time
	owner    int
	username string
	total    int
	rows     []fileRow
	marks    int
}

// fileRow is an entry as it is stored.
type fileRow struct {
	subject catalog.SubjectID
	entry   string
	marks   []byte
	marked  int
}

// fileEntry is an entry of a file.
type fileEntry struct {
	catalog.Entry
	Marks []catalog.Mark `json:"marks"`
}

// ReadFile reads the JSON of a list that Export wrote. It keeps to it: what is not as Export writes it, is twice, or more than a list can
// have, is an error that says what is wrong.
func ReadFile(from io.Reader) (File, error) {
	left := int64(MaxFile)
	rows, err := rowread.New(from, &left, &http.MaxBytesError{Limit: MaxFile})
	if err != nil {
		return File{}, err
	}
	r := &fileReader{rows: rows, d: json.NewDecoder(rows), seen: map[catalog.SubjectID]bool{}}
	r.d.DisallowUnknownFields() // a version is what it is
	err = r.read()
	var failed *http.MaxBytesError
	switch {
	case err == nil:
		return r.file, nil
	case errors.As(err, &failed), reason.Of(err).Class() == reason.Invalid:
		return File{}, err
	}
	return File{}, fileBroken.With(err)
}

type fileReader struct {
	rows   *rowread.Reader
	d      *json.Decoder
	file   File
	seen   map[catalog.SubjectID]bool
	fields map[string]bool
}

func (r *fileReader) read() error {
	if err := r.delim('{'); err != nil {
		return errNoListFile
	}
	r.fields = map[string]bool{}
	for r.d.More() {
		r.rows.Row()
		token, err := r.d.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string) // names of an object are texts
		if r.fields[name] {
			return errNoListFile
		}
		r.fields[name] = true
		if err := r.field(name); err != nil {
			return err
		}
	}
	if err := r.delim('}'); err != nil {
		return err
	}
	if _, err := r.d.Token(); !errors.Is(err, io.EOF) {
		return errNoListFile
	}
	for _, name := range []string{"format", "account", "taken_at", "entries"} {
		if !r.fields[name] {
			return errNoListFile
		}
	}
	return nil
}

func (r *fileReader) field(name string) error {
	f := &r.file
	switch name {
	case "format":
		var version int
		if err := r.d.Decode(&version); err != nil || version < 1 {
			return errNoListFile
		}
		if version > exportVersion {
			return errFileNewer
		}
		return nil
	case "account":
		var by struct {
			ID       int    `json:"id"`
			Username string `json:"username"`
		}
		err := r.d.Decode(&by)
		f.owner, f.username = by.ID, by.Username
		if err == nil && (by.ID < 0 || len(by.Username) > textMost) {
			err = errNoListFile
		}
		return err
	case "taken_at":
		err := r.d.Decode(&f.taken)
		if err == nil && (f.taken.Year() < 2000 || f.taken.After(time.Now().Add(24*time.Hour))) {
			err = errFileTime
		}
		return err
	case "total":
		err := r.d.Decode(&f.total)
		if err == nil && (f.total < 0 || f.total > countMost) {
			err = errNoListFile
		}
		return err
	case "entries":
		return r.entries()
	}
	return errNoListFile
}

func (r *fileReader) entries() error {
	if err := r.delim('['); err != nil {
		return errNoListFile
	}
	for r.d.More() {
		if len(r.file.rows) == entriesMost {
			return fileTooMany.With(entriesMost)
		}
		r.rows.Row()
		var e fileEntry
		if err := r.d.Decode(&e); err != nil {
			return err
		}
		if !e.sound() || r.seen[e.Subject] {
			return fileEntryWrong.With(len(r.file.rows) + 1)
		}
		r.seen[e.Subject] = true
		row, err := e.row()
		if err != nil {
			return err
		}
		r.file.rows = append(r.file.rows, row)
		r.file.marks += row.marked
	}
	return r.delim(']')
}

func (r *fileReader) delim(want json.Delim) error {
	token, err := r.d.Token()
	if err == nil && token != want {
		err = errNoListFile
	}
	return err
}

// sound reports whether an entry is one that the catalog can have.
func (e fileEntry) sound() bool {
	switch e.SubjectType {
	case catalog.Book, catalog.Anime, catalog.Music, catalog.Game, catalog.Real:
	default:
		return false
	}
	within := func(n, most int) bool { return n >= 0 && n <= most }
	if e.Subject < 1 || e.Subject > math.MaxInt32 || e.Type < catalog.Wish || e.Type > catalog.Dropped || !within(e.Rate, 10) ||
		!within(e.Marked, countMost) || !within(e.Volume, countMost) || !within(e.About.Eps, countMost) ||
		len(e.Tags) > tagsMost || len(e.Marks) > marksMost || len(e.Comment) > textMost || len(e.About.Name) > textMost || len(e.About.NameCN) > textMost {
		return false
	}
	for _, tag := range e.Tags {
		if tag == "" || len(tag) > textMost {
			return false
		}
	}
	seen := make(map[catalog.EpisodeID]bool, len(e.Marks))
	for _, m := range e.Marks {
		if m.Episode < 1 || m.Episode > math.MaxInt32 || seen[m.Episode] || m.Kind < 0 || m.Kind > 6 || m.State < catalog.EpisodeWish || m.State > catalog.EpisodeDropped ||
			!(m.Sort >= 0 && m.Sort <= countMost) || !(m.Ep >= 0 && m.Ep <= countMost) || m.At < 0 {
			return false
		}
		seen[m.Episode] = true
	}
	return true
}

func (e fileEntry) row() (fileRow, error) {
	if e.Tags == nil {
		e.Tags = []string{}
	}
	entry, err := json.Marshal(e.Entry)
	if err != nil {
		return fileRow{}, err
	}
	marks, err := pack(e.Marks)
	return fileRow{e.Subject, string(entry), marks, len(e.Marks)}, err
}

// BringIn starts a task that keeps a file as a snapshot of an account's list; its result is the Snapshot. A list of another account is taken
// only where other says so. Errors: account.ErrNotFound, task.ErrStopping, and what is wrong with the file.
func (k *Service) BringIn(ctx context.Context, accountID int64, f File, other bool) (*task.Task, error) {
	a, err := k.Accounts.Get(ctx, accountID)
	if err != nil {
		return nil, err
	}
	if !other && f.owner != 0 && a.CatalogUserID != 0 && f.owner != a.CatalogUserID {
		return nil, fileOfAnother.With(f.username, a.Username)
	}
	return k.Tasks.Start(ctx, task.Spec{Kind: FileTask, About: accountID}, func(ctx context.Context, t *task.Task) error {
		s, err := k.store.keepFile(ctx, a, f)
		if err == nil {
			t.SetResult(s)
		}
		return err
	})
}

// keepFile stores a file, all or nothing.
func (s store) keepFile(ctx context.Context, a account.Account, f File) (Snapshot, error) {
	kept := Snapshot{AccountID: a.ID, Source: FromFile, TakenAt: f.taken.Truncate(time.Millisecond).UTC(), Entries: len(f.rows), Marks: f.marks, Total: f.total}
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `INSERT INTO snapshots (account_id, began_at, taken_at, total, entries, marks, whole, source) VALUES (?, ?, ?, ?, ?, ?, 0, ?) RETURNING id`,
			a.ID, time.Now().UnixMilli(), kept.TakenAt.UnixMilli(), kept.Total, kept.Entries, kept.Marks, kept.Source).Scan(&kept.ID)
		if err != nil {
			return err
		}
		for some := range db.Groups(f.rows) {
			var args []any
			for _, r := range some {
				args = append(args, a.ID, r.subject, kept.ID, kept.ID, r.entry, r.marks, r.marked)
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO listed_entries (account_id, subject_id, since, until, entry, marks, marked) VALUES `+
				db.Rows("(?, ?, ?, ?, ?, ?, ?)", len(some)), args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return kept, fmt.Errorf("keep a file as a snapshot: %w", err)
	}
	return kept, nil
}
