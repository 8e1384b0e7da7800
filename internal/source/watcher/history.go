package watcher

import (
	"context"

	"watchmark/internal/platform/db"
)

// Taken are those of some items of a server of which a play became a record already, by a login of the user or by a webhook.
func (s *Service) Taken(ctx context.Context, server, user string, items []string) (map[string]bool, error) {
	list, args := db.In(items)
	taken := map[string]bool{}
	err := db.Each(ctx, s.DB.Read(), "look for plays that were taken", func(row db.Row) error {
		var id string
		err := row.Scan(&id)
		taken[id] = true
		return err
	}, `SELECT item_id FROM media_plays WHERE login_id IN (SELECT id FROM media_logins WHERE server_id = ? AND user_id = ?) AND (taken_at > 0 OR heard_at > 0) AND item_id IN `+list,
		append([]any{server, user}, args...)...)
	return taken, err
}
