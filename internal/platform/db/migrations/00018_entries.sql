-- +goose Up
-- What is known of an account's entry for a subject, and who shares a mark there.
CREATE INDEX records_entry ON records (account_id, subject_id) WHERE status = 'success';

-- +goose Down
DROP INDEX records_entry;
