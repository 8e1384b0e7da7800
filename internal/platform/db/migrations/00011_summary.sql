-- +goose Up
-- What a language model was asked for: job is the name of a summary, '' a test of the settings;
-- tokens are 0 where the service did not tell them; error is '' when it answered.
CREATE TABLE llm_usage (
    id                INTEGER PRIMARY KEY,
    at                BIGINT NOT NULL,
    job               TEXT NOT NULL,
    model             TEXT NOT NULL,
    prompt_tokens     BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL,
    latency_ms        BIGINT NOT NULL,
    error             TEXT NOT NULL
);
CREATE INDEX llm_usage_at ON llm_usage (at);

-- Summaries that are made by schedule. channels is a JSON list of ids; planned_from is the time after
-- which the next run of the schedule is looked for; lease_* is held by the run under way.
CREATE TABLE summary_jobs (
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

-- What the runs brought. model is '' for a text of figures; problem says why a run failed, or why
-- the model did not write the text.
CREATE TABLE summary_results (
    id                INTEGER PRIMARY KEY,
    job_id            BIGINT NOT NULL REFERENCES summary_jobs (id) ON DELETE CASCADE,
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
CREATE INDEX summary_results_job ON summary_results (job_id, id);

-- The day (YYYY-MM-DD) for which an account was last told what airs; problem says why it could not be.
CREATE TABLE airing_days (
    account_id BIGINT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    day        TEXT NOT NULL,
    at         BIGINT NOT NULL,
    episodes   BIGINT NOT NULL,
    problem    TEXT NOT NULL
);

-- +goose Down
DROP TABLE airing_days;
DROP TABLE summary_results;
DROP TABLE summary_jobs;
DROP TABLE llm_usage;
