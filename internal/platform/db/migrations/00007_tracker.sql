-- +goose Up
-- People whose tracker account was connected. uid is the tracker's own id of the person, ''
-- until it told; credential is sealed, '' after a disconnect; version counts what was stored
-- there, so that nothing older replaces it. lease_* is held while the credential is renewed.
-- *_stamp, read_until and read_total (how many plays the tracker counted) say how far the history
-- was taken in; baseline is 1 once all of it was seen.
CREATE TABLE tracker_users (
    id             INTEGER PRIMARY KEY,
    uid            TEXT NOT NULL DEFAULT '',
    name           TEXT NOT NULL DEFAULT '',
    method         TEXT NOT NULL,
    client_id      TEXT NOT NULL,
    redirect_uri   TEXT NOT NULL,
    credential     TEXT NOT NULL DEFAULT '',
    version        BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL,
    state          TEXT NOT NULL,
    problem        TEXT NOT NULL DEFAULT '',
    lease_owner    TEXT NOT NULL DEFAULT '',
    lease_until    BIGINT NOT NULL DEFAULT 0,
    connected_at   BIGINT NOT NULL,
    refreshed_at   BIGINT NOT NULL DEFAULT 0,
    episodes_stamp TEXT NOT NULL DEFAULT '',
    movies_stamp   TEXT NOT NULL DEFAULT '',
    read_until     BIGINT NOT NULL DEFAULT 0,
    read_total     BIGINT NOT NULL DEFAULT 0,
    baseline       BIGINT NOT NULL DEFAULT 0,
    synced_at      BIGINT NOT NULL DEFAULT 0,
    sync_outcome   TEXT NOT NULL DEFAULT '',
    sync_error     TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX tracker_users_uid ON tracker_users (uid) WHERE uid <> '';

-- Plays that were seen, by the tracker's id of one play. record_id is what a play became; 0 is
-- one that was only seen: older than the connection, of another genre, or not to be read.
CREATE TABLE tracker_plays (
    user_id   BIGINT NOT NULL REFERENCES tracker_users (id) ON DELETE CASCADE,
    play_id   BIGINT NOT NULL,
    record_id BIGINT NOT NULL,
    PRIMARY KEY (user_id, play_id)
);

-- What the tracker says of a show or film in other languages; '' where it knows none.
CREATE TABLE tracker_titles (
    kind       TEXT NOT NULL,
    tracker_id TEXT NOT NULL,
    original   TEXT NOT NULL,
    translated TEXT NOT NULL,
    fetched_at BIGINT NOT NULL,
    PRIMARY KEY (kind, tracker_id)
);

-- +goose Down
DROP TABLE tracker_titles;
DROP TABLE tracker_plays;
DROP TABLE tracker_users;
