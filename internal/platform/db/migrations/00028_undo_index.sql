-- +goose Up
-- An undo asks for the records that a mapping led (records_rule), not any more for those that changed lately.
DROP INDEX records_updated;

-- +goose Down
CREATE INDEX records_updated ON records (updated_at);
