-- +goose Up
-- What a warning or an error is about: of one matter the newest notice stands for those before it, which are replaced by
-- it, and times counts them. over_at is when the matter was settled, in unix ms; 0 while it is open.
ALTER TABLE notices ADD COLUMN matter TEXT NOT NULL DEFAULT '';
ALTER TABLE notices ADD COLUMN times BIGINT NOT NULL DEFAULT 1;
ALTER TABLE notices ADD COLUMN replaced BIGINT NOT NULL DEFAULT 0;
ALTER TABLE notices ADD COLUMN over_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX notices_open ON notices (matter) WHERE matter <> '' AND replaced = 0 AND over_at = 0;

-- Users of media servers whose plays are left alone.
CREATE TABLE ignored_users (
    name       TEXT PRIMARY KEY,
    ignored_at BIGINT NOT NULL
);
-- The records of users that no account names.
CREATE INDEX records_no_account ON records (user_name, id) WHERE error_kind = 'no_account';

-- +goose Down
DROP INDEX records_no_account;
DROP TABLE ignored_users;
DROP INDEX notices_open;
ALTER TABLE notices DROP COLUMN over_at;
ALTER TABLE notices DROP COLUMN replaced;
ALTER TABLE notices DROP COLUMN times;
ALTER TABLE notices DROP COLUMN matter;
