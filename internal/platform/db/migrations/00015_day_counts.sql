-- +goose Up
-- How many records of a day are marked, for days that are over. A day is told by its bounds in unix ms; stop is
-- not part of it. When a record becomes marked, or is not any more, the count of its day goes. No day is longer
-- than two of 24 hours, which keeps the search among the days to a few.
CREATE TABLE day_counts (
    start  BIGINT NOT NULL,
    stop   BIGINT NOT NULL,
    marked BIGINT NOT NULL,
    PRIMARY KEY (stop, start)
);

-- +goose StatementBegin
CREATE TRIGGER records_counted_insert AFTER INSERT ON records WHEN NEW.status = 'success'
BEGIN
    DELETE FROM day_counts WHERE stop > NEW.created_at AND stop <= NEW.created_at + 172800000 AND start <= NEW.created_at;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER records_counted_update AFTER UPDATE OF status ON records WHEN (NEW.status = 'success') <> (OLD.status = 'success')
BEGIN
    DELETE FROM day_counts WHERE stop > NEW.created_at AND stop <= NEW.created_at + 172800000 AND start <= NEW.created_at;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER records_counted_delete AFTER DELETE ON records WHEN OLD.status = 'success'
BEGIN
    DELETE FROM day_counts WHERE stop > OLD.created_at AND stop <= OLD.created_at + 172800000 AND start <= OLD.created_at;
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER records_counted_delete;
DROP TRIGGER records_counted_update;
DROP TRIGGER records_counted_insert;
DROP TABLE day_counts;
