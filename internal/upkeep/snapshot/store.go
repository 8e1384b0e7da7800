package snapshot

import (
	"bytes"
	"compress/flate"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
)

// store is the tables snapshots and listed_entries. What it is asked for by an id, it finds in the scope of the context alone.
type store struct{ db *db.DB }

// version is an entry of a list with its marks. nil Marks are put as they were before.
type version struct {
	Entry catalog.Entry
	Marks []catalog.Mark
	since int64
}

const columns = `id, account_id, taken_at, entries, marks, total, whole, source`

func scan(row db.Row) (s Snapshot, err error) {
	var taken int64
	err = row.Scan(&s.ID, &s.AccountID, &taken, &s.Entries, &s.Marks, &s.Total, &s.Whole, &s.Source)
	s.TakenAt = time.UnixMilli(taken).UTC()
	return s, err
}

// begin is the snapshot that is read now: the one that was cut off, where there is one.
func (s store) begin(ctx context.Context, accountID int64, now time.Time) (begun Snapshot, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		begun, err = scan(tx.QueryRowContext(ctx, `SELECT `+columns+` FROM snapshots WHERE account_id = ? AND taken_at = 0 ORDER BY id DESC LIMIT 1`, accountID))
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		var whole bool
		err := tx.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM snapshots WHERE account_id = ? AND taken_at > ? AND whole = 1)`,
			accountID, now.Add(-wholeEvery).UnixMilli()).Scan(&whole)
		if err != nil {
			return err
		}
		begun = Snapshot{AccountID: accountID, Whole: whole, Source: FromList}
		return tx.QueryRowContext(ctx, `INSERT INTO snapshots (account_id, began_at, whole) VALUES (?, ?, ?) RETURNING id`, accountID, now.UnixMilli(), whole).Scan(&begun.ID)
	})
	if err != nil {
		return begun, fmt.Errorf("begin a snapshot: %w", err)
	}
	return begun, nil
}

// now is the list as it is known, without marks.
func (s store) now(ctx context.Context, accountID int64) (map[catalog.SubjectID]version, error) {
	known := map[catalog.SubjectID]version{}
	err := db.Each(ctx, s.db.Read(), "read the known list", func(row db.Row) error {
		var v version
		var entry []byte
		err := row.Scan(&v.since, &entry)
		if err == nil {
			err = json.Unmarshal(entry, &v.Entry)
		}
		known[v.Entry.Subject] = v
		return err
	}, `SELECT since, entry FROM listed_entries WHERE account_id = ? AND until = 0`, accountID)
	return known, err
}

// put stores what some entries are from a snapshot on.
func (s store) put(ctx context.Context, accountID, id int64, some []version) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, v := range some {
			if err := putTx(ctx, tx, accountID, id, v); err != nil {
				return fmt.Errorf("store the entry %d: %w", v.Entry.Subject, err)
			}
		}
		return nil
	})
}

func putTx(ctx context.Context, tx *sql.Tx, accountID, id int64, v version) error {
	entry, err := json.Marshal(v.Entry)
	if err != nil {
		return err
	}
	marks, marked := []byte{}, 0
	if v.Marks != nil {
		if marks, err = pack(v.Marks); err != nil {
			return err
		}
		marked = len(v.Marks)
	} else {
		err := tx.QueryRowContext(ctx, `SELECT marks, marked FROM listed_entries WHERE account_id = ? AND subject_id = ? AND until = 0`, accountID, v.Entry.Subject).Scan(&marks, &marked)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		marks = append([]byte{}, marks...) // an empty one may be read as NULL
	}
	if _, err := tx.ExecContext(ctx, `UPDATE listed_entries SET until = ? WHERE account_id = ? AND subject_id = ? AND until = 0 AND since <> ?`,
		id, accountID, v.Entry.Subject, id); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO listed_entries (account_id, subject_id, since, until, entry, marks, marked) VALUES (?, ?, ?, 0, ?, ?, ?)
		ON CONFLICT (account_id, subject_id, since) DO UPDATE SET until = 0, entry = excluded.entry, marks = excluded.marks, marked = excluded.marked`,
		accountID, v.Entry.Subject, id, string(entry), marks, marked)
	return err
}

