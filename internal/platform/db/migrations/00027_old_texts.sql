-- +goose Up
-- What is left to do for what older versions stored, while the service runs; the one who does it removes the row.
CREATE TABLE pending_upgrades (
    name TEXT PRIMARY KEY
);
INSERT INTO pending_upgrades (name) VALUES ('texts');

-- +goose Down
DROP TABLE pending_upgrades;
