-- +goose Up
-- Whose a notice is: the person whose account it is about, or who is told; without one it is the owner's. unread is for whose it is.
ALTER TABLE notices ADD COLUMN person_id BIGINT REFERENCES people (id) ON DELETE SET NULL;
CREATE INDEX notices_person ON notices (person_id, id) WHERE person_id IS NOT NULL;
DROP INDEX notices_unread;
CREATE INDEX notices_unread ON notices (person_id, id, severity) WHERE unread = 1;

-- Whose channels, rules and summaries are; those without a person are the owner's.
ALTER TABLE notification_channels ADD COLUMN person_id BIGINT REFERENCES people (id) ON DELETE CASCADE;
CREATE INDEX notification_channels_person ON notification_channels (person_id) WHERE person_id IS NOT NULL;
ALTER TABLE notification_rules ADD COLUMN person_id BIGINT REFERENCES people (id) ON DELETE CASCADE;
CREATE INDEX notification_rules_person ON notification_rules (person_id) WHERE person_id IS NOT NULL;

-- A program from before would tell everybody what is one person's.
UPDATE facts SET value = '54' WHERE name = 'schema_floor';

-- +goose Down
DROP INDEX notification_rules_person;
DELETE FROM notification_rules WHERE person_id IS NOT NULL;
ALTER TABLE notification_rules DROP COLUMN person_id;
DROP INDEX notification_channels_person;
DELETE FROM notification_channels WHERE person_id IS NOT NULL;
ALTER TABLE notification_channels DROP COLUMN person_id;
DROP INDEX notices_unread;
CREATE INDEX notices_unread ON notices (id, severity) WHERE unread = 1;
DROP INDEX notices_person;
ALTER TABLE notices DROP COLUMN person_id;
UPDATE facts SET value = '53' WHERE name = 'schema_floor';