// end ends a snapshot, in which gone are no entries any more.
func (s store) end(ctx context.Context, begun Snapshot, gone []catalog.SubjectID, now time.Time) (Snapshot, error) {
	begun.TakenAt = now.Truncate(time.Millisecond).UTC()
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for len(gone) > 0 {
			n := min(storedAtOnce, len(gone))
			list, args := db.In(gone[:n])
			gone = gone[n:]
			if _, err := tx.ExecContext(ctx, `UPDATE listed_entries SET until = ? WHERE account_id = ? AND until = 0 AND subject_id IN `+list,
				append([]any{begun.ID, begun.AccountID}, args...)...); err != nil {
				return err
			}
		}
		err := tx.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(SUM(marked), 0) FROM listed_entries WHERE account_id = ? AND until = 0`, begun.AccountID).Scan(&begun.Entries, &begun.Marks)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE snapshots SET taken_at = ?, total = ?, entries = ?, marks = ? WHERE id = ?`,
			begun.TakenAt.UnixMilli(), begun.Total, begun.Entries, begun.Marks, begun.ID)
		return err
	})
	if err != nil {
		return begun, fmt.Errorf("end a snapshot: %w", err)
	}
	return begun, nil
}

func (s store) list(ctx context.Context, accountID int64) ([]Snapshot, error) {
	within, whose := account.Within(ctx, "account_id")
	return db.All(ctx, s.db.Read(), "list snapshots", scan, `SELECT `+columns+` FROM snapshots WHERE account_id = ? AND taken_at <> 0 AND `+within+` ORDER BY taken_at DESC, id DESC`,
		append([]any{accountID}, whose...)...)
}

// newest is the newest snapshot of an account; the zero one when it has none.
func (s store) newest(ctx context.Context, accountID int64) (Snapshot, error) {
	within, whose := account.Within(ctx, "account_id")
	found, err := scan(s.db.Read().QueryRowContext(ctx, `SELECT `+columns+` FROM snapshots WHERE account_id = ? AND taken_at <> 0 AND source = 'list' AND `+within+` ORDER BY id DESC LIMIT 1`,
		append([]any{accountID}, whose...)...))
	if errors.Is(err, sql.ErrNoRows) {
		return Snapshot{}, nil
	}
	return found, err
}

func (s store) get(ctx context.Context, id int64) (Snapshot, error) {
	within, whose := account.Within(ctx, "account_id")
	found, err := scan(s.db.Read().QueryRowContext(ctx, `SELECT `+columns+` FROM snapshots WHERE id = ? AND taken_at <> 0 AND `+within, append([]any{id}, whose...)...))
	if errors.Is(err, sql.ErrNoRows) {
		return Snapshot{}, ErrNotFound
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("read a snapshot: %w", err)
	}
	return found, nil
}

// held is that a row was so in a snapshot, with its parameters.
func held(in Snapshot) (condition string, args []any) {
	if in.Source == FromFile {
		return `since = ? AND until = ?`, []any{in.ID, in.ID}
	}
	return `since <= ? AND (until = 0 OR until > ?)`, []any{in.ID, in.ID}
}

// each gives the entries of a snapshot in the order of their subjects.
func (s store) each(ctx context.Context, of Snapshot, read func(version) error) error {
	in, args := held(of)
	return db.Each(ctx, s.db.Read(), "read a snapshot", func(row db.Row) error {
		v, err := scanVersion(row)
		if err != nil {
			return err
		}
		return read(v)
	}, `SELECT since, entry, marks FROM listed_entries WHERE account_id = ? AND `+in+` ORDER BY subject_id`, append([]any{of.AccountID}, args...)...)
}

