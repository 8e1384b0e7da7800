package watcher

import (
	"context"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/watch"
)

// History starts the importer's preview or import of what the person of a login has played. Errors are ErrNotFound, ErrOff, ErrSignedOut,
// importer.ErrRunning, task.ErrStopping, those of the server, and *reason.FieldError for media_user_name.
func (s *Service) History(ctx context.Context, id int64, preview bool) (*task.Task, error) {
	k, err := s.ready(ctx, id)
	if err != nil {
		return nil, err
	}
	accounts, problem, err := s.Routed(ctx, k.MediaUserName)
	if err != nil {
		return nil, err
	}
	if len(accounts) == 0 {
		return nil, reason.At("media_user_name", problem)
	}
	client, err := s.open(k)
	if err != nil {
		return nil, err
	}
	if len(k.libraries) == 0 { // it was connected just now
		if err := s.inTurn(ctx, id, func(func(func() error) error) error { return s.connect(ctx, client, &k) }); err != nil {
			return nil, err
		}
	}
	return s.Import(ctx, id, importer.History{
		Client: inTurn{client, s, id}, Kind: webhookSource(k.Kind), Source: watch.Watcher, ServerID: k.ServerID, ServerName: k.ServerName,
		UserID: k.userID, UserName: k.MediaUserName, Libraries: k.chosen(),
	}, preview)
}

// inTurn is a Client that reads lists in the turn of its login, and lets the turn go while somebody works on a page: what is watched
// meanwhile shall be marked meanwhile.
type inTurn struct {
	mediaserver.Client
	service *Service
	login   int64
}

func (c inTurn) Played(ctx context.Context, of []mediaserver.Library, since time.Time, page func([]mediaserver.Item, int) error) error {
	return c.service.inTurn(ctx, c.login, func(pause func(func() error) error) error {
		return c.Client.Played(ctx, of, since, func(items []mediaserver.Item, left int) error {
			return pause(func() error { return page(items, left) })
		})
	})
}

func (c inTurn) Series(ctx context.Context, of mediaserver.Library, page func([]mediaserver.Show) error) error {
	return c.service.inTurn(ctx, c.login, func(func(func() error) error) error { return c.Client.Series(ctx, of, page) })
}

// inTurn asks a server in the turn of its login; pause lets the turn go for the time of some work.
func (s *Service) inTurn(ctx context.Context, id int64, ask func(pause func(work func() error) error) error) error {
	end, err := s.turn(ctx, id)
	if err != nil {
		return err
	}
	defer func() { end() }()
	return ask(func(work func() error) error {
		end()
		end = func() {}
		if err := work(); err != nil {
			return err
		}
		again, err := s.turn(ctx, id)
		if err == nil {
			end = again
		}
		return err
	})
}

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
