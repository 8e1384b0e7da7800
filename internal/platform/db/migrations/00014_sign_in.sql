-- +goose Up
-- How a session was opened: '' by the password, else by a provider, with what the settings must
-- still hold for it.
ALTER TABLE sessions ADD COLUMN via TEXT NOT NULL DEFAULT '';

-- The second factor. secret is sealed; last_step is the newest time step whose code was used.
CREATE TABLE second_factors (
    admin_id   BIGINT PRIMARY KEY REFERENCES admins (id) ON DELETE CASCADE,
    secret     TEXT NOT NULL,
    last_step  BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE recovery_codes (
    admin_id  BIGINT NOT NULL REFERENCES second_factors (admin_id) ON DELETE CASCADE,
    code_hash TEXT NOT NULL,
    PRIMARY KEY (admin_id, code_hash)
);

-- +goose Down
DROP TABLE recovery_codes;
DROP TABLE second_factors;
ALTER TABLE sessions DROP COLUMN via;
