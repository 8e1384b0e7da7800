-- +goose Up
ALTER TABLE accounts ADD COLUMN dry_run BIGINT NOT NULL DEFAULT 0;

-- What a record wrote to a list and nobody took back: an episode, or with episode_id 0 the
-- subject itself. completed says that the subject was set done with it. What was there
-- before the record came has no row, and neither have the marks made before this table.
CREATE TABLE record_marks (
    record_id  BIGINT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    subject_id BIGINT NOT NULL,
    episode_id BIGINT NOT NULL,
    completed  BIGINT NOT NULL,
    PRIMARY KEY (record_id, account_id, subject_id, episode_id)
);
CREATE INDEX record_marks_entry ON record_marks (account_id, subject_id);

-- +goose Down
DROP TABLE record_marks;
ALTER TABLE accounts DROP COLUMN dry_run;
