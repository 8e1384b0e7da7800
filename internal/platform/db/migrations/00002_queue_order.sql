-- +goose Up
-- The tasks of one account and subject are replayed in the order of their records.
CREATE INDEX pending_sync_queue_order ON pending_sync_queue (account_id, subject_id, record_id) WHERE status = 'pending';

-- +goose Down
DROP INDEX pending_sync_queue_order;
