-- +goose Up
-- Whose a summary is: one person's, who alone sees it, or without one the owner's. Names are unique among those of one.
CREATE TABLE made_summaries (
    id           INTEGER PRIMARY KEY,
    person_id    BIGINT REFERENCES people (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,
    enabled      BIGINT NOT NULL,
    cron         TEXT NOT NULL,
    days_back    BIGINT NOT NULL,
    user_name    TEXT NOT NULL,
    prompt       TEXT NOT NULL,
    max_records  BIGINT NOT NULL,
    channels     TEXT NOT NULL,
    skip_empty   BIGINT NOT NULL,
    planned_from BIGINT NOT NULL,
    lease_owner  TEXT NOT NULL DEFAULT '',
    lease_until  BIGINT NOT NULL DEFAULT 0,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
INSERT INTO made_summaries (id, name, enabled, cron, days_back, user_name, prompt, max_records, channels, skip_empty, planned_from, created_at, updated_at)
    SELECT id, name, enabled, cron, days_back, user_name, prompt, max_records, channels, skip_empty, planned_from, created_at, updated_at FROM summary_jobs;
CREATE TABLE made_results (
    id                INTEGER PRIMARY KEY,
    job_id            BIGINT NOT NULL REFERENCES made_summaries (id) ON DELETE CASCADE,
    at                BIGINT NOT NULL,
    started_by        TEXT NOT NULL,
    outcome           TEXT NOT NULL,
    span_from         BIGINT NOT NULL,
    span_to           BIGINT NOT NULL,
    records           BIGINT NOT NULL,
    body              TEXT NOT NULL,
    model             TEXT NOT NULL,
    prompt_tokens     BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL,
    problem           TEXT NOT NULL
);
INSERT INTO made_results (id, job_id, at, started_by, outcome, span_from, span_to, records, body, model, prompt_tokens, completion_tokens, problem)
    SELECT id, job_id, at, started_by, outcome, span_from, span_to, records, body, model, prompt_tokens, completion_tokens, problem FROM summary_results;
DROP TABLE summary_results;
DROP TABLE summary_jobs;
ALTER TABLE made_summaries RENAME TO summary_jobs;
ALTER TABLE made_results RENAME TO summary_results;
CREATE UNIQUE INDEX summary_jobs_name ON summary_jobs (COALESCE(person_id, 0), name);
CREATE INDEX summary_jobs_person ON summary_jobs (person_id) WHERE person_id IS NOT NULL;
CREATE INDEX summary_results_job ON summary_results (job_id, id);

-- Who had the language model asked; without a person the owner, or who is gone.
ALTER TABLE llm_usage ADD COLUMN person_id BIGINT REFERENCES people (id) ON DELETE SET NULL;
CREATE INDEX llm_usage_person ON llm_usage (person_id, at) WHERE person_id IS NOT NULL;

-- A program from before would tell one person what everybody watched. So the first summary of a person raises schema_floor, once no such
-- program runs, and none that was started before comes in afterwards.
-- +goose StatementBegin
CREATE TRIGGER replicas_floor BEFORE INSERT ON replicas WHEN NEW.schema < (SELECT CAST(value AS BIGINT) FROM facts WHERE name = 'schema_floor')
BEGIN
    SELECT RAISE(ABORT, 'the database is in use by a newer program: run that one');
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER replicas_floor;
DROP INDEX llm_usage_person;
ALTER TABLE llm_usage DROP COLUMN person_id;
CREATE TABLE made_summaries (
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    enabled      BIGINT NOT NULL,
    cron         TEXT NOT NULL,
    days_back    BIGINT NOT NULL,
    user_name    TEXT NOT NULL,
    prompt       TEXT NOT NULL,
    max_records  BIGINT NOT NULL,
    channels     TEXT NOT NULL,
    skip_empty   BIGINT NOT NULL,
    planned_from BIGINT NOT NULL,
    lease_owner  TEXT NOT NULL DEFAULT '',
    lease_until  BIGINT NOT NULL DEFAULT 0,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
INSERT INTO made_summaries (id, name, enabled, cron, days_back, user_name, prompt, max_records, channels, skip_empty, planned_from, created_at, updated_at)
    SELECT id, name, enabled, cron, days_back, user_name, prompt, max_records, channels, skip_empty, planned_from, created_at, updated_at FROM summary_jobs WHERE person_id IS NULL;
CREATE TABLE made_results (
    id                INTEGER PRIMARY KEY,
    job_id            BIGINT NOT NULL REFERENCES made_summaries (id) ON DELETE CASCADE,
    at                BIGINT NOT NULL,
    started_by        TEXT NOT NULL,
    outcome           TEXT NOT NULL,
    span_from         BIGINT NOT NULL,
    span_to           BIGINT NOT NULL,
    records           BIGINT NOT NULL,
    body              TEXT NOT NULL,
    model             TEXT NOT NULL,
    prompt_tokens     BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL,
    problem           TEXT NOT NULL
);
INSERT INTO made_results (id, job_id, at, started_by, outcome, span_from, span_to, records, body, model, prompt_tokens, completion_tokens, problem)
    SELECT id, job_id, at, started_by, outcome, span_from, span_to, records, body, model, prompt_tokens, completion_tokens, problem FROM summary_results
    WHERE job_id IN (SELECT id FROM made_summaries);
DROP TABLE summary_results;
DROP TABLE summary_jobs;
ALTER TABLE made_summaries RENAME TO summary_jobs;
ALTER TABLE made_results RENAME TO summary_results;
CREATE INDEX summary_results_job ON summary_results (job_id, id);
DELETE FROM notices WHERE person_id IS NOT NULL AND account_id = 0;
UPDATE facts SET value = '56' WHERE name = 'schema_floor';
