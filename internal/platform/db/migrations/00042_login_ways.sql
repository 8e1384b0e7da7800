-- +goose Up
-- How the replica that follows a login hears of news, 'live' or 'polling', '' while it does not; next_at is when it asks for everything
-- next, 0 is not known. Who runs a summary stands in holds: lease_owner and lease_until of summary_jobs are not used any more.
ALTER TABLE media_logins ADD COLUMN way TEXT NOT NULL DEFAULT '';
ALTER TABLE media_logins ADD COLUMN next_at BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE media_logins DROP COLUMN next_at;
ALTER TABLE media_logins DROP COLUMN way;
