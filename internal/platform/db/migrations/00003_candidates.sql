-- +goose Up
-- One row for each title that was asked about. title_key is the title as mappings compare it,
-- season NULL where the event told none, episode the number of the newest event, candidates and
-- decision are JSON.
CREATE TABLE pending_candidates (
    id             INTEGER PRIMARY KEY,
    title_key      TEXT NOT NULL,
    season         BIGINT,
    film           BIGINT NOT NULL,
    title          TEXT NOT NULL,
    original_title TEXT NOT NULL,
    media_type     TEXT NOT NULL,
    episode        DOUBLE PRECISION,
    candidates     TEXT NOT NULL,
    reason         TEXT NOT NULL,
    status         TEXT NOT NULL,
    decision       TEXT NOT NULL DEFAULT '',
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL
);
-- Of specials each number is a question of its own.
CREATE UNIQUE INDEX pending_candidates_question ON pending_candidates (title_key, COALESCE(season, -1), film, COALESCE(CASE WHEN season = 0 THEN episode END, -1));
CREATE INDEX pending_candidates_status ON pending_candidates (status, id);

-- The question that a record asked last. The index holds only those that wait.
ALTER TABLE records ADD COLUMN question_id BIGINT;
CREATE INDEX records_question ON records (question_id, id) WHERE status = 'review';

-- What a mapping is for: '' holds for films and shows, else 'film' or 'show'; and the number of a
-- single episode, NULL for all.
ALTER TABLE mappings ADD COLUMN form TEXT NOT NULL DEFAULT '';
ALTER TABLE mappings ADD COLUMN episode DOUBLE PRECISION;
DROP INDEX mappings_rule;
CREATE UNIQUE INDEX mappings_rule ON mappings (title, is_regex, COALESCE(season, -1), form, COALESCE(episode, -1));

-- What waits for a person since before there were questions is run again, and asks.
UPDATE records SET status = 'received', lease_until = 0 WHERE status = 'review';

-- +goose Down
DELETE FROM mappings WHERE id NOT IN (SELECT MIN(id) FROM mappings GROUP BY title, is_regex, COALESCE(season, -1));
DROP INDEX mappings_rule;
ALTER TABLE mappings DROP COLUMN form;
ALTER TABLE mappings DROP COLUMN episode;
CREATE UNIQUE INDEX mappings_rule ON mappings (title, is_regex, COALESCE(season, -1));
DROP INDEX records_question;
ALTER TABLE records DROP COLUMN question_id;
DROP TABLE pending_candidates;
