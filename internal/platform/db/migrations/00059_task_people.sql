-- +goose Up
-- Who began a task; without a person it is of the service and its owner.
ALTER TABLE tasks ADD COLUMN person_id BIGINT REFERENCES people (id) ON DELETE SET NULL;
CREATE INDEX tasks_person ON tasks (COALESCE(person_id, 0), id);
-- What of one person's waits for the catalog.
CREATE INDEX pending_sync_queue_account ON pending_sync_queue (account_id, status);

-- +goose Down
DROP INDEX pending_sync_queue_account;
DROP INDEX tasks_person;
ALTER TABLE tasks DROP COLUMN person_id;
