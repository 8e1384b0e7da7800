-- +goose Up
-- The rule that is there at first tells of media servers that need somebody, too, unless it was changed to tell of no sources.
UPDATE notification_rules SET kinds = substr(kinds, 1, length(kinds) - 1) || ',"server_signed_out","server_unreachable","server_refused","server_asks"]'
    WHERE name = 'What needs you' AND kinds LIKE '%"source_silent"%]' AND kinds NOT LIKE '%"server_signed_out"%';

-- +goose Down
UPDATE notification_rules SET kinds = replace(kinds, ',"server_signed_out","server_unreachable","server_refused","server_asks"', '');
