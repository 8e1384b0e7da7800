-- +goose Up
-- How the replica that follows a login hears of news, 'live' or 'polling', '' while it does not; next_at is when it asks for everything
-- next, 0 is not known. And who runs a summary stands in holds.
ALTER TABLE media_logins ADD COLUMN way TEXT NOT NULL DEFAULT '';
ALTER TABLE media_logins ADD COLUMN next_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE summary_jobs DROP COLUMN lease_owner;
ALTER TABLE summary_jobs DROP COLUMN lease_until;

-- +goose Down
ALTER TABLE summary_jobs ADD COLUMN lease_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE summary_jobs ADD COLUMN lease_owner TEXT NOT NULL DEFAULT '';
ALTER TABLE media_logins DROP COLUMN next_at;
ALTER TABLE media_logins DROP COLUMN way;
