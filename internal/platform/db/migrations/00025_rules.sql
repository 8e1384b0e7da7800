-- +goose Up
-- The mapping that led the last run of a record, as it was then: its id, the subject it names and its episode offset.
ALTER TABLE records ADD COLUMN rule_id BIGINT;
ALTER TABLE records ADD COLUMN rule_subject_id BIGINT;
ALTER TABLE records ADD COLUMN rule_offset BIGINT;
CREATE INDEX records_rule ON records (rule_id, id) WHERE rule_id IS NOT NULL;

-- Only the undo of an answer asks for it: so it is read from the traces of what ran since the oldest answer that wrote a mapping.
UPDATE records SET rule_id = led.rule_id, rule_subject_id = led.rule_subject_id, rule_offset = led.rule_offset
    FROM (SELECT record_id, MAX(place), json_extract(step, '$.output.mapping_id') AS rule_id,
            json_extract(step, '$.output.subject_id') AS rule_subject_id, json_extract(step, '$.output.episode_offset') AS rule_offset
        FROM (SELECT traces.record_id, each_step.key AS place, CASE WHEN each_step.type = 'object' THEN each_step.value ELSE '{}' END AS step
            FROM records AS ran JOIN traces ON traces.record_id = ran.id,
                json_each(CASE WHEN json_valid(traces.trace) THEN traces.trace ELSE '{}' END, '$.steps') AS each_step
            WHERE ran.updated_at >= (SELECT MIN(updated_at) FROM pending_candidates WHERE status = 'confirmed')
                AND traces.trace LIKE '%"mapping_id"%') AS steps
        WHERE json_extract(step, '$.name') = 'mapping' AND json_type(step, '$.output.mapping_id') = 'integer'
            AND json_type(step, '$.output.subject_id') = 'integer' AND json_type(step, '$.output.episode_offset') = 'integer'
        GROUP BY record_id) AS led
    WHERE led.record_id = records.id;
-- Of a trace that cannot be read the record itself tells.
UPDATE records SET rule_id = rule.id, rule_subject_id = rule.subject_id, rule_offset = rule.episode_offset
    FROM (SELECT MAX(id) AS id, subject_id, episode_offset FROM mappings WHERE origin = 'confirm' GROUP BY subject_id) AS rule
    WHERE records.method = 'mapping' AND records.rule_id IS NULL AND rule.subject_id = records.subject_id
        AND records.updated_at >= (SELECT MIN(updated_at) FROM pending_candidates WHERE status = 'confirmed')
        AND EXISTS (SELECT 1 FROM traces WHERE traces.record_id = records.id AND NOT json_valid(traces.trace));

-- When the database last tried whether it can be written, after a write that failed; one row, which was a state of notices before.
CREATE TABLE write_trials (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at BIGINT NOT NULL
);
DELETE FROM notice_states WHERE key = 'written';

-- +goose Down
DROP TABLE write_trials;
DROP INDEX records_rule;
ALTER TABLE records DROP COLUMN rule_offset;
ALTER TABLE records DROP COLUMN rule_subject_id;
ALTER TABLE records DROP COLUMN rule_id;
