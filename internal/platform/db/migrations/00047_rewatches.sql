-- +goose Up
-- What an account has done about a re-watch; empty is as sync.rewatch says. rewatch is 1 for a record of an episode that was marked before
-- and was watched once more.
ALTER TABLE accounts ADD COLUMN rewatch TEXT NOT NULL DEFAULT '';
ALTER TABLE records ADD COLUMN rewatch BIGINT NOT NULL DEFAULT 0;
CREATE INDEX records_rewatch ON records (id) WHERE rewatch = 1;

-- +goose Down
DROP INDEX records_rewatch;
ALTER TABLE records DROP COLUMN rewatch;
ALTER TABLE accounts DROP COLUMN rewatch;
