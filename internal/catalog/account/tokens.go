package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// Tokens are the account's credentials. It returns ErrNotFound, ErrNoToken, or an error of package
// secret for what cannot be opened.
func (s *Store) Tokens(ctx context.Context, id int64) (Tokens, error) {
	t, err := s.stored(ctx, id)
	return t.Tokens, err
}

// stored are tokens, and a version that changes with them.
type stored struct {
	Tokens
	version int64
}

// stored are the account's tokens. Errors as Tokens'.
func (s *Store) stored(ctx context.Context, id int64) (stored, error) {
	var t stored
	var access, refresh string
	var expires int64
	err := s.db.Read().QueryRowContext(ctx, `SELECT access_token, refresh_token, expires_at, redirect_url, token_version FROM accounts WHERE id = ?`, id).
		Scan(&access, &refresh, &expires, &t.RedirectURL, &t.version)
	if errors.Is(err, sql.ErrNoRows) {
		return stored{}, ErrNotFound
	}
	if err != nil {
		return stored{}, fmt.Errorf("read the tokens of account %d: %w", id, err)
	}
	if access == "" {
		return stored{}, ErrNoToken
	}
	if expires != 0 {
		t.ExpiresAt = time.UnixMilli(expires)
	}
	if t.Access, err = s.open(access, id, "access_token"); err != nil {
		return stored{}, err
	}
	if t.Refresh, err = s.open(refresh, id, "refresh_token"); err != nil {
		return stored{}, err
	}
	return t, nil
}

// SetOAuth stores a pair of tokens that OAuth gave for the account.
func (s *Store) SetOAuth(ctx context.Context, id int64, t Tokens) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return s.setOAuth(ctx, tx, id, t) })
}

// renew replaces the tokens that were stored as version by what a refresh gave; done is false when they are not stored any more.
func (s *Store) renew(ctx context.Context, id, version int64, t Tokens) (done bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if done, err = isVersion(ctx, tx, id, version); err != nil || !done {
			return err
		}
		return s.setOAuth(ctx, tx, id, t)
	})
	return done, err
}

// condemn stores why the tokens that were stored as version cannot be refreshed; done is false when they are not stored any more.
func (s *Store) condemn(ctx context.Context, id, version int64, problem reason.Reason) (done bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if done, err = isVersion(ctx, tx, id, version); err != nil || !done {
			return err
		}
		return setProblem(ctx, tx, id, problem)
	})
	return done, err
}

func isVersion(ctx context.Context, tx *sql.Tx, id, version int64) (is bool, err error) {
	err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM accounts WHERE id = ? AND token_version = ?)`, id, version).Scan(&is)
	if err != nil {
		return false, fmt.Errorf("look whether the tokens of account %d are others: %w", id, err)
	}
	return is, nil
}

// SetTokens stores tokens that came by method for the account; they are checked before the next mark.
func (s *Store) SetTokens(ctx context.Context, id int64, method Method, t Tokens) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.setTokens(ctx, tx, id, t); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE accounts SET auth_method = ?, checked_at = 0 WHERE id = ?`, method, id); err != nil {
			return fmt.Errorf("store tokens of account %d: %w", id, err)
		}
		return nil
	})
}

// Connect stores the pair of tokens that OAuth gave for the account, and owner, whom the
// catalog names as theirs: all of it or nothing. It returns ErrNotFound, ErrOtherUser when
// the account is known to be another catalog user, and ErrTaken when another account is owner.
func (s *Store) Connect(ctx context.Context, id int64, t Tokens, owner catalog.User) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := setOwner(ctx, tx, id, owner); err != nil {
			return err
		}
		return s.setOAuth(ctx, tx, id, t)
	})
}

// SetOwner stores whom the catalog names as the owner of the account's token, which it
// thereby accepts. It returns ErrNotFound, ErrOtherUser when the account is known to be
// another catalog user, and ErrTaken when another account is owner.
func (s *Store) SetOwner(ctx context.Context, id int64, owner catalog.User) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return setOwner(ctx, tx, id, owner) })
}

// SetProblem stores why the account's token does not work.
func (s *Store) SetProblem(ctx context.Context, id int64, problem reason.Reason) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return setProblem(ctx, tx, id, problem) })
}

func setProblem(ctx context.Context, tx *sql.Tx, id int64, problem reason.Reason) error {
	if _, err := tx.ExecContext(ctx, `UPDATE accounts SET problem = ? WHERE id = ?`, problem, id); err != nil {
		return fmt.Errorf("store the problem of account %d: %w", id, err)
	}
	return nil
}

// settleProblem removes a problem that an account shows, unless it shows another one by now.
func (s *Store) settleProblem(ctx context.Context, id int64, problem reason.Reason) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE accounts SET problem = '' WHERE id = ? AND problem = ?`, id, problem); err != nil {
			return fmt.Errorf("settle the problem of account %d: %w", id, err)
		}
		return nil
	})
}

// place binds a sealed token to its row, so that it cannot be moved to another account.
func place(id int64, column string) string {
	return "accounts/" + column + "/" + strconv.FormatInt(id, 10)
}

func (s *Store) open(sealed string, id int64, column string) (secret.Text, error) {
	if sealed == "" {
		return "", nil
	}
	plain, err := s.box.Open(sealed, place(id, column))
	if err != nil {
		return "", fmt.Errorf("open the %s of account %d: %w", column, id, err)
	}
	return secret.Text(plain), nil
}

func (s *Store) seal(plain secret.Text, id int64, column string) string {
	if plain == "" {
		return ""
	}
	return s.box.Seal(plain.Reveal(), place(id, column))
}

func (s *Store) setTokens(ctx context.Context, tx *sql.Tx, id int64, t Tokens) error {
	var expires int64
	if !t.ExpiresAt.IsZero() {
		expires = t.ExpiresAt.UnixMilli()
	}
	_, err := tx.ExecContext(ctx, `UPDATE accounts SET access_token = ?, refresh_token = ?, expires_at = ?, redirect_url = ?, token_version = token_version + 1, problem = '', updated_at = ? WHERE id = ?`,
		s.seal(t.Access, id, "access_token"), s.seal(t.Refresh, id, "refresh_token"), expires, t.RedirectURL, time.Now().UnixMilli(), id)
	if err != nil {
		return fmt.Errorf("store tokens of account %d: %w", id, err)
	}
	return nil
}

func (s *Store) setOAuth(ctx context.Context, tx *sql.Tx, id int64, t Tokens) error {
	if err := s.setTokens(ctx, tx, id, t); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE accounts SET auth_method = ? WHERE id = ?`, ByOAuth, id); err != nil {
		return fmt.Errorf("store tokens of account %d: %w", id, err)
	}
	return nil
}

func setOwner(ctx context.Context, tx *sql.Tx, id int64, owner catalog.User) error {
	a, err := get(ctx, tx, id)
	if err != nil {
		return err
	}
	if a.CatalogUserID != 0 && a.CatalogUserID != owner.ID {
		return otherUser.With(ErrOtherUser, owner.Username, a.Username)
	}
	if err := checkFree(ctx, tx, owner.Username, owner.ID, id); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE accounts SET username = ?, nickname = ?, catalog_user_id = ?, checked_at = ?, problem = '' WHERE id = ?`,
		owner.Username, owner.Nickname, owner.ID, time.Now().UnixMilli(), id)
	if err != nil {
		return fmt.Errorf("store the check of account %d: %w", id, err)
	}
	return nil
}
