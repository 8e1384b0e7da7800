-- +goose Up
-- As in ../00060_own_summaries.sql.
ALTER TABLE summary_jobs ADD COLUMN person_id BIGINT REFERENCES people (id) ON DELETE CASCADE;
ALTER TABLE summary_jobs DROP CONSTRAINT summary_jobs_name_key;
CREATE UNIQUE INDEX summary_jobs_name ON summary_jobs (COALESCE(person_id, 0), name);
CREATE INDEX summary_jobs_person ON summary_jobs (person_id) WHERE person_id IS NOT NULL;

-- Who had the language model asked; without a person the owner, or who is gone.
ALTER TABLE llm_usage ADD COLUMN person_id BIGINT REFERENCES people (id) ON DELETE SET NULL;
CREATE INDEX llm_usage_person ON llm_usage (person_id, at) WHERE person_id IS NOT NULL;

-- A program from before would tell one person what everybody watched. So the first summary of a person raises schema_floor, once no such
-- program runs, and none that was started before comes in afterwards.
-- +goose StatementBegin
CREATE FUNCTION replicas_floor() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.schema < (SELECT CAST(value AS BIGINT) FROM facts WHERE name = 'schema_floor') THEN
        RAISE EXCEPTION 'the database is in use by a newer program: run that one';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER replicas_floor BEFORE INSERT ON replicas FOR EACH ROW EXECUTE FUNCTION replicas_floor();

-- +goose Down
DROP TRIGGER replicas_floor ON replicas;
DROP FUNCTION replicas_floor();
DROP INDEX llm_usage_person;
ALTER TABLE llm_usage DROP COLUMN person_id;
DELETE FROM summary_jobs WHERE person_id IS NOT NULL;
DROP INDEX summary_jobs_person;
DROP INDEX summary_jobs_name;
ALTER TABLE summary_jobs DROP COLUMN person_id;
ALTER TABLE summary_jobs ADD CONSTRAINT summary_jobs_name_key UNIQUE (name);
DELETE FROM notices WHERE person_id IS NOT NULL AND account_id = 0;
UPDATE facts SET value = '56' WHERE name = 'schema_floor';