// between gives the rows that were so in only one of two snapshots of a list, with which one it was.
func (s store) between(ctx context.Context, from, to Snapshot, read func(v version, before bool) error) error {
	for _, side := range []struct {
		in, out Snapshot
		before  bool
	}{{from, to, true}, {to, from, false}} {
		in, args := held(side.in)
		out, more := held(side.out)
		args = append(args, more...)
		err := db.Each(ctx, s.db.Read(), "compare snapshots", func(row db.Row) error {
			v, err := scanVersion(row)
			if err != nil {
				return err
			}
			return read(v, side.before)
		}, `SELECT since, entry, marks FROM listed_entries WHERE account_id = ? AND `+in+` AND NOT (`+out+`)`, append([]any{from.AccountID}, args...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// pair is an entry in two snapshots; nil where it is not on the list.
type pair struct{ before, after *version }

// pairs are the entries that were not stored alike in two snapshots of a list.
func (s store) pairs(ctx context.Context, from, to Snapshot) (map[catalog.SubjectID]*pair, error) {
	all := map[catalog.SubjectID]*pair{}
	err := s.between(ctx, from, to, func(v version, before bool) error {
		p := all[v.Entry.Subject]
		if p == nil {
			p = &pair{}
			all[v.Entry.Subject] = p
		}
		if before {
			p.before = &v
		} else {
			p.after = &v
		}
		return nil
	})
	return all, err
}

// scanVersion reads a row that begins with since, entry and marks.
func scanVersion(row db.Row, more ...any) (v version, err error) {
	var entry, marks []byte
	if err := row.Scan(append([]any{&v.since, &entry, &marks}, more...)...); err != nil {
		return v, err
	}
	if err := json.Unmarshal(entry, &v.Entry); err != nil {
		return v, fmt.Errorf("read a kept entry: %w", err)
	}
	v.Marks, err = unpack(marks)
	return v, err
}

// prune forgets what of the list is beyond the newest keep, but for the first snapshot of each month.
func (s store) prune(ctx context.Context, accountID int64, keep int) error {
	all, err := s.list(ctx, accountID)
	all = slices.DeleteFunc(all, func(s Snapshot) bool { return s.Source == FromFile }) // which somebody asked to be kept
	if err != nil || len(all) <= keep {
		return err
	}
	var old []int64
	for i := keep; i < len(all); i++ {
		monthBegins := i == len(all)-1 || all[i+1].TakenAt.Format("2006-01") != all[i].TakenAt.Format("2006-01")
		if !monthBegins {
			old = append(old, all[i].ID)
		}
	}
	return s.remove(ctx, accountID, old)
}

// remove forgets snapshots, and what was so in them alone.
func (s store) remove(ctx context.Context, accountID int64, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	list, args := db.In(ids)
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM snapshots WHERE id IN `+list, args...); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM listed_entries WHERE account_id = ? AND until <> 0
			AND NOT EXISTS (SELECT 1 FROM snapshots s WHERE s.account_id = listed_entries.account_id AND s.source = 'list' AND s.id >= listed_entries.since AND s.id < listed_entries.until)
			AND NOT EXISTS (SELECT 1 FROM snapshots f WHERE f.id = listed_entries.since AND f.id = listed_entries.until)`, accountID)
		return err
	})
	if err != nil {
		return fmt.Errorf("remove snapshots: %w", err)
	}
	return nil
}

// pack makes little of marks.
func pack(marks []catalog.Mark) ([]byte, error) {
	if len(marks) == 0 {
		return []byte{}, nil
	}
	text, err := json.Marshal(marks)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// unpackedMost bounds the marks of an entry, in bytes.
const unpackedMost = 16 << 20

func unpack(packed []byte) ([]catalog.Mark, error) {
	marks := []catalog.Mark{}
	if len(packed) == 0 {
		return marks, nil
	}
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), unpackedMost))
	if err == nil {
		err = json.Unmarshal(text, &marks)
	}
	if err != nil {
		return nil, fmt.Errorf("read kept marks: %w", err)
	}
	return marks, nil
}
