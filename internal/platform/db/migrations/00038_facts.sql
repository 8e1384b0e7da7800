-- +goose Up
-- What holds for the whole database. schema_floor is the oldest schema version that a program may know to work on it: a migration
-- that takes away what programs before it read or write raises the floor to its own number (CONTRIBUTING, "A migration").
CREATE TABLE facts (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
INSERT INTO facts (name, value) VALUES ('schema_floor', '38');

-- +goose Down
DROP TABLE facts;
