package record

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
)

// Mark is something a record wrote to a list: an episode, or with EpisodeID 0 the
// subject itself. It is kept until somebody takes it back. Before it is written it is an intent.
type Mark struct {
	RecordID  int64
	AccountID int64
	SubjectID catalog.SubjectID
	EpisodeID catalog.EpisodeID
	// Completed: the subject was set done with it.
	Completed bool
	// Created: it is the entry of the list, which was missing. EpisodeID is 0.
	Created bool
	// Changed: the state of the entry was changed with it, and was Was before; 0 = it was missing, or this service had left it.
	Changed bool
	Was     catalog.CollectionType
	// Intended is when it was about to be written, by the catalog's clock, while nobody knows whether it was; else zero.
	Intended time.Time
	// Written is when it was written, or intended to be.
	Written time.Time
}

// markColumns are the columns scanMark reads, in its order.
const markColumns = `record_id, account_id, subject_id, episode_id, completed, created, was, intended_at, written_at`

func scanMark(row db.Row) (m Mark, err error) {
	var intended, written int64
	err = row.Scan(&m.RecordID, &m.AccountID, &m.SubjectID, &m.EpisodeID, &m.Completed, &m.Created, &m.Was, &intended, &written)
	if m.Changed = m.Was >= 0; !m.Changed {
		m.Was = 0
	}
	if intended != 0 {
		m.Intended = time.Unix(intended, 0)
	}
	m.Written = time.UnixMilli(written)
	return m, err
}

// was is what the column of that name holds.
func (m Mark) was() catalog.CollectionType {
	if m.Changed {
		return m.Was
	}
	return -1
}

// Marks is what a record wrote and nobody took back, by subject and episode.
func (s *Store) Marks(ctx context.Context, id int64) ([]Mark, error) {
	within, whose := account.Within(ctx, "account_id")
	return db.All(ctx, s.db.Read(), fmt.Sprintf("read the marks of record %d", id), scanMark,
		`SELECT `+markColumns+` FROM record_marks WHERE record_id = ? AND `+within+` ORDER BY account_id, subject_id, episode_id`, append([]any{id}, whose...)...)
}

// Written is what records wrote to an account's list in a span of time and nobody took back: the episodes of each subject, 0 for the entry itself.
func (s *Store) Written(ctx context.Context, accountID int64, from, to time.Time) (map[catalog.SubjectID][]catalog.EpisodeID, error) {
	within, whose := account.Within(ctx, "account_id")
	all := map[catalog.SubjectID][]catalog.EpisodeID{}
	err := db.Each(ctx, s.db.Read(), "read what was written to a list", func(row db.Row) error {
		var subject catalog.SubjectID
		var episode catalog.EpisodeID
		err := row.Scan(&subject, &episode)
		all[subject] = append(all[subject], episode)
		return err
	}, `SELECT subject_id, episode_id FROM record_marks WHERE account_id = ? AND written_at >= ? AND written_at <= ? AND `+within, append([]any{accountID, from.UnixMilli(), to.UnixMilli()}, whose...)...)
	return all, err
}

// Completed reports whether any record set the subject done on the account's list.
func (s *Store) Completed(ctx context.Context, account int64, subject catalog.SubjectID) (bool, error) {
	var completed bool
	err := s.db.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM record_marks WHERE account_id = ? AND subject_id = ? AND completed = 1)`,
		account, subject).Scan(&completed)
	if err != nil {
		return false, fmt.Errorf("look who set subject %d done: %w", subject, err)
	}
	return completed, nil
}

// Knows reports whether an account's list has had an entry for a subject: some record came out by it.
func (s *Store) Knows(ctx context.Context, account int64, subject catalog.SubjectID) (bool, error) {
	var known bool
	err := s.db.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM records WHERE status = 'success' AND account_id = ? AND subject_id = ?)`,
		account, subject).Scan(&known)
	if err != nil {
		return false, fmt.Errorf("look whether subject %d is known on a list: %w", subject, err)
	}
	return known, nil
}

// Titles are what records are asked for by: the title, as same compares it, a season, and film or not.
type Titles struct {
	Same   func(title string) bool
	Season *int
	// EverySeason takes any season.
	EverySeason bool
	Film        bool
}

// Sharers are the other records that came out as success with what m marked and are not of
// these titles, the oldest first: they found the mark and rely on it. On an entry rely all that came out
// with its subject, but for those that repeat the record of m.
//
// Those that came out within beside do not count: what is undone is all that was done there.
func (s *Store) Sharers(ctx context.Context, m Mark, own Titles, beside Writings) ([]int64, error) {
	var sharers []int64
	err := db.Each(ctx, s.db.Read(), fmt.Sprintf("look who shares a mark of record %d", m.RecordID), func(row db.Row) error {
		var id, updated, by int64
		var title string
		var alike bool
		err := row.Scan(&id, &title, &updated, &by, &alike)
		if (!alike || !own.Same(title)) && !beside.holds(time.UnixMilli(updated), by) {
			sharers = append(sharers, id)
		}
		return err
	}, `SELECT id, title, updated_at, task_id, COALESCE(season, -1) = COALESCE(?, -1) AND (media_type = 'movie') = ?
			AND (NOT ? OR (SELECT own.episode_id = records.episode_id AND own.action = records.action FROM records own WHERE own.id = ?)) FROM records
		WHERE status = 'success' AND action = 'watched' AND account_id = ? AND subject_id = ? AND (episode_id = ? OR ?) AND id <> ? ORDER BY id`,
		own.Season, own.Film, m.Created, m.RecordID, m.AccountID, m.SubjectID, m.EpisodeID, m.Created, m.RecordID)
	return sharers, err
}

