-- +goose Up
-- The processes that work on this database. Each start is an incarnation, and owns what it has in hand by that number (owner of other
-- tables, 0 is nobody). state is live or dead, and lease_until, until when a live one counts as such without a sign of life, by the
-- database's clock; of a dead one it is when it died. clock_offset is how many milliseconds its clock is ahead. reachable is 1 while it
-- reaches the catalog.
CREATE TABLE replicas (
    incarnation     INTEGER PRIMARY KEY,
    replica         TEXT NOT NULL,
    address         TEXT NOT NULL,
    state           TEXT NOT NULL,
    lease_until     BIGINT NOT NULL,
    started_at      BIGINT NOT NULL,
    program         TEXT NOT NULL,
    schema          BIGINT NOT NULL,
    reachable       BIGINT NOT NULL,
    egress          TEXT NOT NULL,
    clock_offset    BIGINT NOT NULL,
    settings_digest TEXT NOT NULL
);

-- List entries that a replica writes to, or that rest until free_at.
CREATE TABLE entries (
    account_id BIGINT NOT NULL,
    subject_id BIGINT NOT NULL,
    owner      BIGINT NOT NULL,
    free_at    BIGINT NOT NULL,
    PRIMARY KEY (account_id, subject_id)
);

-- One row, which whoever claims records locks.
CREATE TABLE claims (
    id    INTEGER PRIMARY KEY,
    owner BIGINT NOT NULL
);
INSERT INTO claims (id, owner) VALUES (1, 0);

ALTER TABLE records ADD COLUMN owner BIGINT NOT NULL DEFAULT 0;
-- What waits is claimed in the order of records_status.
DROP INDEX records_work;
CREATE INDEX records_in_work ON records (user_name, title) WHERE status = 'processing';

-- +goose Down
DROP INDEX records_in_work;
CREATE INDEX records_work ON records (status, lease_until, id) WHERE status IN ('received', 'processing');
ALTER TABLE records DROP COLUMN owner;
DROP TABLE claims;
DROP TABLE entries;
DROP TABLE replicas;
