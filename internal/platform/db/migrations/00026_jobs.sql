-- +goose Up
-- The jobs of the schedule. plan is the text of the plan that next_run follows, and planned_from the time after which
-- that was looked for: the end of the last run, or when the job was first seen. next_run is 0 while nothing is planned.
-- retry_ms is how long after its end the last run asked to run again; 0 when next_run follows the plan. ended_at, outcome
-- ('' before the first run) and problem are of the last run. holder has the run under way until lease_until; '' while
-- there is none.
CREATE TABLE jobs (
    name         TEXT PRIMARY KEY,
    plan         TEXT NOT NULL,
    planned_from BIGINT NOT NULL,
    next_run     BIGINT NOT NULL,
    retry_ms     BIGINT NOT NULL,
    ended_at     BIGINT NOT NULL,
    outcome      TEXT NOT NULL,
    problem      TEXT NOT NULL,
    holder       TEXT NOT NULL,
    lease_until  BIGINT NOT NULL
);

-- +goose Down
DROP TABLE jobs;
