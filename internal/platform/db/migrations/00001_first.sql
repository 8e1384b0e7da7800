-- +goose Up
-- Times are unix milliseconds, booleans 0 or 1, JSON in TEXT.

CREATE TABLE settings (
    key        TEXT PRIMARY KEY,
    value      TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE admins (
    id            INTEGER PRIMARY KEY,
    name          TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL
);

CREATE TABLE sessions (
    token_hash TEXT PRIMARY KEY,
    admin_id   BIGINT NOT NULL REFERENCES admins (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    user_agent TEXT NOT NULL DEFAULT '',
    remote     TEXT NOT NULL DEFAULT ''
);

CREATE TABLE api_keys (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    key_hash   TEXT NOT NULL UNIQUE,
    hint       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL DEFAULT 0
);

-- Tokens are sealed; an empty token means none.
CREATE TABLE accounts (
    id              INTEGER PRIMARY KEY,
    username        TEXT NOT NULL UNIQUE,
    nickname        TEXT NOT NULL DEFAULT '',
    catalog_user_id BIGINT NOT NULL DEFAULT 0,
    auth_method     TEXT NOT NULL,
    access_token    TEXT NOT NULL DEFAULT '',
    refresh_token   TEXT NOT NULL DEFAULT '',
    expires_at      BIGINT NOT NULL DEFAULT 0,
    redirect_url    TEXT NOT NULL DEFAULT '',
    enabled         BIGINT NOT NULL,
    preferred       BIGINT NOT NULL,
    private         BIGINT NOT NULL,
    complete_series BIGINT NOT NULL,
    complete_films  BIGINT NOT NULL,
    checked_at      BIGINT NOT NULL DEFAULT 0,
    problem         TEXT NOT NULL DEFAULT '',
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL
);

CREATE TABLE account_media_users (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    PRIMARY KEY (account_id, name)
);
CREATE INDEX account_media_users_name ON account_media_users (name);

CREATE TABLE mappings (
    id             INTEGER PRIMARY KEY,
    title          TEXT NOT NULL,
    is_regex       BIGINT NOT NULL,
    season         BIGINT,
    subject_id     BIGINT NOT NULL,
    episode_offset BIGINT NOT NULL,
    origin         TEXT NOT NULL,
    note           TEXT NOT NULL DEFAULT '',
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL
);
CREATE UNIQUE INDEX mappings_rule ON mappings (title, is_regex, COALESCE(season, -1));

CREATE TABLE blocked_keywords (
    id         INTEGER PRIMARY KEY,
    keyword    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    source     TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (keyword, kind)
);

-- One row for one event and one account. account_id is NULL until routed.
CREATE TABLE records (
    id             INTEGER PRIMARY KEY,
    status         TEXT NOT NULL,
    is_test        BIGINT NOT NULL,
    source         TEXT NOT NULL,
    action         TEXT NOT NULL,
    media_type     TEXT NOT NULL,
    user_name      TEXT NOT NULL,
    title          TEXT NOT NULL,
    original_title TEXT NOT NULL,
    season         BIGINT,
    episode        DOUBLE PRECISION,
    release_date   TEXT NOT NULL,
    account_id     BIGINT REFERENCES accounts (id) ON DELETE SET NULL,
    account_name   TEXT NOT NULL DEFAULT '',
    subject_id     BIGINT NOT NULL DEFAULT 0,
    subject_name   TEXT NOT NULL DEFAULT '',
    episode_id     BIGINT NOT NULL DEFAULT 0,
    episode_sort   DOUBLE PRECISION,
    method         TEXT NOT NULL DEFAULT '',
    confidence     DOUBLE PRECISION NOT NULL DEFAULT 0,
    message        TEXT NOT NULL DEFAULT '',
    error_kind     TEXT NOT NULL DEFAULT '',
    attempts       BIGINT NOT NULL DEFAULT 0,
    lease_until    BIGINT NOT NULL DEFAULT 0,
    event          TEXT NOT NULL,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL
);
CREATE INDEX records_work ON records (status, lease_until, id) WHERE status IN ('received', 'processing');
CREATE INDEX records_status ON records (status, id);
CREATE INDEX records_source ON records (source, id);
CREATE INDEX records_user ON records (user_name, id);
CREATE INDEX records_created ON records (created_at, status);

CREATE TABLE traces (
    record_id BIGINT PRIMARY KEY REFERENCES records (id) ON DELETE CASCADE,
    trace     TEXT NOT NULL
);

CREATE TABLE webhook_log (
    id           INTEGER PRIMARY KEY,
    at           BIGINT NOT NULL,
    source       TEXT NOT NULL,
    remote       TEXT NOT NULL,
    content_type TEXT NOT NULL,
    status       BIGINT NOT NULL,
    reason       TEXT NOT NULL,
    record_ids   TEXT NOT NULL,
    user_name    TEXT NOT NULL,
    title        TEXT NOT NULL,
    body         TEXT NOT NULL
);
CREATE INDEX webhook_log_at ON webhook_log (at);
CREATE INDEX webhook_log_source ON webhook_log (source, id);

-- Writes that wait for the catalog. subject_id is 0 while matching is still to do. A task
-- whose account is deleted stays: its record is routed again when its turn comes.
CREATE TABLE pending_sync_queue (
    record_id    BIGINT PRIMARY KEY REFERENCES records (id) ON DELETE CASCADE,
    account_id   BIGINT REFERENCES accounts (id) ON DELETE SET NULL,
    subject_id   BIGINT NOT NULL,
    episodes     TEXT NOT NULL,
    action       TEXT NOT NULL,
    retry_count  BIGINT NOT NULL,
    status       TEXT NOT NULL,
    last_error   TEXT NOT NULL,
    next_attempt BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE INDEX pending_sync_queue_due ON pending_sync_queue (status, next_attempt);

-- +goose Down
DROP TABLE pending_sync_queue;
DROP TABLE webhook_log;
DROP TABLE traces;
DROP TABLE records;
DROP TABLE blocked_keywords;
DROP TABLE mappings;
DROP TABLE account_media_users;
DROP TABLE accounts;
DROP TABLE api_keys;
DROP TABLE sessions;
DROP TABLE admins;
DROP TABLE settings;
