-- +goose Up
-- What waits for the engine is claimed in turns of the people who watched it, what never came out in any way and is of no task first.
-- Columns that the conditions fix are in front, or SQLite would go by records_status, past all that waits.
CREATE INDEX records_turns ON records (status, user_name, id) WHERE status = 'received';
CREATE INDEX records_fresh ON records (status, message, task_id, user_name, id) WHERE status = 'received' AND message = '' AND task_id = 0;

-- +goose Down
DROP INDEX records_fresh;
DROP INDEX records_turns;
