-- +goose Up
-- Each page counts what failed lately, and the dashboard what waits for a decision: among all that came in that time these are few.
CREATE INDEX records_unmarked ON records (created_at, status) WHERE status IN ('error', 'review');

-- +goose Down
DROP INDEX records_unmarked;
