-- +goose Up
-- What happened, for the inbox. routine is 1 for what comes with every event, which is kept shorter and never
-- unread; severity 0 info, 1 success, 2 warning, 3 error; facts is a JSON object of texts, words their values and the
-- names, for searching.
CREATE TABLE notices (
    id           INTEGER PRIMARY KEY,
    at           BIGINT NOT NULL,
    kind         TEXT NOT NULL,
    severity     BIGINT NOT NULL,
    routine      BIGINT NOT NULL,
    unread       BIGINT NOT NULL,
    user_name    TEXT NOT NULL,
    account_id   BIGINT NOT NULL,
    account_name TEXT NOT NULL,
    record_id    BIGINT NOT NULL,
    facts        TEXT NOT NULL,
    words        TEXT NOT NULL
);
-- None for what is routine: every event brings some.
CREATE INDEX notices_kind ON notices (kind, id) WHERE routine = 0;
CREATE INDEX notices_attention ON notices (id) WHERE severity >= 2;
CREATE INDEX notices_unread ON notices (id, severity) WHERE unread = 1;

-- Channels. config is sealed; version changes with them. paused says why nothing is sent until a person mended it;
-- failures in a row and retry_at say when it is tried again, dropped counts what the next digest tells of.
CREATE TABLE notification_channels (
    id            INTEGER PRIMARY KEY,
    type          TEXT NOT NULL,
    name          TEXT NOT NULL,
    enabled       BIGINT NOT NULL,
    config        TEXT NOT NULL DEFAULT '',
    version       BIGINT NOT NULL,
    paused        TEXT NOT NULL DEFAULT '',
    last_error    TEXT NOT NULL DEFAULT '',
    last_error_at BIGINT NOT NULL DEFAULT 0,
    last_sent_at  BIGINT NOT NULL DEFAULT 0,
    failures      BIGINT NOT NULL DEFAULT 0,
    retry_at      BIGINT NOT NULL DEFAULT 0,
    dropped       BIGINT NOT NULL DEFAULT 0,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL
);

-- What goes out. kinds, users and channels are JSON arrays, empty for all; cooldown is in seconds.
CREATE TABLE notification_rules (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    enabled    BIGINT NOT NULL,
    kinds      TEXT NOT NULL,
    users      TEXT NOT NULL,
    channels   TEXT NOT NULL,
    title      TEXT NOT NULL,
    text       TEXT NOT NULL,
    quiet_from TEXT NOT NULL,
    quiet_to   TEXT NOT NULL,
    cooldown   BIGINT NOT NULL
);
INSERT INTO notification_rules (name, enabled, kinds, users, channels, title, text, quiet_from, quiet_to, cooldown) VALUES ('What needs you', 1,
    '["no_account","not_matched","review_waiting","episode_not_found","mark_failed","abandoned","token_expiring","token_dead","catalog_unreachable","catalog_back","source_silent","archive_failed","tracker_sync_failed","import_failed","job_failed"]',
    '[]', '[]', '', '', '', '', 600);

-- What a rule told lately, by a digest of kind, account and matter, and the notice that it told.
CREATE TABLE notification_cooldowns (
    rule_id   BIGINT NOT NULL,
    matter    TEXT NOT NULL,
    until     BIGINT NOT NULL,
    notice_id BIGINT NOT NULL,
    PRIMARY KEY (rule_id, matter)
);
CREATE INDEX notification_cooldowns_until ON notification_cooldowns (until);

-- What goes to a channel: one row a notice. rule_id is 0 for what goes past the rules; message_id is that of the
-- message it was last part of; tried_at when that was tried first.
CREATE TABLE deliveries (
    id         INTEGER PRIMARY KEY,
    notice_id  BIGINT NOT NULL REFERENCES notices (id) ON DELETE CASCADE,
    channel_id BIGINT NOT NULL REFERENCES notification_channels (id) ON DELETE CASCADE,
    rule_id    BIGINT NOT NULL,
    state      TEXT NOT NULL,
    message_id TEXT NOT NULL DEFAULT '',
    tries      BIGINT NOT NULL DEFAULT 0,
    tried_at   BIGINT NOT NULL DEFAULT 0,
    due_at     BIGINT NOT NULL DEFAULT 0,
    problem    TEXT NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX deliveries_notice ON deliveries (notice_id);
CREATE INDEX deliveries_waiting ON deliveries (channel_id, rule_id, message_id, id) WHERE state = 'waiting';
CREATE INDEX deliveries_sending ON deliveries (message_id) WHERE state = 'sending';

-- The state of things that people were told of last; empty when there was nothing to tell.
CREATE TABLE notice_states (
    key        TEXT PRIMARY KEY,
    state      TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE notice_states;
DROP TABLE deliveries;
DROP TABLE notification_cooldowns;
DROP TABLE notification_rules;
DROP TABLE notification_channels;
DROP TABLE notices;
