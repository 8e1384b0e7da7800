-- +goose Up
-- What an account has done with adult titles; empty is as sync.adult says.
ALTER TABLE accounts ADD COLUMN adult TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE accounts DROP COLUMN adult;
