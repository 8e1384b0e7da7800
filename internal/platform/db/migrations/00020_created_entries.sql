-- +goose Up
-- created: the record put the subject on the list, and episode_id is 0: the episode itself was marked before.
ALTER TABLE record_marks ADD COLUMN created BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE record_marks DROP COLUMN created;
