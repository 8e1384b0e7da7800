package movein

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"watchmark/internal/platform/db"
)

// CopyPattern is that of the folders of copies, for filepath.Glob and os.MkdirTemp.
const CopyPattern = "movein-*"

// The most bytes of a database that is copied, and the most rows of its small tables that are looked at.
const (
	largestCopy = 8 << 30
	mostRows    = 20_000
)

// database is the tool's own database, opened for reading.
type database struct {
	*sql.DB
	path   string
	copied string // the folder of the copy; empty without one
	before []fs.FileInfo
	// columns are the lower-case names of columns by table: every version has others.
	columns map[string][]string
}

// errorIn says which file an error is of.
func errorIn(path string, err error) error { return fmt.Errorf("%s: %w", path, err) }

// openDatabase opens the file at path; one that has a journal is copied with it into a folder in temp, for reading
// it in place would write beside it.
func openDatabase(ctx context.Context, path, temp string) (*database, error) {
	d := &database{path: path}
	var err error
	if d.before, err = d.stat(); err != nil {
		return nil, err
	}
	if d.before[1] != nil || d.before[2] != nil { // a journal
		if err := d.copy(temp); err != nil {
			return nil, errors.Join(err, d.close())
		}
		d.DB = db.OpenCopied(filepath.Join(d.copied, filepath.Base(path)))
	} else {
		d.DB = db.OpenForeign(path, true)
	}
	if err := d.learn(ctx); err != nil {
		return nil, errors.Join(errorIn(path, err), d.close())
	}
	return d, nil
}

// journals are the endings of the files beside a database that hold changes of it.
var journals = []string{"", "-wal", "-journal"}

// stat is the state of the file and its journals; nil for one that is not there, or empty.
func (d *database) stat() ([]fs.FileInfo, error) {
	found := make([]fs.FileInfo, len(journals))
	for i, ending := range journals {
		info, err := os.Stat(d.path + ending)
		switch {
		case err == nil && (i == 0 || info.Size() > 0):
			found[i] = info
		case err != nil && (i == 0 || !errors.Is(err, fs.ErrNotExist)):
			return nil, fmt.Errorf("look at the database of Bangumi-syncer: %w", err)
		}
	}
	return found, nil
}

// missing says what the file seems to lack; empty when it is whole as far as can be seen.
func (d *database) missing() (string, error) {
	if d.columns["sync_records"] == nil {
		return "it has no table of records: it is empty or another file. When it was copied, copy the files -wal and -shm with it, and run this again", nil
	}
	file, err := os.Open(d.path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // opened for reading: nothing can be lost
	var head [20]byte
	if _, err := io.ReadFull(file, head[:]); err != nil {
		return "", err
	}
	_, err = os.Stat(d.path + "-wal")
	if walMode := head[18] == 2; walMode && errors.Is(err, fs.ErrNotExist) { // SQLite file format, section 1.3.3
		return "no " + filepath.Base(d.path) + "-wal is beside it. That is right when Bangumi-syncer was stopped in order; when the file was copied while it ran, " +
			"the newest records are missing: " +
			"copy that file with it, and run this again", nil
	}
	return "", nil
}

// untouched returns an error when the files were written since they were opened.
func (d *database) untouched() error {
	after, err := d.stat()
	if err != nil {
		return err
	}
	same := slices.EqualFunc(d.before, after, func(a, b fs.FileInfo) bool {
		return (a == nil) == (b == nil) && (a == nil || a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()))
	})
	if !same {
		return fmt.Errorf("%s is written while it is read: stop Bangumi-syncer, then try again", d.path)
	}
	return nil
}

// copy copies the files into a folder in temp.
func (d *database) copy(temp string) (err error) {
	if d.copied, err = os.MkdirTemp(temp, CopyPattern); err != nil {
		return fmt.Errorf("make a place for a copy of the database: %w", err)
	}
	var size int64
	for i, info := range d.before {
		if info == nil {
			continue
		}
		if size += info.Size(); size > largestCopy {
			return fmt.Errorf("%s is too large to be copied: stop Bangumi-syncer, so that it has no journal", d.path)
		}
		if err := copyFile(filepath.Join(d.copied, filepath.Base(d.path))+journals[i], d.path+journals[i]); err != nil {
			return fmt.Errorf("copy the database: %w", err)
		}
	}
	return d.untouched()
}

