-- +goose Up
-- What a list has that may air: entries is JSON. read_at is 0 while it was never read, and problem is why the last try failed.
CREATE TABLE calendar_lists (
    account_id BIGINT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    read_at    BIGINT NOT NULL DEFAULT 0,
    tried_at   BIGINT NOT NULL,
    problem    TEXT NOT NULL DEFAULT '',
    entries    TEXT NOT NULL DEFAULT '[]'
);

-- The secret address of somebody's calendar; without a person it is the owner's. It is found by hash, and shown again from sealed.
CREATE TABLE calendar_addresses (
    id         INTEGER PRIMARY KEY,
    person_id  BIGINT REFERENCES people (id) ON DELETE CASCADE,
    hash       TEXT NOT NULL UNIQUE,
    sealed     TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX calendar_addresses_person ON calendar_addresses (COALESCE(person_id, 0));

-- +goose Down
DROP TABLE calendar_addresses;
DROP TABLE calendar_lists;
