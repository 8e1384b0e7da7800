-- +goose Up
-- What was taken over of the history of another program, by a digest of what it is there.
CREATE TABLE moved_records (
    digest    TEXT PRIMARY KEY,
    record_id BIGINT NOT NULL
);

-- +goose Down
DROP TABLE moved_records;
