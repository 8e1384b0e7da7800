-- +goose Up
-- People who sign in, and guests, who do not: role is owner, person or guest. An empty password_hash opens nothing. The administrator
-- of before is the owner.
ALTER TABLE admins RENAME TO people;
ALTER TABLE people ADD COLUMN role TEXT NOT NULL DEFAULT 'guest';
-- The link of an invitation, by the hash of its token; empty when none is open.
ALTER TABLE people ADD COLUMN invitation_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE people ADD COLUMN invited_until BIGINT NOT NULL DEFAULT 0;
UPDATE people SET role = 'owner' WHERE id = (SELECT MIN(id) FROM people);
CREATE UNIQUE INDEX people_name ON people (lower(name));
CREATE UNIQUE INDEX people_owner ON people (role) WHERE role = 'owner';
CREATE UNIQUE INDEX people_invitation ON people (invitation_hash) WHERE invitation_hash <> '';

-- The media-server users that a person is.
CREATE TABLE person_media_users (
    name      TEXT PRIMARY KEY,
    person_id BIGINT NOT NULL REFERENCES people (id) ON DELETE CASCADE
);
CREATE INDEX person_media_users_person ON person_media_users (person_id);

ALTER TABLE sessions RENAME COLUMN admin_id TO person_id;
CREATE INDEX sessions_person ON sessions (person_id);
ALTER TABLE second_factors RENAME COLUMN admin_id TO person_id;
ALTER TABLE recovery_codes RENAME COLUMN admin_id TO person_id;

-- API keys; those without a person are the owner's. The table has a new name, so that a program from before takes nobody's key for one
-- of the administrator.
CREATE TABLE person_keys (
    id         INTEGER PRIMARY KEY,
    person_id  BIGINT REFERENCES people (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    key_hash   TEXT NOT NULL UNIQUE,
    hint       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX person_keys_name ON person_keys (COALESCE(person_id, 0), name);
INSERT INTO person_keys (id, name, key_hash, hint, created_at, used_at) SELECT id, name, key_hash, hint, created_at, used_at FROM api_keys;
DROP TABLE api_keys;

-- Whose account it is; without a person it is the owner's.
ALTER TABLE accounts ADD COLUMN person_id BIGINT REFERENCES people (id) ON DELETE CASCADE;
CREATE INDEX accounts_person ON accounts (person_id) WHERE person_id IS NOT NULL;
-- One person's records, the newest first.
CREATE INDEX records_account ON records (account_id, id) WHERE account_id IS NOT NULL;

-- A program from before knows no person, and would show everything to everybody who is signed in.
UPDATE facts SET value = '53' WHERE name = 'schema_floor';

-- +goose Down
DROP INDEX records_account;
DROP INDEX accounts_person;
ALTER TABLE accounts DROP COLUMN person_id;
CREATE TABLE api_keys (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    key_hash   TEXT NOT NULL UNIQUE,
    hint       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL DEFAULT 0
);
INSERT INTO api_keys (id, name, key_hash, hint, created_at, used_at) SELECT id, name, key_hash, hint, created_at, used_at FROM person_keys WHERE person_id IS NULL;
DROP TABLE person_keys;
DELETE FROM people WHERE role <> 'owner';
ALTER TABLE recovery_codes RENAME COLUMN person_id TO admin_id;
ALTER TABLE second_factors RENAME COLUMN person_id TO admin_id;
DROP INDEX sessions_person;
ALTER TABLE sessions RENAME COLUMN person_id TO admin_id;
DROP TABLE person_media_users;
DROP INDEX people_invitation;
ALTER TABLE people DROP COLUMN invited_until;
ALTER TABLE people DROP COLUMN invitation_hash;
DROP INDEX people_owner;
DROP INDEX people_name;
ALTER TABLE people DROP COLUMN role;
ALTER TABLE people RENAME TO admins;
UPDATE facts SET value = '38' WHERE name = 'schema_floor';
