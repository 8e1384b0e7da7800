package tracker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"watchmark/internal/platform/reason"
)

// titlesFresh is how long titles are believed: they cost a request or two for each show.
const titlesFresh = 30 * 24 * time.Hour

// titles are those of a show or film beside the tracker's own, which is English; "" where it
// knows none.
type titles struct{ original, translated string }

// asked is what a look-up of titles came to.
type asked struct {
	titles
	err error
}

// titlesOf are the titles of what a play is of; a run looks each up once, also in vain. Where the
// tracker fails there is no event: without its titles the play might not be found.
func (r *run) titlesOf(ctx context.Context, p play) (titles, error) {
	id := p.work().IDs.get("trakt")
	if id == "" || strings.ContainsAny(id, "/?#%. ") {
		return titles{}, nil
	}
	path := "/" + p.kind() + "s/" + id
	a, before := r.asked[path]
	if !before {
		a.titles, a.err = r.k.lookUp(ctx, r.u.ID, p, id, path)
		r.asked[path] = a
	}
	return a.titles, a.err
}

// lookUp takes titles from the database, or from the tracker.
func (k *Service) lookUp(ctx context.Context, userID int64, p play, id, path string) (titles, error) {
	t, fresh, err := k.store.titles(ctx, p.kind(), id)
	if err != nil || fresh {
		return t, err
	}
	t = titles{original: p.work().Original}
	if t.original == "" {
		var said struct {
			Original string `json:"original_title"`
		}
		if err := k.read(ctx, opAskTitle, userID, path+"?extended=full", &said); err != nil {
			return titles{}, err
		}
		t.original = said.Original
	}
	var said []struct {
		Title   string `json:"title"`
		Country string `json:"country"`
	}
	if err := k.read(ctx, opAskTranslations, userID, path+"/translations/zh", &said); err != nil {
		return titles{}, err
	}
	best := []string{"sg", "hk", "tw", "cn"} // the catalog's titles are those of the last
	rank := -1
	for _, row := range said {
		if at := slices.Index(best, row.Country); row.Title != "" && (at > rank || t.translated == "") {
			t.translated, rank = row.Title, at
		}
	}
	return t, k.store.setTitles(ctx, p.kind(), id, t)
}

// maybeOfOne reports whether a failure may be that of one title alone, for which the others need
// not wait: the tracker answered that it is broken.
func maybeOfOne(err error) bool {
	var said *Error
	return errors.As(err, &said) && errors.Is(said, ErrUnreachable) && said.Status != 0
}

// read asks the data host for JSON. What the tracker does not know or refuses to tell leaves into
// as it is: it would do so for ever.
func (k *Service) read(ctx context.Context, op *reason.Kind, userID int64, path string, into any) error {
	resp, err := k.patiently(ctx, op, userID, path, func(err error) bool { return passing(err) && !maybeOfOne(err) })
	if errors.Is(err, ErrGone) || errors.Is(err, ErrRefused) {
		return nil
	}
	if err == nil {
		_ = resp.JSON(into, mostValues) // what cannot be read is not known
	}
	return err
}

func (s store) titles(ctx context.Context, kind, id string) (t titles, fresh bool, err error) {
	var at int64
	err = s.db.Read().QueryRowContext(ctx, `SELECT original, translated, fetched_at FROM tracker_titles WHERE kind = ? AND tracker_id = ?`, kind, id).
		Scan(&t.original, &t.translated, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return titles{}, false, nil
	}
	if err != nil {
		return titles{}, false, fmt.Errorf("read the titles of a %s: %w", kind, err)
	}
	age := time.Since(time.UnixMilli(at))
	return t, age >= 0 && age < titlesFresh, nil
}

func (s store) setTitles(ctx context.Context, kind, id string, t titles) error {
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO tracker_titles (kind, tracker_id, original, translated, fetched_at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (kind, tracker_id) DO UPDATE SET original = excluded.original, translated = excluded.translated, fetched_at = excluded.fetched_at`,
			kind, id, t.original, t.translated, time.Now().UnixMilli())
		return err
	})
	if err != nil {
		return fmt.Errorf("store the titles of a %s: %w", kind, err)
	}
	return nil
}

// Prune removes up to limit titles that are too old to be believed, and reports how many went.
func (k *Service) Prune(ctx context.Context, limit int) (int64, error) {
	var n int64
	err := k.store.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM tracker_titles WHERE (kind, tracker_id) IN
			(SELECT kind, tracker_id FROM tracker_titles WHERE fetched_at < ? LIMIT ?)`, time.Now().Add(-titlesFresh).UnixMilli(), limit)
		if err != nil {
			return fmt.Errorf("prune the titles of Trakt: %w", err)
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}
