-- +goose Up
-- For whom another service vouches: subject is the id of a user that the issuer never gives to somebody else, such as a user of a media
-- server, an account at Plex or at a sign-in provider. service and name are what people call them.
CREATE TABLE person_sign_ins (
    id         INTEGER PRIMARY KEY,
    person_id  BIGINT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
    issuer     TEXT NOT NULL,
    subject    TEXT NOT NULL,
    service    TEXT NOT NULL,
    name       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL
);
CREATE UNIQUE INDEX person_sign_ins_subject ON person_sign_ins (issuer, subject);
CREATE INDEX person_sign_ins_person ON person_sign_ins (person_id);

-- 1 until somebody with the name has signed in at a media server: who comes next by the name alone is not known by it.
ALTER TABLE person_media_users ADD COLUMN introduces INTEGER NOT NULL DEFAULT 1;

-- +goose Down
ALTER TABLE person_media_users DROP COLUMN introduces;
DROP TABLE person_sign_ins;
