package watcher

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"watchmark/internal/source/mediaserver"
	"watchmark/internal/watch"
)

// webhookStamp is how often it is noted that webhooks of a login come.
const webhookStamp = time.Hour

// followed is a login as webhooks know it.
type followed struct {
	id                     int64
	kind                   mediaserver.Kind
	server, user, name     string // folded by watch.PlainID, the name as it is
	mediaUser              string
	skew                   time.Duration
	webhookAt, connectedAt time.Time
}

// follow tells SeenTx of the logins: of those that are not followed now, too, which are caught up when they are again.
func (s *Service) follow(all []known) {
	var now []followed
	for _, k := range all {
		if k.removed || k.userID == "" {
			continue
		}
		now = append(now, followed{
			id: k.ID, kind: k.Kind, server: watch.PlainID(k.ServerID), user: watch.PlainID(k.userID), name: k.UserName, mediaUser: k.MediaUserName,
			skew: time.Duration(k.SkewSeconds) * time.Second, webhookAt: k.webhookAt, connectedAt: k.ConnectedAt,
		})
	}
	s.followed.Store(&now)
}

// followTx is follow with what the database has now.
func (s *Service) followTx(ctx context.Context, tx *sql.Tx) error {
	all, err := s.store.allOf(ctx, tx)
	if err == nil {
		s.follow(all)
	}
	return err
}

// about reports whether a webhook may be about the login: it is of the same server and the same user. What names no server is told
// by the user alone.
func (f followed) about(e watch.Event) bool {
	if e.UserName != f.mediaUser && e.UserName != f.name && (e.UserID == "" || watch.PlainID(e.UserID) != f.user) {
		return false
	}
	return e.ServerID == "" || watch.PlainID(e.ServerID) == f.server
}

// SeenTx notes that a webhook told of a play, so that the login finds it known, and reports whether the login has taken it already.
// It asks the database nothing where no login may have seen it.
func (s *Service) SeenTx(ctx context.Context, tx *sql.Tx, e watch.Event) (seen bool, err error) {
	if e.Action != watch.Watched {
		return false, nil
	}
	if s.followed.Load() == nil { // the service has just started
		if err := s.followTx(ctx, tx); err != nil {
			return false, err
		}
	}
	for _, f := range *s.followed.Load() {
		if !f.about(e) {
			continue
		}
		taken, err := f.heardTx(ctx, tx, e, time.Now())
		if err != nil {
			return false, err
		}
		seen = seen || taken
	}
	return seen, nil
}

// ownEcho is for how long what this service set to unwatched itself is no person's word.
const ownEcho = 10 * time.Minute

// UnseenTx forgets that logins know a play which was set back to unwatched, so that the next one is news, and reports whether it was this
// service that did so at the media server.
func (s *Service) UnseenTx(ctx context.Context, tx *sql.Tx, e watch.Event) (own bool, err error) {
	if err := s.followTx(ctx, tx); err != nil { // of other replicas, too: this is rare, and its answer is written to a list
		return false, err
	}
	for _, f := range *s.followed.Load() {
		if !f.about(e) {
			continue
		}
		if e.ItemID != "" {
			var at int64
			err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(at), 0) FROM media_unplayed WHERE login_id = ? AND item_id = ?`, f.id, e.ItemID).Scan(&at)
			if err != nil {
				return false, fmt.Errorf("look who set an item to unwatched: %w", err)
			}
			if time.Since(time.UnixMilli(at)).Abs() < ownEcho {
				return true, nil
			}
		}
		if err := f.forgetTx(ctx, tx, e); err != nil {
			return false, err
		}
	}
	return false, nil
}

// forgetTx removes what is known of a play.
func (f followed) forgetTx(ctx context.Context, tx *sql.Tx, e watch.Event) error {
	key := keyOf(e, e.IsFilm())
	if key == "" && e.ItemID == "" {
		return nil
	}
	result, err := tx.ExecContext(ctx, `DELETE FROM media_plays WHERE login_id = ? AND (item_id = ? OR play_key = ? AND play_key <> '')`, f.id, e.ItemID, key)
	if err != nil {
		return fmt.Errorf("forget a play: %w", err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return fmt.Errorf("forget a play: %w", err)
	}
	return countTx(ctx, tx, f.id, -int(n), -int(n))
}

// heardTx notes a play that a webhook told of, and reports whether the login took it within the time of one play.
func (f followed) heardTx(ctx context.Context, tx *sql.Tx, e watch.Event, now time.Time) (taken bool, err error) {
	row := play{key: keyOf(e, e.IsFilm()), year: e.AirDate.Year, at: now.Add(f.skew).Truncate(time.Millisecond), heard: now}
	if e.ServerID != "" {
		row.item = e.ItemID
	}
	if row.item == "" && row.key == "" {
		return false, nil
	}
	// Webhooks of one login come one after the other, for others may be stored beside them.
	if _, err := tx.ExecContext(ctx, `UPDATE media_logins SET known = known WHERE id = ?`, f.id); err != nil {
		return false, fmt.Errorf("lock media login %d: %w", f.id, err)
	}
	rows, err := find(ctx, tx, f.id, []play{row})
	if err != nil {
		return false, err
	}
	same := rows.alike(row.key, row.year, row.item)
	own := rows.byItem[row.item]
	if own != nil {
		same = append(same, own)
	}
	for _, one := range same {
		taken = taken || !one.taken.IsZero() && now.Sub(one.taken).Abs() < onePlay
	}
	switch {
	case row.item == "":
		row.item = "=" + row.key
	case own != nil: // how the server counts it is told by the next look
		row.key, row.year = own.key, own.year
	default:
		err = countTx(ctx, tx, f.id, 1, 1)
	}
	if err == nil {
		err = putTx(ctx, tx, f.id, []play{row})
	}
	if err != nil {
		return taken, err
	}
	if now.Sub(f.webhookAt).Abs() >= webhookStamp {
		_, err = tx.ExecContext(ctx, `UPDATE media_logins SET webhook_at = ? WHERE id = ? AND webhook_at < ?`, now.UnixMilli(), f.id, now.Add(-webhookStamp).UnixMilli())
	}
	if err != nil {
		return taken, fmt.Errorf("note a webhook of media login %d: %w", f.id, err)
	}
	return taken, nil
}
