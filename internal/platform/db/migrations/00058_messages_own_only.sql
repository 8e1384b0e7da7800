-- +goose Up
-- Whether a rule of the owner leaves out what is about the accounts of people.
ALTER TABLE notification_rules ADD COLUMN own_only BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE notification_rules DROP COLUMN own_only;
