-- +goose Up
-- What a script called itself as the source of an event; empty for media servers.
ALTER TABLE records ADD COLUMN source_label TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE records DROP COLUMN source_label;
