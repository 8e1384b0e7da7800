-- +goose Up
-- Logins of people at media servers, which are followed. credentials are sealed, '' without a sign-in; version counts what people
-- change, so that nothing older replaces it. libraries, quirks, choices and catch_up are JSON. Times are the server's for cursor_at
-- (the newest play that was read) and compared_at (when all plays were last compared, with compared_version), else ours; 0 is never.
-- counted is how many played items the server is expected to count, -1 when it was not asked; known is how many rows media_plays has.
-- removed is 1 while a login is being forgotten.
CREATE TABLE media_logins (
    id               INTEGER PRIMARY KEY,
    kind             TEXT NOT NULL,
    url              TEXT NOT NULL,
    pin              TEXT NOT NULL,
    device           TEXT NOT NULL,
    server_id        TEXT NOT NULL DEFAULT '',
    server_name      TEXT NOT NULL DEFAULT '',
    server_version   TEXT NOT NULL DEFAULT '',
    user_id          TEXT NOT NULL DEFAULT '',
    user_name        TEXT NOT NULL DEFAULT '',
    media_user_name  TEXT NOT NULL,
    credentials      TEXT NOT NULL DEFAULT '',
    version          BIGINT NOT NULL DEFAULT 1,
    state            TEXT NOT NULL,
    problem          TEXT NOT NULL DEFAULT '',
    lost_at          BIGINT NOT NULL DEFAULT 0,
    enabled          BIGINT NOT NULL DEFAULT 1,
    removed          BIGINT NOT NULL DEFAULT 0,
    connected_at     BIGINT NOT NULL,
    libraries        TEXT NOT NULL DEFAULT '[]',
    quirks           TEXT NOT NULL DEFAULT '{}',
    choices          TEXT NOT NULL DEFAULT '',
    cursor_at        BIGINT NOT NULL DEFAULT 0,
    compared_at      BIGINT NOT NULL DEFAULT 0,
    compared_version TEXT NOT NULL DEFAULT '',
    counted          BIGINT NOT NULL DEFAULT -1,
    known            BIGINT NOT NULL DEFAULT 0,
    skew_seconds     BIGINT NOT NULL DEFAULT 0,
    last_event_at    BIGINT NOT NULL DEFAULT 0,
    last_event       TEXT NOT NULL DEFAULT '',
    webhook_at       BIGINT NOT NULL DEFAULT 0,
    catch_up         TEXT NOT NULL DEFAULT ''
);

-- What is known to be played, an item a row; what webhooks told without an id has one that begins with '='. play_key names the
-- episode or film, '' where that is not known, year beside it is 0 when it is not told. count is the number of plays, 0 when it is not
-- known. played_at is by the server's clock: not before the last play. taken_at is when a play became a record here, heard_at
-- when a webhook told of one; 0 is never.
CREATE TABLE media_plays (
    login_id  BIGINT NOT NULL REFERENCES media_logins (id) ON DELETE CASCADE,
    item_id   TEXT NOT NULL,
    play_key  TEXT NOT NULL,
    year      BIGINT NOT NULL,
    count     BIGINT NOT NULL,
    played_at BIGINT NOT NULL,
    taken_at  BIGINT NOT NULL,
    heard_at  BIGINT NOT NULL,
    PRIMARY KEY (login_id, item_id)
);
CREATE INDEX media_plays_key ON media_plays (login_id, play_key);

-- Plays that came too many at once. events is JSON; asked is 1 when a person is asked about them, 0 while they are being counted.
CREATE TABLE media_held (
    id       INTEGER PRIMARY KEY,
    login_id BIGINT NOT NULL REFERENCES media_logins (id) ON DELETE CASCADE,
    item_id  TEXT NOT NULL,
    events   TEXT NOT NULL,
    held_at  BIGINT NOT NULL,
    asked    BIGINT NOT NULL
);
CREATE INDEX media_held_login ON media_held (login_id, asked, id);

-- +goose Down
DROP TABLE media_held;
DROP TABLE media_plays;
DROP TABLE media_logins;
