package auth

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

const maxUserAgent = 300

// Login checks the name and the password and opens a session with a token that never
// existed before; expires is when it ends unless it is used. Sessions that ended are removed
// on the way. It returns ErrBadCredentials, or a *LockedError after too many failures of the
// remote address or with the name, whether the password is right or not.
func (s *Store) Login(ctx context.Context, name, password, userAgent string, remote netip.Addr) (token string, expires time.Time, err error) {
	policy := s.policy()
	if err := s.door.knock(policy, addressKey(remote), nameKey(name)); err != nil {
		return "", time.Time{}, err
	}
	id, hash, err := s.credentials(ctx, name)
	if err != nil {
		return "", time.Time{}, err
	}
	right, err := s.hasher.matches(ctx, hash, password)
	if err != nil {
		return "", time.Time{}, err
	}
	if !right {
		return "", time.Time{}, ErrBadCredentials
	}
	token = newToken()
	now := time.Now()
	expires = now.Add(policy.SessionLife)
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE expires_at <= ?`, now.UnixMilli()); err != nil {
			return fmt.Errorf("remove ended sessions: %w", err)
		}
		// A password changed since it was checked opens nothing.
		result, err := tx.ExecContext(ctx, `INSERT INTO sessions (token_hash, admin_id, created_at, seen_at, expires_at, user_agent, remote)
			SELECT ?, id, ?, ?, ?, ?, ? FROM admins WHERE id = ? AND password_hash = ?`,
			digest(token), now.UnixMilli(), now.UnixMilli(), expires.UnixMilli(), cleanUserAgent(userAgent), remoteText(remote), id, hash)
		if err != nil {
			return fmt.Errorf("open a session: %w", err)
		}
		opened, err := result.RowsAffected()
		if err != nil {
			return fmt.Errorf("open a session: %w", err)
		}
		if opened == 0 {
			return ErrBadCredentials
		}
		return nil
	})
	if err != nil {
		return "", time.Time{}, err
	}
	s.door.forgive(addressKey(remote), nameKey(name))
	return token, expires, nil
}

// Locked is whom too many failed attempts keep out at the moment, an address or a name, and
// until when; empty when nobody.
func (s *Store) Locked() (who string, until time.Time) { return s.door.locked(s.policy()) }

// credentials are the id and the password hash behind the name; the decoy for an unknown one.
func (s *Store) credentials(ctx context.Context, name string) (id int64, hash string, err error) {
	err = s.db.Read().QueryRowContext(ctx, `SELECT id, password_hash FROM admins WHERE name = ?`, name).Scan(&id, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, s.decoy, nil
	}
	if err != nil {
		return 0, "", fmt.Errorf("look up the administrator: %w", err)
	}
	return id, hash, nil
}

func cleanUserAgent(ua string) string {
	return strings.ToValidUTF8(ua[:min(len(ua), maxUserAgent)], "")
}

// remoteText is the address as it is stored; empty for a caller without one.
func remoteText(remote netip.Addr) string {
	if !remote.IsValid() {
		return ""
	}
	return remote.String()
}

// Logout ends the session of the token; a token that opens none is no error.
func (s *Store) Logout(ctx context.Context, token string) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE token_hash = ?`, digest(token)); err != nil {
			return fmt.Errorf("end the session: %w", err)
		}
		return nil
	})
}

func endSessions(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM sessions`); err != nil {
		return fmt.Errorf("end all sessions: %w", err)
	}
	return nil
}

// session is an open session.
type session struct {
	tokenHash string
	admin     string
	seen      time.Time
}

// errNoSession means that a token opens no session, or one that has ended.
var errNoSession = errors.New("no such session")

// session is the open session of the token, or errNoSession.
func (s *Store) session(ctx context.Context, token string) (session, error) {
	if len(token) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return session{}, errNoSession
	}
	found := session{tokenHash: digest(token)}
	var seen, expires int64
	err := s.db.Read().QueryRowContext(ctx, `SELECT a.name, s.seen_at, s.expires_at
		FROM sessions s JOIN admins a ON a.id = s.admin_id WHERE s.token_hash = ?`, found.tokenHash).Scan(&found.admin, &seen, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return session{}, errNoSession
	}
	if err != nil {
		return session{}, fmt.Errorf("look up the session: %w", err)
	}
	found.seen = time.UnixMilli(seen)
	// The life counts as the settings are now: shortened, it ends older sessions too.
	now := time.Now()
	if !now.Before(time.UnixMilli(expires)) || !now.Before(found.seen.Add(s.policy().SessionLife)) {
		return session{}, errNoSession
	}
	return found, nil
}

// touchSession moves the end of a session that was last written a while ago. It tells the new
// end, or the zero time when there was nothing to do.
func (s *Store) touchSession(ctx context.Context, used session) (expires time.Time, err error) {
	now := time.Now()
	if now.Sub(used.seen) < touchEvery {
		return time.Time{}, nil
	}
	expires = now.Add(s.policy().SessionLife)
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE sessions SET seen_at = ?, expires_at = ? WHERE token_hash = ? AND seen_at = ?`,
			now.UnixMilli(), expires.UnixMilli(), used.tokenHash, used.seen.UnixMilli())
		if err != nil {
			return fmt.Errorf("prolong the session: %w", err)
		}
		return nil
	})
	if err != nil {
		return time.Time{}, err
	}
	return expires, nil
}
