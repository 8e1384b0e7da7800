-- +goose Up
-- When the service last had the tracker mail a sign-in code: one row, since there is one administrator. It outlives
-- the sign-in and the process, so that neither a wrong code nor a restart frees anybody from the wait for the next mail.
CREATE TABLE tracker_mail (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    asked_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE tracker_mail;
