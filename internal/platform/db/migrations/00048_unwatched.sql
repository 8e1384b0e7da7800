-- +goose Up
-- What an account has done about what was set back to unwatched; empty is as sync.unwatched says.
ALTER TABLE accounts ADD COLUMN unwatched TEXT NOT NULL DEFAULT '';

-- Records whose mark is to be taken back, because what was watched was set back to unwatched at heard_at. asked_at is since when that
-- waits for a person's word, 0 while it does not.
CREATE TABLE unwatched (
    record_id  BIGINT NOT NULL REFERENCES records (id) ON DELETE CASCADE,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    heard_at   BIGINT NOT NULL,
    asked_at   BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (record_id, account_id)
);
CREATE INDEX records_title ON records (title, episode) WHERE account_id IS NOT NULL;

-- What this service itself set to unwatched on a media server, and when: its echo is not a person's word.
CREATE TABLE media_unplayed (
    login_id BIGINT NOT NULL REFERENCES media_logins (id) ON DELETE CASCADE,
    item_id  TEXT NOT NULL,
    at       BIGINT NOT NULL,
    PRIMARY KEY (login_id, item_id)
);

-- +goose Down
DROP TABLE media_unplayed;
DROP INDEX records_title;
DROP TABLE unwatched;
ALTER TABLE accounts DROP COLUMN unwatched;