// Titled is a record of a title.
type Titled struct {
	ID int64
	// Marked is set when it holds a mark.
	Marked bool
}

// SameTitle is the newest records, up to limit and the oldest first, that are on their way
// or came out otherwise than ignored and are of these titles.
func (s *Store) SameTitle(ctx context.Context, of Titles, limit int) ([]Titled, error) {
	within, whose := account.Within(ctx, "account_id")
	rows, err := s.db.Read().QueryContext(ctx, `SELECT id, title, EXISTS (SELECT 1 FROM record_marks WHERE record_id = records.id) FROM records
		WHERE (? OR COALESCE(season, -1) = COALESCE(?, -1)) AND (media_type = 'movie') = ? AND status <> 'ignored' AND `+within+` ORDER BY id DESC`,
		append([]any{of.EverySeason, of.Season, of.Film}, whose...)...)
	if err != nil {
		return nil, fmt.Errorf("list the records of a title: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var found []Titled
	for len(found) < limit && rows.Next() {
		var one Titled
		var title string
		if err := rows.Scan(&one.ID, &title, &one.Marked); err != nil {
			return nil, fmt.Errorf("list the records of a title: %w", err)
		}
		if of.Same(title) {
			found = append(found, one)
		}
	}
	slices.Reverse(found)
	return found, rows.Err()
}

// addMark keeps a mark, which an intent becomes with what earlier tries did to the entry. One of an account that was deleted meanwhile
// is not kept.
func addMark(ctx context.Context, tx *sql.Tx, m Mark) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO record_marks (`+markColumns+`, task_id)
		SELECT r.id, ?, ?, ?, ?, ?, ?, 0, ?, r.task_id FROM records r WHERE r.id = ? AND `+account.Existing+` IS NOT NULL
		ON CONFLICT (record_id, account_id, subject_id, episode_id) DO UPDATE SET completed = excluded.completed, created = excluded.created,
			was = CASE WHEN excluded.was < 0 THEN record_marks.was ELSE excluded.was END, intended_at = 0, written_at = excluded.written_at,
			task_id = excluded.task_id`,
		m.AccountID, m.SubjectID, m.EpisodeID, m.Completed, m.Created, m.was(), m.Written.UnixMilli(), m.RecordID, m.AccountID)
	if err != nil {
		return fmt.Errorf("keep a mark of record %d: %w", m.RecordID, err)
	}
	return nil
}

// DropMarkTx forgets a mark that was taken back, within tx.
func DropMarkTx(ctx context.Context, tx *sql.Tx, m Mark) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM record_marks WHERE record_id = ? AND account_id = ? AND subject_id = ? AND episode_id = ?`,
		m.RecordID, m.AccountID, m.SubjectID, m.EpisodeID)
	if err != nil {
		return fmt.Errorf("forget a mark of record %d: %w", m.RecordID, err)
	}
	return nil
}

// HandMarkTx makes a mark that of another record, within tx, as if that had written it when it came out.
func HandMarkTx(ctx context.Context, tx *sql.Tx, m Mark, to int64) error {
	if err := DropMarkTx(ctx, tx, m); err != nil {
		return err
	}
	var came int64
	if err := tx.QueryRowContext(ctx, `SELECT updated_at FROM records WHERE id = ?`, to).Scan(&came); err != nil {
		return fmt.Errorf("look when record %d came out: %w", to, err)
	}
	m.RecordID, m.Written = to, time.UnixMilli(came)
	return addMark(ctx, tx, m)
}

// ReopenedTx forgets that records set a subject done, within tx: it is not any more.
func ReopenedTx(ctx context.Context, tx *sql.Tx, account int64, subject catalog.SubjectID) error {
	_, err := tx.ExecContext(ctx, `UPDATE record_marks SET completed = 0 WHERE account_id = ? AND subject_id = ?`, account, subject)
	if err != nil {
		return fmt.Errorf("forget that subject %d was set done: %w", subject, err)
	}
	return nil
}

// LeftTx notes within tx that an entry was dropped because it was taken back.
func LeftTx(ctx context.Context, tx *sql.Tx, account int64, subject catalog.SubjectID) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO left_entries (account_id, subject_id) VALUES (?, ?) ON CONFLICT DO NOTHING`, account, subject)
	if err != nil {
		return fmt.Errorf("keep that the entry of subject %d was left: %w", subject, err)
	}
	return nil
}

// ResumedTx forgets within tx that an entry was left: it was taken up again, and if it is dropped from now on, the person has done that.
func ResumedTx(ctx context.Context, tx *sql.Tx, account int64, subject catalog.SubjectID) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM left_entries WHERE account_id = ? AND subject_id = ?`, account, subject)
	if err != nil {
		return fmt.Errorf("forget that the entry of subject %d was left: %w", subject, err)
	}
	return nil
}

// Left reports whether the account's entry of a subject was dropped because it was taken back.
func (s *Store) Left(ctx context.Context, account int64, subject catalog.SubjectID) (bool, error) {
	var left bool
	err := s.db.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM left_entries WHERE account_id = ? AND subject_id = ?)`, account, subject).Scan(&left)
	if err != nil {
		return false, fmt.Errorf("look whether the entry of subject %d was left: %w", subject, err)
	}
	return left, nil
}
