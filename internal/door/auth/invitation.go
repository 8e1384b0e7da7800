package auth

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"time"
)

// invitationLife is how long the link of an invitation is good.
const invitationLife = 7 * 24 * time.Hour

// Invite makes the token of an invitation, in place of the one before: whoever opens its link sets the password of the person, once. The
// token can be seen this one time. It returns ErrPersonNotFound, or ErrNotInvited for a guest and the owner.
func (s *Store) Invite(ctx context.Context, id int64) (token string, until time.Time, err error) {
	token, until = newToken(), time.Now().Add(invitationLife)
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		p, err := personOf(ctx, tx, id)
		if err != nil {
			return err
		}
		if p.Role != RolePerson {
			return ErrNotInvited
		}
		_, err = tx.ExecContext(ctx, `UPDATE people SET invitation_hash = ?, invited_until = ? WHERE id = ?`, digest(token), until.UnixMilli(), id)
		if err != nil {
			return fmt.Errorf("invite person %d: %w", id, err)
		}
		return nil
	})
	if err != nil {
		return "", time.Time{}, err
	}
	return token, until, nil
}

// Uninvite ends an invitation that nobody has used. It returns ErrPersonNotFound; that there is no invitation is no error.
func (s *Store) Uninvite(ctx context.Context, id int64) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := personOf(ctx, tx, id); err != nil {
			return err
		}
		return dropInvitation(ctx, tx, id)
	})
}

func dropInvitation(ctx context.Context, tx *sql.Tx, id int64) error {
	if _, err := tx.ExecContext(ctx, `UPDATE people SET invitation_hash = '', invited_until = 0 WHERE id = ?`, id); err != nil {
		return fmt.Errorf("end the invitation of person %d: %w", id, err)
	}
	return nil
}

// Invited is the name of the person whom a token invites; false when it is wrong, used, replaced or over.
func (s *Store) Invited(ctx context.Context, token string) (name string, good bool, err error) {
	who, err := s.invited(ctx, token)
	if errors.Is(err, ErrBadInvitation) {
		return "", false, nil
	}
	return who.name, err == nil, err
}

func (s *Store) invited(ctx context.Context, token string) (who credentials, err error) {
	if len(token) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return credentials{}, ErrBadInvitation
	}
	err = s.db.Read().QueryRowContext(ctx, `SELECT id, name, password_hash FROM people WHERE invitation_hash = ? AND invited_until > ? AND role = ?`,
		digest(token), time.Now().UnixMilli(), RolePerson).Scan(&who.id, &who.name, &who.hash)
	if errors.Is(err, sql.ErrNoRows) {
		return credentials{}, ErrBadInvitation
	}
	if err != nil {
		return credentials{}, fmt.Errorf("look for an invitation: %w", err)
	}
	return who, nil
}

// Accept sets the password of the person whom the token invites, uses the invitation up, ends the sessions and devices of the person and, where no
// second factor asks for more, opens a session. It returns ErrBadInvitation, a *LockedError after too many wrong tokens of the
// address, a *reason.FieldError for the password, or ErrCodeNeeded: the password is set then, and the person signs in.
func (s *Store) Accept(ctx context.Context, token, password string, v Visitor) (Opened, error) {
	address := addressKey(v.Addr)
	if err := s.door.knock(ctx, s.policy(), false, address); err != nil {
		return Opened{}, err
	}
	who, err := s.invited(ctx, token)
	if err != nil {
		return Opened{}, err
	}
	if err := s.door.withdraw(ctx, address); err != nil {
		return Opened{}, err
	}
	if err := checkPassword(password); err != nil {
		return Opened{}, err
	}
	if who.hash, err = s.hasher.hash(ctx, password); err != nil {
		return Opened{}, err
	}
	err = s.end(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := useUp(ctx, tx, who.id, token); err != nil {
			return err
		}
		return s.setHash(ctx, tx, who.id, who.hash)
	})
	if err != nil {
		return Opened{}, err
	}
	opened, err := s.openSession(ctx, who, "", noFactor(who.id), nil, v)
	if err == nil {
		opened.Device = s.deviceOf(v.Device, who.name)
	}
	return opened, err
}

// useUp uses an invitation up, once.
func useUp(ctx context.Context, tx *sql.Tx, person int64, token string) error {
	used, err := changed(tx.ExecContext(ctx, `UPDATE people SET invitation_hash = '', invited_until = 0 WHERE id = ? AND invitation_hash = ? AND role = ?`,
		person, digest(token), RolePerson))
	if err != nil || !used {
		return errors.Join(err, ErrBadInvitation) // by another request, or taken back
	}
	return nil
}
