-- +goose Up
-- What was written to media servers by a task, an item a row, for as long as it can be undone. before and after are the states
-- of the item, as JSON; after is '' while it is not known what the server made of it. known is 1 where media_plays had a row of the
-- item before.
CREATE TABLE media_writes (
    task_id    BIGINT NOT NULL,
    login_id   BIGINT NOT NULL REFERENCES media_logins (id) ON DELETE CASCADE,
    item_id    TEXT NOT NULL,
    before     TEXT NOT NULL,
    after      TEXT NOT NULL,
    known      BIGINT NOT NULL,
    written_at BIGINT NOT NULL,
    PRIMARY KEY (task_id, item_id)
);
CREATE INDEX media_writes_login ON media_writes (login_id, after);
CREATE INDEX media_writes_written ON media_writes (written_at);

-- +goose Down
DROP TABLE media_writes;
