-- +goose Up
-- Entries of lists that this service had put there, and dropped when that was taken back: the next watch takes them up again.
CREATE TABLE left_entries (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    subject_id BIGINT NOT NULL,
    PRIMARY KEY (account_id, subject_id)
);

-- +goose Down
DROP TABLE left_entries;
