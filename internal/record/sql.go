package record

import (
	"context"

	"watchmark/internal/catalog/account"
)

// SQL about records for the statements of those who keep other tables: id and question are expressions of such a statement.

// StatusOf is the status of a record.
func StatusOf(id string) string {
	return `(SELECT records.status FROM records WHERE records.id = ` + id + `)`
}

// UserOf is the media-server user of a record.
func UserOf(id string) string {
	return `(SELECT records.user_name FROM records WHERE records.id = ` + id + `)`
}

// IsAwaitedIn holds for a question that a record waits for which the scope of ctx reaches; its arguments come with it.
func IsAwaitedIn(ctx context.Context, question string) (term string, args []any) {
	within, args := account.Within(ctx, "records.account_id")
	return question + ` IN (SELECT records.question_id FROM records WHERE records.status = 'review' AND ` + within + `)`, args
}

// SubjectNameOf is what the newest record of an account calls a subject, NULL where there is none.
func SubjectNameOf(account, subject string) string {
	return `(SELECT records.subject_name FROM records WHERE records.account_id = ` + account + ` AND records.subject_id = ` + subject + ` ORDER BY records.id DESC LIMIT 1)`
}

// IsAwaited holds for a question that a record waits for.
func IsAwaited(question string) string {
	return `EXISTS (SELECT 1 FROM records WHERE records.question_id = ` + question + ` AND records.status = 'review')`
}
