-- +goose Up
-- Where a snapshot is from: the list, or a file that was taken out before. The entries of a file are rows of their own, whose since and
-- until both are its snapshot: so no other snapshot has them.
ALTER TABLE snapshots ADD COLUMN source TEXT NOT NULL DEFAULT 'list';

-- +goose Down
DELETE FROM listed_entries WHERE since = until;
DELETE FROM snapshots WHERE source = 'file';
ALTER TABLE snapshots DROP COLUMN source;
