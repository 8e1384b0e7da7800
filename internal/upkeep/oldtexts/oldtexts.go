// Package oldtexts turns what versions before 2026-11-23 stored as English sentences into reasons, once, while the service runs.
// What it does not recognise stays as it is, and is shown in English.
package oldtexts

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
)

// atOnce is how many rows are read and written at once: other writers wait for a batch.
const atOnce = 200

// column is one that held texts.
type column struct{ table, id, name string }

// texts are the columns that hold a text, or since a reason.
var texts = []column{
	{"records", "id", "message"},
	{"pending_sync_queue", "record_id", "last_error"},
	{"pending_candidates", "id", "reason"},
	{"webhook_log", "id", "reason"},
	{"accounts", "id", "problem"},
	{"tracker_users", "id", "problem"},
	{"tracker_users", "id", "sync_error"},
	{"notification_channels", "id", "last_error"},
	{"deliveries", "id", "problem"},
	{"summary_results", "id", "problem"},
	{"airing_days", "account_id", "problem"},
	{"llm_usage", "id", "error"},
}

// documents are the columns that hold JSON in which texts stand.
var documents = []column{
	{"traces", "record_id", "trace"},
	{"pending_candidates", "id", "candidates"},
	{"notices", "id", "facts"},
	{"nas_state", "id", "last_scan"},
}

// named are the members of documents that hold a text; its reason stands beside it.
var named = map[string]bool{"reason": true, noticeReason: true, "problem": true, "message": true, "because": true, "error": true, "how": true, "result": true, "verdict": true}

// noticeReason is the fact of a notice that holds its reason, as a column does.
const noticeReason = "error_message"

// Upgrade does what is left to do. It stops with ctx, and goes on at the next call.
func Upgrade(ctx context.Context, d *db.DB) error {
	var pending int
	if err := d.Read().QueryRowContext(ctx, `SELECT COUNT(*) FROM pending_upgrades WHERE name = 'texts'`).Scan(&pending); err != nil || pending == 0 {
		return err
	}
	read := sync.OnceValues(newReader) // it takes 2 MB, which a service without old texts does not need
	for _, c := range texts {
		if err := c.upgrade(ctx, d, read, (*reader).column); err != nil {
			return fmt.Errorf("turn texts of %s.%s into reasons: %w", c.table, c.name, err)
		}
	}
	for _, c := range documents {
		if err := c.upgrade(ctx, d, read, (*reader).document); err != nil {
			return fmt.Errorf("turn texts of %s.%s into reasons: %w", c.table, c.name, err)
		}
	}
	return d.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM pending_upgrades WHERE name = 'texts'`)
		return err
	})
}

// change is what a row becomes.
type change struct {
	id       int64
	from, to string
}

// upgrade gives every filled row of a column, the newest first, what become makes of it; an empty answer leaves the row.
func (c column) upgrade(ctx context.Context, d *db.DB, read func() (*reader, error), become func(*reader, string) string) error {
	const newest = 1<<63 - 1
	for before := int64(newest); ; {
		rows, err := c.rows(ctx, d, before)
		if err != nil || len(rows) == 0 {
			return err
		}
		r, err := read()
		if err != nil {
			return err
		}
		before = rows[len(rows)-1].id
		for i := range rows { // before the write, which all writers wait for
			rows[i].to = become(r, rows[i].from)
		}
		rows = slices.DeleteFunc(rows, func(row change) bool { return row.to == "" })
		if len(rows) == 0 {
			continue
		}
		err = d.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			for _, row := range rows {
				if _, err := tx.ExecContext(ctx, fmt.Sprintf(`UPDATE %[1]s SET %[3]s = ? WHERE %[2]s = ? AND %[3]s = ?`, c.table, c.id, c.name), row.to, row.id, row.from); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// rows are some filled rows of a column with an id below before, the newest first.
func (c column) rows(ctx context.Context, d *db.DB, before int64) ([]change, error) {
	return db.All(ctx, d.Read(), "read old texts", func(row db.Row) (one change, err error) {
		err = row.Scan(&one.id, &one.from)
		return one, err
	}, fmt.Sprintf(`SELECT %[2]s, %[3]s FROM %[1]s WHERE %[2]s < ? AND %[3]s <> '' ORDER BY %[2]s DESC LIMIT ?`, c.table, c.id, c.name), before, atOnce)
}

// column is what a column keeps of a text; empty when the text stays.
func (r *reader) column(text string) string {
	if strings.HasPrefix(text, "{") {
		return ""
	}
	value, ok := r.read(text, 0)
	if !ok {
		return ""
	}
	kept, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(kept)
}

// document is JSON with the reasons beside its texts; empty when none is recognised.
func (r *reader) document(text string) string {
	var whole any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&whole) != nil || !r.within(whole) {
		return ""
	}
	kept, err := json.Marshal(whole)
	if err != nil {
		return ""
	}
	return string(kept)
}

// within puts reasons beside the texts in a part of a document, and reports whether there were any.
func (r *reader) within(part any) (changed bool) {
	switch p := part.(type) {
	case []any:
		for _, one := range p {
			changed = r.within(one) || changed
		}
	case map[string]any:
		for name, one := range p {
			text, is := one.(string)
			if !is {
				changed = r.within(one) || changed
				continue
			}
			if !named[name] || p[name+reason.ValueSuffix] != nil {
				continue
			}
			if name == noticeReason {
				if value := r.column(text); value != "" {
					p[name], changed = value, true
				}
				continue
			}
			if value, ok := r.read(text, 0); ok {
				p[name+reason.ValueSuffix], changed = value, true
			}
		}
	}
	return changed
}
