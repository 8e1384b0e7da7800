-- +goose Up
-- All records of an account, not those that came out alone: an account that is deleted is taken from each of them. What was not
-- routed has no entry, so a record that comes in costs none.
DROP INDEX records_entry;
CREATE INDEX records_entry ON records (account_id, subject_id) WHERE account_id IS NOT NULL;

-- +goose Down
DROP INDEX records_entry;
CREATE INDEX records_entry ON records (account_id, subject_id) WHERE status = 'success';
