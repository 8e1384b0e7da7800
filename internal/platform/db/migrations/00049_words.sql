-- +goose Up
-- The entries of a list whose owner was asked for a rating and a comment when they were watched to the end, each once. over_at is when the
-- question was closed, 0 while it is open.
CREATE TABLE asked_words (
    account_id BIGINT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    subject_id BIGINT NOT NULL,
    asked_at   BIGINT NOT NULL,
    over_at    BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, subject_id)
);
CREATE INDEX asked_words_at ON asked_words (account_id, asked_at);
CREATE INDEX asked_words_open ON asked_words (account_id) WHERE over_at = 0;

-- The rule that is there at first tells of them, too, unless it was changed to tell of no marks that failed.
UPDATE notification_rules SET kinds = substr(kinds, 1, length(kinds) - 1) || ',"word_asked"]'
    WHERE name = 'What needs you' AND kinds LIKE '%"mark_failed"%]' AND kinds NOT LIKE '%"word_asked"%';

-- +goose Down
UPDATE notification_rules SET kinds = replace(kinds, ',"word_asked"', '');
DROP TABLE asked_words;
