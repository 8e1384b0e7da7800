-- +goose Up
-- What a mapping leads to, for people; '' where nobody could tell. And whether one without a season holds for
-- what tells no season, and for season 1, alone: so do answers to questions about such events.
ALTER TABLE mappings ADD COLUMN subject_name TEXT NOT NULL DEFAULT '';
ALTER TABLE mappings ADD COLUMN first_season BIGINT NOT NULL DEFAULT 0;
UPDATE mappings SET first_season = 1 WHERE origin = 'confirm' AND season IS NULL;
UPDATE mappings SET subject_name = named.name
    FROM (SELECT subject_id, MAX(subject_name) AS name FROM records WHERE subject_name <> '' GROUP BY subject_id) AS named
    WHERE named.subject_id = mappings.subject_id;
-- The mappings that an undo compares and brings back.
UPDATE pending_candidates SET decision = REPLACE(decision, '"origin":"confirm"', '"first_season":true,"origin":"confirm"');

-- +goose Down
UPDATE mappings SET origin = 'confirm' WHERE first_season = 1;
ALTER TABLE mappings DROP COLUMN first_season;
ALTER TABLE mappings DROP COLUMN subject_name;
