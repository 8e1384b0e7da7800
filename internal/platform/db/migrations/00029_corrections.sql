-- +goose Up
-- One row for each correction of a record that can be undone; decision is JSON, as that of pending_candidates.
CREATE TABLE corrections (
    id         INTEGER PRIMARY KEY,
    record_id  BIGINT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    decision   TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX corrections_record ON corrections (record_id, id);

-- +goose Down
DROP TABLE corrections;
