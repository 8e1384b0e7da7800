package watcher

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/watch"
)

const (
	// burst is how many plays at once are taken without a question: more were marked by hand.
	burst = 30
	// answerAtOnce is how many held plays one transaction takes.
	answerAtOnce = 200
	// heldShown bounds what is shown of held plays.
	heldShown = 5000
)

// heldOf is what waits for a person's word of a login, by show and season.
func (s *Service) heldOf(ctx context.Context, id int64) ([]Held, error) {
	rows, err := s.store.held(ctx, id, true, heldShown)
	if err != nil {
		return nil, err
	}
	all := []Held{}
	at := map[string]int{}
	for _, row := range rows {
		for _, e := range row.events {
			name := fmt.Sprint(e.Title, "\n", e.IsFilm())
			if e.Season != nil {
				name += fmt.Sprint("\n", *e.Season)
			}
			i, there := at[name]
			if !there {
				i = len(all)
				at[name] = i
				all = append(all, Held{Title: e.Title, Season: e.Season, Film: e.IsFilm(), At: row.at, Episodes: []float64{}})
			}
			if e.Episode != nil {
				all[i].Episodes = append(all[i].Episodes, *e.Episode)
			}
		}
	}
	for i := range all {
		slices.Sort(all[i].Episodes)
	}
	return all, nil
}

// HeldCount is how many plays of a login wait for a person's word.
func (l Login) HeldCount() (n int) {
	for _, one := range l.Held {
		n += max(1, len(one.Episodes)) // a film has no episodes
	}
	return n
}

// Answer says what becomes of the plays of a login that are held: they become records, or they are known and nothing more. Errors
// are ErrNotFound and ErrNothingHeld.
func (s *Service) Answer(ctx context.Context, id int64, take bool) error {
	if _, err := s.store.get(ctx, id); err != nil {
		return err
	}
	for answered := false; ; answered = true {
		rows, err := s.store.held(ctx, id, true, answerAtOnce)
		switch {
		case err != nil:
			return err
		case len(rows) == 0 && !answered:
			return ErrNothingHeld
		case len(rows) == 0:
			return nil
		case take:
			for _, row := range rows {
				for i := range row.events {
					row.events[i].RawEvent = seenHeld
				}
			}
			err = s.release(ctx, id, rows)
		default:
			err = s.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return dropHeldTx(ctx, tx, rows) })
		}
		if err != nil && !errors.Is(err, errMeanwhile) { // somebody else answered: what is left is looked at
			return err
		}
	}
}

// release makes records of held plays.
func (s *Service) release(ctx context.Context, id int64, rows []heldPlay) error {
	var events []watch.Event
	items := make([]string, 0, len(rows))
	for _, row := range rows {
		events = append(events, row.events...)
		items = append(items, row.item)
	}
	now := time.Now()
	_, err := s.Intake.Take(ctx, events, func(ctx context.Context, tx *sql.Tx, _ []int64) error {
		if err := dropHeldTx(ctx, tx, rows); err != nil {
			return err
		}
		list, args := db.In(items)
		_, err := tx.ExecContext(ctx, `UPDATE media_plays SET taken_at = ? WHERE login_id = ? AND item_id IN `+list, append([]any{now.UnixMilli(), id}, args...)...)
		if err != nil {
			return fmt.Errorf("note that held plays were taken: %w", err)
		}
		return eventTx(ctx, tx, id, events[len(events)-1], now)
	})
	return err
}

// settle decides about what a reading held until it was known how many there are, and answers how many were taken and how many wait
// for a person.
func (s *Service) settle(ctx context.Context, id int64) (taken, waiting int, err error) {
	n, err := s.store.countHeld(ctx, id, false)
	if err != nil || n == 0 {
		return 0, 0, err
	}
	if n > burst {
		return 0, n, s.store.askHeld(ctx, id)
	}
	rows, err := s.store.held(ctx, id, false, burst)
	if err == nil {
		err = s.release(ctx, id, rows)
	}
	return len(rows), 0, err
}

// eventTx notes the last play of a login that became a record.
func eventTx(ctx context.Context, tx *sql.Tx, id int64, e watch.Event, now time.Time) error {
	text := e.Title
	if label := e.EpisodeLabel(); label != "" {
		text += " " + label
	}
	if _, err := tx.ExecContext(ctx, `UPDATE media_logins SET last_event_at = ?, last_event = ? WHERE id = ?`, now.UnixMilli(), text, id); err != nil {
		return fmt.Errorf("note the last play of media login %d: %w", id, err)
	}
	return nil
}
