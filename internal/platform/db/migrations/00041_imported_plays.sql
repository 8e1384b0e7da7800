-- +goose Up
-- A play of Trakt's history may have come from a file of anybody's before.
CREATE INDEX imported_items_item ON imported_items (source, item_id);

-- +goose Down
DROP INDEX imported_items_item;
