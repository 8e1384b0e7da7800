-- +goose Up
-- Readings of a whole list. taken_at is when a reading ended, 0 before; total is how many entries the catalog counted, those that it does
-- not show among them. whole is 1 when all marks were read, and not only those that had changed.
CREATE TABLE snapshots (
    id         INTEGER PRIMARY KEY,
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    began_at   BIGINT NOT NULL,
    taken_at   BIGINT NOT NULL DEFAULT 0,
    total      BIGINT NOT NULL DEFAULT 0,
    entries    BIGINT NOT NULL DEFAULT 0,
    marks      BIGINT NOT NULL DEFAULT 0,
    whole      BIGINT NOT NULL
);
CREATE INDEX snapshots_account ON snapshots (account_id, id);

-- What the entries of a list were, each from the snapshot since, and until the one before until; until is 0 for what is so in the newest.
-- entry is JSON, marks packed JSON, of marked episodes many.
CREATE TABLE listed_entries (
    account_id  BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    subject_id  BIGINT NOT NULL,
    since       BIGINT NOT NULL,
    until       BIGINT NOT NULL,
    entry       TEXT NOT NULL,
    marks       BLOB NOT NULL,
    marked      BIGINT NOT NULL,
    PRIMARY KEY (account_id, subject_id, since)
);
CREATE INDEX listed_entries_since ON listed_entries (account_id, since);
CREATE INDEX listed_entries_until ON listed_entries (account_id, until);

-- +goose Down
DROP TABLE listed_entries;
DROP TABLE snapshots;
