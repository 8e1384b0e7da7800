-- +goose Up
-- What was brought back to a list, by the task that did. chosen is JSON of what was asked for; before_id is the snapshot of the list as it was,
-- 0 until it is read and the rows are planned; undoes is the task whose writes it takes back, 0 for none; same is how many entries had
-- nothing to write. ended_at is 0 while it is to go on.
CREATE TABLE restores (
    task_id     BIGINT PRIMARY KEY,
    account_id  BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    snapshot_id BIGINT NOT NULL,
    undoes      BIGINT NOT NULL,
    chosen      TEXT NOT NULL,
    before_id   BIGINT NOT NULL DEFAULT 0,
    same        BIGINT NOT NULL DEFAULT 0,
    began_at    BIGINT NOT NULL,
    ended_at    BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX restores_account ON restores (account_id, began_at);
CREATE INDEX restores_open ON restores (task_id) WHERE ended_at = 0;

-- What is to become of an entry, as JSON. written is what was sent with what was there before, stored before the first request; outcome
-- is what became of it, empty until then. hidden is 1 where Bangumi shows it to its owner only, against what was sent.
CREATE TABLE restore_rows (
    task_id    BIGINT NOT NULL REFERENCES restores (task_id) ON DELETE CASCADE,
    subject_id BIGINT NOT NULL,
    name       TEXT NOT NULL,
    name_cn    TEXT NOT NULL,
    wanted     TEXT NOT NULL,
    written    TEXT NOT NULL DEFAULT '',
    written_at BIGINT NOT NULL DEFAULT 0,
    outcome    TEXT NOT NULL DEFAULT '',
    hidden     BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (task_id, subject_id)
);

-- +goose Down
DROP TABLE restore_rows;
DROP TABLE restores;
