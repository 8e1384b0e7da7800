-- +goose Up
-- As in ../00015_day_counts.sql; the triggers share a function.
CREATE TABLE day_counts (
    start  BIGINT NOT NULL,
    stop   BIGINT NOT NULL,
    marked BIGINT NOT NULL,
    PRIMARY KEY (stop, start)
);

-- +goose StatementBegin
CREATE FUNCTION records_counted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    created BIGINT;
BEGIN
    IF TG_OP = 'DELETE' THEN
        created := OLD.created_at;
    ELSE
        created := NEW.created_at;
    END IF;
    DELETE FROM day_counts WHERE stop > created AND stop <= created + 172800000 AND start <= created;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER records_counted_insert AFTER INSERT ON records FOR EACH ROW WHEN (NEW.status = 'success') EXECUTE FUNCTION records_counted();
CREATE TRIGGER records_counted_update AFTER UPDATE OF status ON records FOR EACH ROW
    WHEN ((NEW.status = 'success') <> (OLD.status = 'success')) EXECUTE FUNCTION records_counted();
CREATE TRIGGER records_counted_delete AFTER DELETE ON records FOR EACH ROW WHEN (OLD.status = 'success') EXECUTE FUNCTION records_counted();

-- +goose Down
DROP TRIGGER records_counted_delete ON records;
DROP TRIGGER records_counted_update ON records;
DROP TRIGGER records_counted_insert ON records;
DROP FUNCTION records_counted();
DROP TABLE day_counts;
