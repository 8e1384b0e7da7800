-- +goose Up
-- What media servers told of their series: server and series are the ids that they give themselves and it, ids is a JSON object
-- by provider, year is 0 when it is not known.
CREATE TABLE series_ids (
    id             INTEGER PRIMARY KEY,
    source         TEXT NOT NULL,
    server         TEXT NOT NULL,
    series         TEXT NOT NULL,
    title          TEXT NOT NULL,
    original_title TEXT NOT NULL,
    year           INTEGER NOT NULL,
    ids            TEXT NOT NULL,
    imported       INTEGER NOT NULL,
    seen_at        BIGINT NOT NULL
);
CREATE UNIQUE INDEX series_ids_series ON series_ids (source, server, series);
CREATE INDEX series_ids_title ON series_ids (source, server, title);
CREATE INDEX series_ids_seen ON series_ids (seen_at);

-- +goose Down
DROP TABLE series_ids;
