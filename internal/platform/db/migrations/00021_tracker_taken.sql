-- +goose Up
-- How many plays the last reading of a tracker user's history took in.
ALTER TABLE tracker_users ADD COLUMN last_taken BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE tracker_users DROP COLUMN last_taken;
