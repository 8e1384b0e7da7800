-- +goose Up
-- What one replica has at a time: owner is its incarnation, 0 when nobody has it. wanted is the replica that asked for it; 0 is none.
CREATE TABLE holds (
    name   TEXT PRIMARY KEY,
    owner  BIGINT NOT NULL,
    wanted BIGINT NOT NULL DEFAULT 0
);

-- Work that people wait for. record_id is what it is about, 0 for nothing; of those that run, one has a value of alone, unless
-- that is ''. owner is the replica that does it. message is a reason, result JSON, '' before there is one. log are the last lines of its
-- log, a JSON object each, and log_lines the number of the last one. ended_at is 0 while it runs. cancel is 1 when somebody wants
-- it to end.
CREATE TABLE tasks (
    id         INTEGER PRIMARY KEY,
    kind       TEXT NOT NULL,
    record_id  BIGINT NOT NULL,
    alone      TEXT NOT NULL DEFAULT '',
    owner      BIGINT NOT NULL DEFAULT 0,
    state      TEXT NOT NULL,
    done       BIGINT NOT NULL DEFAULT 0,
    total      BIGINT NOT NULL DEFAULT 0,
    message    TEXT NOT NULL DEFAULT '',
    result     TEXT NOT NULL DEFAULT '',
    log        TEXT NOT NULL DEFAULT '',
    log_lines  BIGINT NOT NULL DEFAULT 0,
    cancel     BIGINT NOT NULL DEFAULT 0,
    started_at BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX tasks_alone ON tasks (alone) WHERE state = 'running' AND alone <> '';
CREATE INDEX tasks_about ON tasks (record_id, kind, id);
-- What was written to media servers can be undone by the id of the task that wrote it, which no other task must get.
INSERT INTO tasks (id, kind, record_id, state, started_at, ended_at)
    SELECT task_id, 'server_seed', MAX(login_id), 'done', MIN(written_at), MAX(written_at) FROM media_writes GROUP BY task_id;

-- Who runs a job stands in holds.
ALTER TABLE jobs DROP COLUMN holder;
ALTER TABLE jobs DROP COLUMN lease_until;

-- Who sends a delivery that is being sent.
ALTER TABLE deliveries ADD COLUMN owner BIGINT NOT NULL DEFAULT 0;

-- Who renews a credential stands in holds. token_version changes with the tokens of an account.
ALTER TABLE tracker_users DROP COLUMN lease_owner;
ALTER TABLE tracker_users DROP COLUMN lease_until;
ALTER TABLE accounts ADD COLUMN token_version BIGINT NOT NULL DEFAULT 1;

-- +goose Down
ALTER TABLE accounts DROP COLUMN token_version;
ALTER TABLE tracker_users ADD COLUMN lease_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tracker_users ADD COLUMN lease_owner TEXT NOT NULL DEFAULT '';
ALTER TABLE deliveries DROP COLUMN owner;
ALTER TABLE jobs ADD COLUMN lease_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN holder TEXT NOT NULL DEFAULT '';
DROP TABLE tasks;
DROP TABLE holds;
