-- +goose Up
-- How far the library of a NAS was read; one row. since is 0 while the source is switched
-- off, else when it was switched on; the watermark is the time of the row read last. A scan came to
-- the last row at caught_up_at, one that began at since at rescanned_at. user_filter is whose rows
-- were read, last_scan is JSON.
CREATE TABLE nas_state (
    id           INTEGER PRIMARY KEY,
    since        BIGINT NOT NULL,
    watermark    BIGINT NOT NULL,
    caught_up_at BIGINT NOT NULL,
    rescanned_at BIGINT NOT NULL,
    user_filter  TEXT NOT NULL,
    last_scan    TEXT NOT NULL
);
INSERT INTO nas_state (id, since, watermark, caught_up_at, rescanned_at, user_filter, last_scan)
VALUES (1, 0, 0, 0, 0, '', '');

-- What was taken from the library, one row for each of its rows. finished becomes 0 when
-- the row is seen unfinished again: then its next end is taken once more.
CREATE TABLE nas_plays (
    user_guid TEXT NOT NULL,
    item_guid TEXT NOT NULL,
    finished  BIGINT NOT NULL,
    PRIMARY KEY (user_guid, item_guid)
);

-- +goose Down
DROP TABLE nas_plays;
DROP TABLE nas_state;
