-- +goose Up
-- How far the library of a NAS was read; one row. since is 0 while the source is switched
-- off, else when it was switched on; the watermark is the row read last. user_filter is whose rows
-- were read, last_scan is JSON.
CREATE TABLE nas_state (
    id             INTEGER PRIMARY KEY,
    since          BIGINT NOT NULL,
    watermark_at   BIGINT NOT NULL,
    watermark_item TEXT NOT NULL,
    watermark_user TEXT NOT NULL,
    user_filter    TEXT NOT NULL,
    rescanned_at   BIGINT NOT NULL,
    last_scan      TEXT NOT NULL
);
INSERT INTO nas_state (id, since, watermark_at, watermark_item, watermark_user, user_filter, rescanned_at, last_scan)
VALUES (1, 0, 0, '', '', '', 0, '');

-- What was taken from the library, one row for each of its rows. finished becomes 0 when
-- the row is seen unfinished again: then its next end is taken once more.
CREATE TABLE nas_plays (
    user_guid  TEXT NOT NULL,
    item_guid  TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    finished   BIGINT NOT NULL,
    record_id  BIGINT NOT NULL,
    PRIMARY KEY (user_guid, item_guid)
);

-- +goose Down
DROP TABLE nas_plays;
DROP TABLE nas_state;
