-- +goose Up
-- What a person answered to a question, for themselves; the answer for all is in pending_candidates. decision is as there, and question is
-- JSON of what the person was shown.
CREATE TABLE person_answers (
    question_id BIGINT NOT NULL REFERENCES pending_candidates (id) ON DELETE CASCADE,
    person_id   BIGINT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    status      TEXT NOT NULL,
    decision    TEXT NOT NULL DEFAULT '',
    question    TEXT NOT NULL,
    updated_at  BIGINT NOT NULL,
    PRIMARY KEY (question_id, person_id)
);
CREATE INDEX person_answers_person ON person_answers (person_id, status, question_id);

-- +goose Down
DROP TABLE person_answers;
