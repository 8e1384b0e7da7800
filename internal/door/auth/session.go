package auth

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

const maxUserAgent = 300

// Visitor is who wants in, as a request shows it.
type Visitor struct {
	Addr      netip.Addr
	UserAgent string
	// Session is the token of the session that the browser had until now; it ends when a new one
	// opens. Empty for none.
	Session string
	// Device is the value of DeviceCookie; empty for none.
	Device string
	// Name is who the attempt says to be; empty where it names nobody.
	Name string
}

// Opened is a session with a token that never existed before, when it ends unless it is used, and the
// value for the DeviceCookie of its browser.
type Opened struct {
	// Name is that of the person, as it is stored.
	Name    string
	Token   string
	Expires time.Time
	Device  string
}

// Login checks the name, the password and, where the second factor is on, a code of the app or a
// recovery code, and opens a session. It returns ErrBadCredentials, ErrCodeNeeded when the password
// is right and code is empty, ErrBadCode, or a *LockedError after too many failures of the
// address or with the name, whether the password is right or not. A browser in which the person has signed in before has a
// count of its own. A guest cannot sign in.
func (s *Store) Login(ctx context.Context, name, password, code string, v Visitor) (Opened, error) {
	who, err := s.verify(ctx, name, password, v)
	if err != nil {
		return Opened{}, err
	}
	var opened Opened
	_, doors := s.doors(name, v)
	p, err := s.prove(ctx, who.id, code)
	if err == nil {
		opened, err = s.openSession(ctx, who, "", p, doors, v)
	}
	switch {
	case err == nil:
		opened.Device = s.deviceOf(v.Device, who.name)
	case errors.Is(err, ErrCodeNeeded): // the password was right; to forgive everything would let codes be guessed for ever
		err = errors.Join(err, s.door.withdraw(ctx, doors...))
	}
	return opened, err
}

// Knock counts an attempt to come in by another service. It is counted as failed until
// Enter or its like succeeds, or Withdraw takes it back. It returns a *LockedError.
func (s *Store) Knock(ctx context.Context, v Visitor) error {
	own, doors := s.doors(v.Name, v)
	return s.door.knock(ctx, s.policy(), own, doors...)
}

// Withdraw takes the last attempt back: nothing was guessed.
func (s *Store) Withdraw(ctx context.Context, v Visitor) error {
	_, doors := s.doors(v.Name, v)
	return s.door.withdraw(ctx, doors...)
}

// Begin counts a sign-in by another service that is begun, which costs more than its answer. It returns a *LockedError
// when the visitor begins too many.
func (s *Store) Begin(v Visitor) error {
	if _, doors := s.doors("", v); !s.starts.allow(doors[0], time.Now()) {
		return &LockedError{RetryAfter: startWait}
	}
	return nil
}

// Enter opens a session of the owner for somebody whom a provider vouches for. via is one of
// Policy.Entries: the session ends when that is no longer among them. It returns ErrNoAdmin while
// nobody has set the service up.
func (s *Store) Enter(ctx context.Context, via string, v Visitor) (Opened, error) {
	var who credentials
	err := s.db.Read().QueryRowContext(ctx, `SELECT id, name, password_hash FROM people WHERE role = ?`, RoleOwner).Scan(&who.id, &who.name, &who.hash)
	if errors.Is(err, sql.ErrNoRows) {
		return Opened{}, ErrNoAdmin
	}
	if err != nil {
		return Opened{}, fmt.Errorf("look up the owner: %w", err)
	}
	_, doors := s.doors("", v)
	opened, err := s.openSession(ctx, who, via, nil, doors, v)
	if err == nil {
		opened.Device = s.deviceOf(v.Device, who.name)
	}
	return opened, err
}

