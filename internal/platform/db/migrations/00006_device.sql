-- +goose Up
-- What a TV box played to its end, so that it counts once: device is the uuid of the box or
-- its address, title as titles are compared, season -1 where none was told, episode the
-- kind and the numbers. armed is set when the box has played something else since.
CREATE TABLE device_plays (
    device     TEXT NOT NULL,
    title      TEXT NOT NULL,
    season     BIGINT NOT NULL,
    episode    TEXT NOT NULL,
    counted_at BIGINT NOT NULL,
    armed      BIGINT NOT NULL,
    PRIMARY KEY (device, title, season, episode)
);
CREATE INDEX device_plays_unarmed ON device_plays (device) WHERE armed = 0;

-- +goose Down
DROP TABLE device_plays;
