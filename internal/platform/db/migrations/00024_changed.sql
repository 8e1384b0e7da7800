-- +goose Up
-- What an undo asks for are the records that changed since an answer.
CREATE INDEX records_updated ON records (updated_at);

-- +goose Down
DROP INDEX records_updated;
