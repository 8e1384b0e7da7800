-- +goose Up

-- What may be sent to a host of Bangumi, by who counts there: an egress, or an account (catalog/budget). tokens are
-- millionths of a request, counted at the time at; taken is what the last taker got. Times are of the database's clock.
CREATE TABLE budgets (
    host TEXT NOT NULL,
    egress TEXT NOT NULL,
    tokens INTEGER NOT NULL DEFAULT 0,
    at INTEGER NOT NULL DEFAULT 0,
    taken INTEGER NOT NULL DEFAULT 0,
    banned_since INTEGER NOT NULL DEFAULT 0,
    banned_until INTEGER NOT NULL DEFAULT 0,
    trial_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (host, egress)
);

-- +goose Down

DROP TABLE budgets;
