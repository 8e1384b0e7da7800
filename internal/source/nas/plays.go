package nas

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
)

// pageRows is how many rows one read transaction takes. Each page reads the whole table, which
// has no index on its times.
const pageRows = 2000

// position is a row in the order of reading: by time, then by key.
type position struct {
	at         int64 // update_time in milliseconds
	item, user string
}

// play is a row of item_user_play: what one user did with one item.
type play struct {
	position
	watched bool
	seconds int64 // the position reached; 0 when it was reset
	media   string
	stream  string
}

// time is when the row was written last, to the second; zero for what is no time, such as
// microseconds, whose year no text can hold.
func (p play) time() time.Time {
	t := time.UnixMilli(p.at).Truncate(time.Second).UTC()
	if t.Year() < 2000 || t.Year() > 2200 {
		return time.Time{}
	}
	return t
}

// window is the part of the library that is read.
type window struct {
	from  int64  // milliseconds; earlier rows are not read
	user  string // a guid; empty for all
	whole bool   // it begins where the source was switched on
	moves bool   // all rows in it are read, so it moves the watermark
}

// view is the library within one read transaction, with what was looked up in it.
type view struct {
	tx     *sql.Tx
	schema schema
	items  map[string]*item
}

// inTx runs read in a read transaction: it sees one state of the library, and lets
// others write meanwhile.
func (l *library) inTx(ctx context.Context, read func(v view) error) error {
	tx, err := l.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin to read the library: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	return read(view{tx, l.schema, map[string]*item{}})
}

// time is the expression of a row's update_time in milliseconds. Some plugins write seconds; such
// a row stands for the end of its second, so that it is not taken for older than it is
// (upstreams/nas.md, section 6).
func (s schema) time() string {
	t := "COALESCE(" + s.whole("item_user_play", "update_time") + ", 0)"
	return "CASE WHEN " + t + " < 1000000000000 THEN " + t + " * 1000 + 999 ELSE " + t + " END"
}

// plays gives the next rows after a position, oldest first, at most pageRows.
func (v view) plays(ctx context.Context, w window, after position) ([]play, error) {
	s := v.schema
	visible := "1"
	if s.has("item_user_play", "visible") {
		visible = s.whole("item_user_play", "visible")
	}
	query := fmt.Sprintf(`SELECT at, item, user, watched, seconds, media, stream FROM (
			SELECT %s AS at, %s AS item, %s AS user, COALESCE(%s, 0) AS watched, COALESCE(%s, 0) AS seconds, %s AS media, %s AS stream, %s AS visible FROM item_user_play)
		WHERE visible = 1 AND at >= ? AND (at, item, user) > (?, ?, ?) AND (? = '' OR user = ?) ORDER BY at, item, user LIMIT %d`,
		s.time(), s.text("item_user_play", "item_guid"), s.text("item_user_play", "user_guid"), s.whole("item_user_play", "watched"),
		s.whole("item_user_play", "ts"), s.text("item_user_play", "media_guid"), s.text("item_user_play", "video_guid"), visible, pageRows)
	return db.All(ctx, v.tx, "read what was played", func(row db.Row) (p play, err error) {
		var watched int64
		err = row.Scan(&p.at, &p.item, &p.user, &watched, &p.seconds, &p.media, &p.stream)
		p.watched = watched == 1
		return p, err
	}, query, w.from, after.at, after.item, after.user, w.user, w.user)
}

// watchedValues are the values that the column watched holds. Some releases are said to know
// others than 0 and 1, and only 1 counts.
func (v view) watchedValues(ctx context.Context) ([]string, error) {
	return db.Values[string](ctx, v.tx, "read the values of watched",
		`SELECT DISTINCT substr(COALESCE(CAST(watched AS TEXT), 'NULL'), 1, 20) FROM item_user_play ORDER BY 1 LIMIT 10`)
}

// mostShare is the share of its length in percent up to which a position is believed: more
// than that says that the length is wrong.
const mostShare = 110

// finished reports whether a play counts as watched; why says why not.
func (v view) finished(ctx context.Context, p play, minPercent int) (done bool, why reason.Reason, err error) {
	if p.watched {
		return true, why, nil
	}
	if p.seconds == 0 {
		return false, notToTheEnd.With(), nil
	}
	length, err := v.length(ctx, p)
	if err != nil {
		return false, why, err
	}
	if length == 0 {
		return false, unknownLength.With(), nil
	}
	share := float64(p.seconds) * 100 / length
	switch {
	case share > mostShare:
		return false, tooLong.With(), nil
	case share < float64(minPercent):
		return false, notToTheEnd.With(), nil
	}
	return true, why, nil
}

// length is how long the item lasts in seconds, by the file that was played, else by what is
// known of the item or its parents; 0 when nothing is. No length is guessed.
func (v view) length(ctx context.Context, p play) (float64, error) {
	if v.schema.has("media_stream", "duration") && p.media+p.stream != "" {
		s := v.schema
		query := fmt.Sprintf(`SELECT %s AS length FROM media_stream WHERE (%s = ? OR %s = ?) AND length > 0 ORDER BY %s = 'video' DESC, length DESC LIMIT 1`, //nolint:gosec // columns of a fixed list
			s.number("media_stream", "duration"), s.keyed("media_stream", "media_guid", p.media), s.keyed("media_stream", "guid", p.stream), s.text("media_stream", "codec_type"))
		var seconds float64
		err := v.tx.QueryRowContext(ctx, query, p.media, p.stream).Scan(&seconds)
		if !errors.Is(err, sql.ErrNoRows) {
			return seconds, err
		}
	}
	chain, err := v.chain(ctx, p.item)
	for _, it := range chain {
		if it.runtime > 0 {
			return it.runtime * 60, err
		}
	}
	return 0, err
}

// keyed is a column to compare a key with; NULL, which equals nothing, when either is not there.
func (s schema) keyed(table, column, key string) string {
	if key == "" || !s.has(table, column) {
		return "NULL"
	}
	return fmt.Sprintf("%q", column)
}
