package record

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"watchmark/internal/platform/db"
)

// columns are the columns scan reads, in its order.
const columns = `id, status, is_test, source, source_label, action, media_type, user_name, title, original_title, season, episode,
	release_date, account_id, account_name, subject_id, subject_name, episode_id, episode_sort, method, confidence,
	message, error_kind, attempts, EXISTS (SELECT 1 FROM record_marks WHERE record_id = records.id AND intended_at = 0), rewatch, created_at, updated_at`

// scan reads one row of columns, and then whatever else was selected.
func scan(row db.Row, r *Record, more ...any) error {
	var account sql.NullInt64
	var created, updated int64
	err := row.Scan(append([]any{&r.ID, &r.Status, &r.Test, &r.Source, &r.SourceLabel, &r.Action, &r.MediaType, &r.UserName, &r.Title,
		&r.OriginalTitle, &r.Season, &r.Episode, &r.ReleaseDate, &account, &r.AccountName, &r.SubjectID, &r.SubjectName,
		&r.EpisodeID, &r.EpisodeSort, &r.Method, &r.Confidence, &r.Message, &r.ErrorKind, &r.Attempts, &r.Marked, &r.Rewatch, &created, &updated}, more...)...)
	if err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	r.AccountID = account.Int64
	r.CreatedAt, r.UpdatedAt = time.UnixMilli(created), time.UnixMilli(updated)
	return nil
}

// recordsOf are the records that the rest of a SELECT names.
func recordsOf(ctx context.Context, from db.Querier, rest string, args ...any) ([]Record, error) {
	return db.All(ctx, from, "list records", func(row db.Row) (r Record, err error) {
		err = scan(row, &r)
		return r, err
	}, `SELECT `+columns+` FROM records `+rest, args...)
}
