-- +goose Up
-- A mapping and a blocked keyword hold for one person alone, or without one for all.
ALTER TABLE mappings ADD COLUMN person_id BIGINT REFERENCES people (id) ON DELETE CASCADE;
DROP INDEX mappings_rule;
CREATE UNIQUE INDEX mappings_rule ON mappings (title, is_regex, COALESCE(season, -1), form, COALESCE(episode, -1), COALESCE(person_id, 0));
CREATE INDEX mappings_person ON mappings (person_id) WHERE person_id IS NOT NULL;

CREATE TABLE keywords (
    id         INTEGER PRIMARY KEY,
    person_id  BIGINT REFERENCES people (id) ON DELETE CASCADE,
    keyword    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    source     TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
INSERT INTO keywords (id, keyword, kind, source, created_at) SELECT id, keyword, kind, source, created_at FROM blocked_keywords;
DROP TABLE blocked_keywords;
ALTER TABLE keywords RENAME TO blocked_keywords;
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
CREATE TABLE keywords (
    id         INTEGER PRIMARY KEY,
    keyword    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    source     TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (keyword, kind)
);
INSERT INTO keywords (id, keyword, kind, source, created_at) SELECT id, keyword, kind, source, created_at FROM blocked_keywords WHERE person_id IS NULL;
DROP TABLE blocked_keywords;
ALTER TABLE keywords RENAME TO blocked_keywords;
UPDATE facts SET value = '53' WHERE name = 'schema_floor';