func copyFile(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // opened for reading: nothing can be lost
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// close closes the database and removes its copy.
func (d *database) close() error {
	var err error
	if d.DB != nil {
		err = d.Close()
	}
	if d.copied != "" {
		err = errors.Join(err, os.RemoveAll(d.copied))
	}
	return err
}

// learn finds out which of the tables there are, and their columns.
func (d *database) learn(ctx context.Context) error {
	d.columns = map[string][]string{}
	return db.Each(ctx, d, "look at the tables", func(row db.Row) error {
		var table, column string
		err := row.Scan(&table, &column)
		d.columns[table] = append(d.columns[table], column)
		return err
	}, `SELECT lower(m.name), lower(c.name) FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'
		AND lower(m.name) IN ('sync_records', 'bangumi_accounts', 'trakt_config', 'pending_sync_queue', 'pending_candidates')`)
}

// longestColumn bounds a text that is read, in characters.
const longestColumn = "4000"

// texts is a list of columns of a table as texts, empty where the version has no such column.
func (d *database) texts(table string, columns ...string) string {
	list := make([]string, len(columns))
	for i, column := range columns {
		list[i] = "''"
		if slices.Contains(d.columns[table], column) {
			list[i] = "substr(COALESCE(CAST(" + column + " AS TEXT), ''), 1, " + longestColumn + ")"
		}
	}
	return strings.Join(list, ", ")
}

// numbers is texts for whole numbers, 0 where there is none.
func (d *database) numbers(table string, columns ...string) string {
	list := make([]string, len(columns))
	for i, column := range columns {
		list[i] = "0"
		if slices.Contains(d.columns[table], column) {
			list[i] = "COALESCE(CAST(" + column + " AS INTEGER), 0)"
		}
	}
	return strings.Join(list, ", ")
}

// query reads a small table, which need not be there.
func (d *database) query(ctx context.Context, table, columns, rest string, fn func(row db.Row) error) error {
	if d.columns[table] == nil {
		return nil
	}
	err := db.Each(ctx, d, "table "+table, fn, fmt.Sprintf("SELECT %s FROM %s %s LIMIT %d", columns, table, rest, mostRows))
	if err != nil {
		return fmt.Errorf("%s: %w", d.path, err)
	}
	return nil
}

// accounts are the rows of bangumi_accounts.
func (d *database) accounts(ctx context.Context) (all []accountRow, err error) {
	columns := d.texts("bangumi_accounts", "section_name", "username", "nickname", "auth_method", "access_token", "refresh_token", "media_server_usernames") + ", " +
		d.numbers("bangumi_accounts", "expires_at", "private", "is_active")
	err = d.query(ctx, "bangumi_accounts", columns, "ORDER BY id", func(row db.Row) error {
		var r accountRow
		var users string
		var private, active int64
		if err := row.Scan(&r.section, &r.username, &r.nickname, &r.method, &r.access, &r.refresh, &users, &r.expires, &private, &active); err != nil {
			return err
		}
		r.private, r.active = private != 0, active != 0
		if json.Unmarshal([]byte(users), &r.users) != nil {
			r.users = names(users)
		}
		if r.username != "" {
			all = append(all, r)
		}
		return nil
	})
	return all, err
}

// signInRow is a row of trakt_config.
type signInRow struct {
	user, access, refresh, method string
	interval, filter              string // a cron expression, and whether what is no animation is left out
	expires, synced               int64  // unix seconds; 0 = unknown, or never
	enabled                       bool
}

func (d *database) signIns(ctx context.Context) (all []signInRow, err error) {
	columns := d.texts("trakt_config", "user_id", "access_token", "refresh_token", "auth_type", "sync_interval", "sync_filter_enabled") + ", " +
		d.numbers("trakt_config", "expires_at", "last_sync_time", "enabled")
	err = d.query(ctx, "trakt_config", columns, "ORDER BY id", func(row db.Row) error {
		var r signInRow
		var enabled int64
		if err := row.Scan(&r.user, &r.access, &r.refresh, &r.method, &r.interval, &r.filter, &r.expires, &r.synced, &enabled); err != nil {
			return err
		}
		r.enabled = enabled != 0
		all = append(all, r)
		return nil
	})
	return all, err
}

// watchRow is a watch in one of the tables of the tool.
type watchRow struct {
	id               int64
	record           int64 // the row of sync_records that it belongs to; 0 for none
	at               string
	user             string
	title, original  string
	season, episode  int64
	subject, chapter int64
	source, media    string
	label            string // what a script called itself
	released         string
	// waits is set for one that was not done.
	waits bool
	// What is known of those that came out.
	status, message, subjectName, method string
	score                                float64
}

// open are the watches that waited: of the queue, and for a person.
func (d *database) open(ctx context.Context) (all []watchRow, err error) {
	const queue, questions = "pending_sync_queue", "pending_candidates"
	columns := d.texts(queue, "created_at", "user_name", "title", "source", "media_type", "payload_json") + ", " +
		d.numbers(queue, "id", "sync_record_id", "season", "episode", "subject_id", "episode_id")
	err = d.query(ctx, queue, columns, "WHERE status = 'pending' ORDER BY id", func(row db.Row) error {
		r := watchRow{waits: true}
		var payload string
		if err := row.Scan(&r.at, &r.user, &r.title, &r.source, &r.media, &payload, &r.id, &r.record, &r.season, &r.episode, &r.subject, &r.chapter); err != nil {
			return err
		}
		var sent struct {
			Original string `json:"ori_title"`
			Released string `json:"release_date"`
			Label    string `json:"source"`
		}
		if json.Unmarshal([]byte(payload), &sent) == nil { // what cannot be read says no more
			r.original, r.released, r.label = sent.Original, sent.Released, sent.Label
		}
		all = append(all, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	columns = d.texts(questions, "created_at", "user_name", "request_title", "request_ori_title", "source") + ", " +
		d.numbers(questions, "id", "sync_record_id", "request_season", "request_episode")
	err = d.query(ctx, questions, columns, "WHERE status = 'pending' ORDER BY id", func(row db.Row) error {
		r := watchRow{waits: true}
		if err := row.Scan(&r.at, &r.user, &r.title, &r.original, &r.source, &r.id, &r.record, &r.season, &r.episode); err != nil {
			return err
		}
		all = append(all, r)
		return nil
	})
	return all, err
}

// records calls fn with every row of sync_records, the oldest first.
func (d *database) records(ctx context.Context, fn func(watchRow) error) error {
	const table = "sync_records"
	if d.columns[table] == nil {
		return nil
	}
	score := "0"
	if slices.Contains(d.columns[table], "match_score") {
		score = "COALESCE(CAST(match_score AS REAL), 0)"
	}
	columns := d.texts(table, "timestamp", "user_name", "title", "ori_title", "status", "message", "source", "media_type", "bgm_title", "match_method") + ", " +
		d.numbers(table, "id", "season", "episode", "subject_id", "episode_id") + ", " + score
	err := db.Each(ctx, d, "table "+table, func(row db.Row) error {
		var r watchRow
		err := row.Scan(&r.at, &r.user, &r.title, &r.original, &r.status, &r.message, &r.source, &r.media, &r.subjectName, &r.method,
			&r.id, &r.season, &r.episode, &r.subject, &r.chapter, &r.score)
		if err != nil {
			return err
		}
		return fn(r)
	}, "SELECT "+columns+" FROM "+table+" ORDER BY id")
	if err != nil {
		return fmt.Errorf("%s: %w", d.path, err)
	}
	if d.copied != "" {
		return nil
	}
	return d.untouched()
}

// localTime reads a time of the tables, which is the one that the clock on the wall showed.
func localTime(text string) (time.Time, bool) {
	for _, layout := range []string{time.DateTime, "2006-01-02T15:04:05"} {
		if len(text) >= len(layout) {
			if at, err := time.ParseInLocation(layout, text[:len(layout)], time.Local); err == nil {
				return at, true
			}
		}
	}
	return time.Time{}, false
}
