-- +goose Up
-- What was imported of a media server, by the server's ids. record_id is the first record that
-- the item became.
CREATE TABLE imported_items (
    source    TEXT NOT NULL,
    server_id TEXT NOT NULL,
    user_id   TEXT NOT NULL,
    item_id   TEXT NOT NULL,
    record_id BIGINT NOT NULL,
    PRIMARY KEY (source, server_id, user_id, item_id)
);

-- +goose Down
DROP TABLE imported_items;
