-- +goose Up
-- What waits is found by indexes that hold nothing else. Both planners think little of records_status and would go by it, past all that
-- waits, were the state not told in a way that it cannot serve: (status || ''). PostgreSQL leaves a condition out that the index holds for
-- all its rows, so none of the columns in front may be fixed by it.
DROP INDEX records_turns;
DROP INDEX records_fresh;
DROP INDEX records_in_work;
CREATE INDEX records_turns ON records (user_name, id) WHERE (status || '') = 'received';
CREATE INDEX records_fresh ON records (user_name, id) WHERE (status || '') = 'received' AND message = '' AND task_id = 0;
CREATE INDEX records_in_work ON records (user_name, title) WHERE (status || '') = 'processing';

-- +goose Down
DROP INDEX records_in_work;
DROP INDEX records_fresh;
DROP INDEX records_turns;
CREATE INDEX records_in_work ON records (user_name, title) WHERE status = 'processing';
CREATE INDEX records_turns ON records (status, user_name, id) WHERE status = 'received';
CREATE INDEX records_fresh ON records (status, message, task_id, user_name, id) WHERE status = 'received' AND message = '' AND task_id = 0;
