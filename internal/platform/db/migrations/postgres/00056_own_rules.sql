-- +goose Up
-- As in ../00056_own_rules.sql.
-- A mapping and a blocked keyword hold for one person alone, or without one for all.
ALTER TABLE mappings ADD COLUMN person_id BIGINT REFERENCES people (id) ON DELETE CASCADE;
DROP INDEX mappings_rule;
CREATE UNIQUE INDEX mappings_rule ON mappings (title, is_regex, COALESCE(season, -1), form, COALESCE(episode, -1), COALESCE(person_id, 0));
CREATE INDEX mappings_person ON mappings (person_id) WHERE person_id IS NOT NULL;

ALTER TABLE blocked_keywords ADD COLUMN person_id BIGINT REFERENCES people (id) ON DELETE CASCADE;
ALTER TABLE blocked_keywords DROP CONSTRAINT blocked_keywords_keyword_kind_key;
CREATE UNIQUE INDEX blocked_keywords_rule ON blocked_keywords (COALESCE(person_id, 0), keyword, kind);
CREATE INDEX blocked_keywords_person ON blocked_keywords (person_id) WHERE person_id IS NOT NULL;

-- A program from before would mark everybody's list by the rules of one person.
UPDATE facts SET value = '56' WHERE name = 'schema_floor';

-- +goose Down
DELETE FROM mappings WHERE person_id IS NOT NULL;
DROP INDEX mappings_person;
DROP INDEX mappings_rule;
ALTER TABLE mappings DROP COLUMN person_id;
CREATE UNIQUE INDEX mappings_rule ON mappings (title, is_regex, COALESCE(season, -1), form, COALESCE(episode, -1));
DELETE FROM blocked_keywords WHERE person_id IS NOT NULL;
DROP INDEX blocked_keywords_person;
DROP INDEX blocked_keywords_rule;
ALTER TABLE blocked_keywords DROP COLUMN person_id;
ALTER TABLE blocked_keywords ADD CONSTRAINT blocked_keywords_keyword_kind_key UNIQUE (keyword, kind);
UPDATE facts SET value = '53' WHERE name = 'schema_floor';
