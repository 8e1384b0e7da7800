package auth

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/scope"
)

// Key is an API key as it may be shown; the key itself is known to its owner only.
type Key struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	// Hint is the last four characters of the key.
	Hint      string    `json:"hint"`
	CreatedAt time.Time `json:"created_at"`
	// UsedAt is the last use, up to a minute late; nil = never.
	UsedAt *time.Time `json:"used_at"`
}

const (
	keyPrefix  = "wm_"
	keyBytes   = 32
	keyLength  = len(keyPrefix) + 2*keyBytes
	hintLength = 4
)

// CreateKey makes an API key of the person in whose scope ctx is, else of the owner, and returns it in plain: the only time it can be seen.
// It returns ErrKeyTaken, or a *reason.FieldError for the name (1 to 100 characters).
func (s *Store) CreateKey(ctx context.Context, name string) (plain string, key Key, err error) {
	if err := checkName(name); err != nil {
		return "", Key{}, err
	}
	plain = keyPrefix + hex.EncodeToString(randomBytes(keyBytes))
	now := time.Now().UnixMilli()
	key = Key{Name: name, Hint: plain[len(plain)-hintLength:], CreatedAt: time.UnixMilli(now)}
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `INSERT INTO person_keys (person_id, name, key_hash, hint, created_at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO NOTHING RETURNING id`, orNull(holder(ctx)), name, digest(plain), key.Hint, now).Scan(&key.ID)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrKeyTaken
		}
		if err != nil {
			return fmt.Errorf("store the API key: %w", err)
		}
		return nil
	})
	if err != nil {
		return "", Key{}, err
	}
	return plain, key, nil
}

// holder is whose API keys are meant: the person in whose scope ctx is; 0 is the owner, and -1 nobody.
func holder(ctx context.Context) int64 {
	at := scope.From(ctx)
	if !at.Whole() && at.Person() == 0 {
		return -1
	}
	return at.Person()
}

func orNull(id int64) sql.NullInt64 { return sql.NullInt64{Int64: id, Valid: id != 0} }

// ListKeys are all API keys of the person in whose scope ctx is, else of the owner, by name.
func (s *Store) ListKeys(ctx context.Context) ([]Key, error) {
	return db.All(ctx, s.db.Read(), "list API keys", func(row db.Row) (key Key, err error) {
		var created, used int64
		err = row.Scan(&key.ID, &key.Name, &key.Hint, &created, &used)
		key.CreatedAt = time.UnixMilli(created)
		if used != 0 {
			at := time.UnixMilli(used)
			key.UsedAt = &at
		}
		return key, err
	}, `SELECT id, name, hint, created_at, used_at FROM person_keys WHERE COALESCE(person_id, 0) = ? ORDER BY name`, holder(ctx))
}

// DeleteKey removes the API key with the id, which ends its use at once. It returns ErrKeyNotFound, also for one that ListKeys does
// not list.
func (s *Store) DeleteKey(ctx context.Context, id int64) error {
	return s.end(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM person_keys WHERE id = ? AND COALESCE(person_id, 0) = ?`, id, holder(ctx))
		if err != nil {
			return fmt.Errorf("delete API key %d: %w", id, err)
		}
		deleted, err := result.RowsAffected()
		if err != nil {
			return fmt.Errorf("delete API key %d: %w", id, err)
		}
		if deleted == 0 {
			return ErrKeyNotFound
		}
		return nil
	})
}

// HasKey returns ErrKeyNotFound unless ListKeys lists the key.
func (s *Store) HasKey(ctx context.Context, id int64) error {
	var n int
	err := s.db.Read().QueryRowContext(ctx, `SELECT COUNT(*) FROM person_keys WHERE id = ? AND COALESCE(person_id, 0) = ?`, id, holder(ctx)).Scan(&n)
	if err != nil {
		return fmt.Errorf("look for API key %d: %w", id, err)
	}
	if n == 0 {
		return ErrKeyNotFound
	}
	return nil
}

// usedKey is what is known of the key of a request.
type usedKey struct {
	id   int64
	who  Identity
	used time.Time
}

// key is the API key that plain is, or keyUnknown.
func (s *Store) key(ctx context.Context, plain string) (usedKey, error) {
	if len(plain) != keyLength || !strings.HasPrefix(plain, keyPrefix) {
		return usedKey{}, keyUnknown
	}
	found := usedKey{who: Identity{Kind: ByAPIKey}}
	var used int64
	// A key without a person is the owner's, who may not be there yet.
	err := s.db.Read().QueryRowContext(ctx, `SELECT k.id, k.name, k.used_at, COALESCE(k.person_id, (SELECT id FROM people WHERE role = ?), 0),
			CASE WHEN k.person_id IS NULL THEN ? ELSE (SELECT role FROM people WHERE id = k.person_id) END
		FROM person_keys k WHERE k.key_hash = ?`, RoleOwner, RoleOwner, digest(plain)).Scan(&found.id, &found.who.Name, &used, &found.who.Person, &found.who.Role)
	if errors.Is(err, sql.ErrNoRows) {
		return usedKey{}, keyUnknown
	}
	if err != nil {
		return usedKey{}, fmt.Errorf("look up the API key: %w", err)
	}
	if !found.who.Role.signsIn() {
		return usedKey{}, keyUnknown
	}
	found.used = time.UnixMilli(used)
	return found, nil
}

// touchKey writes the last use of a key when it was last written a while ago.
func (s *Store) touchKey(ctx context.Context, key usedKey) error {
	now := time.Now()
	if now.Sub(key.used) < touchEvery {
		return nil
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE person_keys SET used_at = ? WHERE id = ? AND used_at = ?`,
			now.UnixMilli(), key.id, key.used.UnixMilli())
		if err != nil {
			return fmt.Errorf("note the use of API key %d: %w", key.id, err)
		}
		return nil
	})
}
