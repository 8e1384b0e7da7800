-- +goose Up
-- A mark is noted before the catalog is asked for it: until it is settled, intended_at is when that was by the catalog's clock, in
-- seconds, and whether it was written is not known. written_at is when it was, as far as is known of old ones. was is the state in which
-- its entry was found and which it changed: 0 for one that was missing, -1 for one that it left as it was. task_id is the task by which
-- it came; 0 for none.
ALTER TABLE record_marks ADD COLUMN intended_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE record_marks ADD COLUMN written_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE record_marks ADD COLUMN was BIGINT NOT NULL DEFAULT -1;
ALTER TABLE record_marks ADD COLUMN task_id BIGINT NOT NULL DEFAULT 0;
UPDATE record_marks SET written_at = COALESCE((SELECT records.updated_at FROM records WHERE records.id = record_marks.record_id), 0);
UPDATE record_marks SET was = 0 WHERE created = 1;
CREATE INDEX record_marks_written ON record_marks (account_id, written_at);
CREATE INDEX record_marks_task ON record_marks (task_id) WHERE task_id <> 0;

-- The task by which a record came, or was run again last; 0 for none.
ALTER TABLE records ADD COLUMN task_id BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE records DROP COLUMN task_id;
DROP INDEX record_marks_task;
DROP INDEX record_marks_written;
ALTER TABLE record_marks DROP COLUMN task_id;
ALTER TABLE record_marks DROP COLUMN was;
ALTER TABLE record_marks DROP COLUMN written_at;
ALTER TABLE record_marks DROP COLUMN intended_at;
