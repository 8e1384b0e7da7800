-- +goose Up
-- Season and episode of a request, such as S2 E7; empty when it told none.
ALTER TABLE webhook_log ADD COLUMN label TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE webhook_log DROP COLUMN label;
