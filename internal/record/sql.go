package record

// SQL about records for the statements of those who keep other tables: id and question are expressions of such a statement.

// StatusOf is the status of a record.
func StatusOf(id string) string {
	return `(SELECT records.status FROM records WHERE records.id = ` + id + `)`
}

// UserOf is the media-server user of a record.
func UserOf(id string) string {
	return `(SELECT records.user_name FROM records WHERE records.id = ` + id + `)`
}

// IsAwaited holds for a question that a record waits for.
func IsAwaited(question string) string {
	return `EXISTS (SELECT 1 FROM records WHERE records.question_id = ` + question + ` AND records.status = 'review')`
}
