-- +goose Up
-- What replicas keep in memory of the database: a version is raised in the transaction that changes what it is named after.
CREATE TABLE versions (
    name    TEXT PRIMARY KEY,
    version BIGINT NOT NULL
);

-- What somebody comes back for within a time, such as a sign-in that a browser was sent away for. hash is that of the kind and the
-- name, sealed the value, until by the database's clock, wrong counts tries that failed.
CREATE TABLE tickets (
    hash   TEXT PRIMARY KEY,
    kind   TEXT NOT NULL,
    sealed TEXT NOT NULL,
    until  BIGINT NOT NULL,
    wrong  BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX tickets_kind ON tickets (kind, until);

-- Failed attempts to sign in, by address, name or browser: key is a hash of that, who the same sealed, last by the database's clock.
CREATE TABLE door_failures (
    key   TEXT PRIMARY KEY,
    who   TEXT NOT NULL,
    count BIGINT NOT NULL,
    last  BIGINT NOT NULL
);
CREATE INDEX door_failures_last ON door_failures (last);

-- +goose Down
DROP TABLE door_failures;
DROP TABLE tickets;
DROP TABLE versions;