// openSession opens a session, has p count, which is nil where nothing more is to be proved, and removes
// sessions that ended, the one that the browser had, and the failures of doors. A password changed since who was read opens nothing.
func (s *Store) openSession(ctx context.Context, who credentials, via string, p proof, doors []string, v Visitor) (Opened, error) {
	token, now := newToken(), time.Now()
	expires := now.Add(s.policy().SessionLife)
	err := s.end(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE expires_at <= ? OR token_hash = ?`, now.UnixMilli(), digest(v.Session)); err != nil {
			return fmt.Errorf("remove ended sessions: %w", err)
		}
		if p != nil {
			if err := p(ctx, tx); err != nil {
				return err
			}
		}
		result, err := tx.ExecContext(ctx, `INSERT INTO sessions (token_hash, person_id, created_at, seen_at, expires_at, user_agent, remote, via)
			SELECT ?, id, ?, ?, ?, ?, ?, ? FROM people WHERE id = ? AND password_hash = ? AND role IN (?, ?)`,
			digest(token), now.UnixMilli(), now.UnixMilli(), expires.UnixMilli(), cleanUserAgent(v.UserAgent), remoteText(v.Addr), via, who.id, who.hash, RoleOwner, RolePerson)
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
		return s.door.forgive(ctx, tx, doors...)
	})
	if err != nil {
		return Opened{}, err
	}
	return Opened{Name: who.name, Token: token, Expires: expires}, nil
}

// ChangePassword checks the old password, sets the new one, ends all sessions and devices of the person and opens another session. It
// returns what checking a password returns, or a *reason.FieldError for the new one.
func (s *Store) ChangePassword(ctx context.Context, name, before, after string, v Visitor) (Opened, error) {
	who, err := s.reassure(ctx, name, before, v)
	if err != nil {
		return Opened{}, err
	}
	if err := checkPassword(after); err != nil {
		return Opened{}, err
	}
	hash, err := s.hasher.hash(ctx, after)
	if err != nil {
		return Opened{}, err
	}
	err = s.end(ctx, func(ctx context.Context, tx *sql.Tx) error { return s.setHash(ctx, tx, who.id, hash) })
	if err != nil {
		return Opened{}, err
	}
	who.hash = hash
	opened, err := s.openSession(ctx, who, "", nil, nil, v)
	opened.Device = s.deviceOf(v.Device, who.name)
	return opened, err
}

// reassure is verify for somebody who is signed in already.
func (s *Store) reassure(ctx context.Context, name, password string, v Visitor) (who credentials, err error) {
	who, err = s.verify(ctx, name, password, v)
	if err == nil {
		_, doors := s.doors(name, v)
		err = s.door.withdraw(ctx, doors...)
	}
	return who, err
}

// verify is the person whose name and password these are. The
// attempt stays counted as failed until the caller forgives or withdraws it.
func (s *Store) verify(ctx context.Context, name, password string, v Visitor) (who credentials, err error) {
	own, doors := s.doors(name, v)
	if err := s.door.knock(ctx, s.policy(), own, doors...); err != nil {
		return credentials{}, err
	}
	who, err = s.credentials(ctx, name)
	if err != nil {
		return credentials{}, err
	}
	right, err := s.hasher.matches(ctx, who.hash, password)
	if err != nil {
		return credentials{}, err
	}
	if !right {
		return credentials{}, ErrBadCredentials
	}
	return who, nil
}

// credentials are what somebody who signs in is compared with.
type credentials struct {
	id         int64
	name, hash string
}

// Locked is whom too many failed attempts keep out at the moment, an address, a name or a browser, and
// until when; empty when nobody.
func (s *Store) Locked(ctx context.Context) (who string, until time.Time, err error) {
	return s.door.locked(ctx, s.policy())
}

// credentials are those of the person with the name; the decoy where nobody with a password has it, or who has may not sign in.
func (s *Store) credentials(ctx context.Context, name string) (who credentials, err error) {
	err = s.db.Read().QueryRowContext(ctx, `SELECT id, name, password_hash FROM people WHERE lower(name) = ? AND role IN (?, ?) AND password_hash <> ''`,
		folded(name), RoleOwner, RolePerson).Scan(&who.id, &who.name, &who.hash)
	if errors.Is(err, sql.ErrNoRows) {
		return credentials{hash: s.decoy}, nil
	}
	if err != nil {
		return credentials{}, fmt.Errorf("look up who signs in: %w", err)
	}
	return who, nil
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
	return s.end(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE token_hash = ?`, digest(token)); err != nil {
			return fmt.Errorf("end the session: %w", err)
		}
		return nil
	})
}

// endSessions ends all sessions of a person.
func endSessions(ctx context.Context, tx *sql.Tx, person int64) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE person_id = ?`, person); err != nil {
		return fmt.Errorf("end the sessions of a person: %w", err)
	}
	return nil
}

// session is an open session.
type session struct {
	tokenHash string
	who       Identity
	seen      time.Time
}

// errNoSession means that a token opens no session, or one that has ended.
var errNoSession = errors.New("no such session")

// session is the open session of the token, or errNoSession.
func (s *Store) session(ctx context.Context, token string) (session, error) {
	if len(token) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return session{}, errNoSession
	}
	found := session{tokenHash: digest(token), who: Identity{Kind: BySession}}
	var seen, expires int64
	var via string
	err := s.db.Read().QueryRowContext(ctx, `SELECT p.id, p.name, p.role, s.seen_at, s.expires_at, s.via
		FROM sessions s JOIN people p ON p.id = s.person_id WHERE s.token_hash = ?`, found.tokenHash).
		Scan(&found.who.Person, &found.who.Name, &found.who.Role, &seen, &expires, &via)
	if errors.Is(err, sql.ErrNoRows) {
		return session{}, errNoSession
	}
	if err != nil {
		return session{}, fmt.Errorf("look up the session: %w", err)
	}
	found.seen = time.UnixMilli(seen)
	// The settings count as they are at this moment: a shortened life ends older sessions too, and taking
	// somebody out of those whom the provider may send ends theirs.
	now, policy := time.Now(), s.policy()
	if !now.Before(time.UnixMilli(expires)) || !now.Before(found.seen.Add(policy.SessionLife)) {
		return session{}, errNoSession
	}
	if via != "" && !slices.Contains(policy.Entries, via) {
		return session{}, errNoSession
	}
	if !found.who.Role.signsIn() {
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
