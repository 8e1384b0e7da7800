-- +goose Up
-- As in ../00060_own_summaries.sql.
ALTER TABLE summary_jobs ADD COLUMN person_id BIGINT REFERENCES people (id) ON DELETE CASCADE;
ALTER TABLE summary_jobs DROP CONSTRAINT summary_jobs_name_key;
ALTER TABLE summary_jobs DROP COLUMN lease_owner;
ALTER TABLE summary_jobs DROP COLUMN lease_until;
CREATE UNIQUE INDEX summary_jobs_name ON summary_jobs (COALESCE(person_id, 0), name);
CREATE INDEX summary_jobs_person ON summary_jobs (person_id) WHERE person_id IS NOT NULL;

-- Who had the language model asked; without a person the owner, or who is gone.
ALTER TABLE llm_usage ADD COLUMN person_id BIGINT REFERENCES people (id) ON DELETE SET NULL;
CREATE INDEX llm_usage_person ON llm_usage (person_id, at) WHERE person_id IS NOT NULL;

-- A program from before would tell one person what everybody watched.
UPDATE facts SET value = '60' WHERE name = 'schema_floor';

-- +goose Down
DROP INDEX llm_usage_person;
ALTER TABLE llm_usage DROP COLUMN person_id;
DELETE FROM summary_jobs WHERE person_id IS NOT NULL;
DROP INDEX summary_jobs_person;
DROP INDEX summary_jobs_name;
ALTER TABLE summary_jobs DROP COLUMN person_id;
ALTER TABLE summary_jobs ADD COLUMN lease_owner TEXT NOT NULL DEFAULT '';
ALTER TABLE summary_jobs ADD COLUMN lease_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE summary_jobs ADD CONSTRAINT summary_jobs_name_key UNIQUE (name);
DELETE FROM notices WHERE person_id IS NOT NULL AND account_id = 0;
UPDATE facts SET value = '56' WHERE name = 'schema_floor';
