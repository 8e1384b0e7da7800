package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Provided is how somebody came in whose role the groups of a provider give.
type Provided struct {
	Opened
	// Before and After are the person whose role has changed with it; without an id where none has.
	Before, After Person
}

// EnterProvided opens a session of the person for whom a provider vouches, in the role that its groups give. The first sign-in of an
// account adds a person. A role that has changed is the person's from then on; that of the owner never changes, and one account alone
// is the owner's. It returns ErrOneOwner, ErrOwnerGroup, ErrGuest (with the change) or ErrNoAdmin.
func (s *Store) EnterProvided(ctx context.Context, by Vouched, role Role, v Visitor) (p Provided, err error) {
	id, now, err := s.signedIn(ctx, by)
	if err != nil {
		return p, err
	}
	switch {
	case role == RoleOwner:
		if id, err = s.owner(ctx, by, id, now); err != nil {
			return p, err
		}
	case now == RoleOwner:
		return p, ErrOwnerGroup
	case role == RoleGuest && id == 0:
		return p, ErrGuest
	case id == 0:
		if id, err = s.addProvided(ctx, by); err != nil {
			return p, err
		}
	case role != now:
		if p.Before, err = s.Person(ctx, id); err != nil {
			return p, err
		}
		if p.After, err = s.ChangePerson(ctx, id, PersonChange{Role: &role}); err != nil {
			return p, err
		}
	}
	if role == RoleGuest {
		return p, ErrGuest
	}
	who := credentials{id: id}
	if err := s.db.Read().QueryRowContext(ctx, `SELECT name, password_hash FROM people WHERE id = ?`, id).Scan(&who.name, &who.hash); err != nil {
		return p, fmt.Errorf("look up who signs in: %w", err)
	}
	e, err := s.enterBound(ctx, who, by, v, func(ctx context.Context, tx *sql.Tx) error {
		_, err := bind(ctx, tx, id, by)
		return err
	})
	p.Opened = e.Opened
	return p, err
}

// signedIn is who has signed in by an account before; 0 for nobody.
func (s *Store) signedIn(ctx context.Context, by Vouched) (id int64, role Role, err error) {
	err = s.db.Read().QueryRowContext(ctx, `SELECT p.id, p.role FROM person_sign_ins s JOIN people p ON p.id = s.person_id WHERE s.issuer = ? AND s.subject = ?`,
		by.Issuer, by.Subject).Scan(&id, &role)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, "", fmt.Errorf("look for who has signed in by a provider: %w", err)
	}
	return id, role, nil
}

// owner is the owner's id, for the account that is the owner's at the provider, or the first one. id and role are who the account is now.
func (s *Store) owner(ctx context.Context, by Vouched, id int64, role Role) (int64, error) {
	if id != 0 && role != RoleOwner {
		return 0, ErrOneOwner
	}
	var owner, others int64
	err := s.db.Read().QueryRowContext(ctx, `SELECT p.id, (SELECT COUNT(*) FROM person_sign_ins s WHERE s.person_id = p.id AND s.issuer = ? AND s.subject <> ?)
		FROM people p WHERE p.role = ?`, by.Issuer, by.Subject, RoleOwner).Scan(&owner, &others)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, ErrNoAdmin
	case err != nil:
		return 0, fmt.Errorf("look up the owner: %w", err)
	case id == 0 && others > 0:
		return 0, ErrOneOwner
	}
	return owner, nil
}

// addProvided adds the person of an account that signs in for the first time.
func (s *Store) addProvided(ctx context.Context, by Vouched) (id int64, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for n := 1; ; n++ {
			id, err = addPerson(ctx, tx, providedName(by.Name, n), RolePerson)
			if err == nil {
				_, err = bind(ctx, tx, id, by)
				return err
			}
			if !errors.Is(err, ErrNameTaken) || n == mostOfName {
				return err
			}
		}
	})
	return id, err
}

// mostOfName is how many people may come by the same name.
const mostOfName = 100

// providedName is a name for a person whom a provider calls so, in its nth form.
func providedName(name string, n int) string {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "")))
	if name == "" {
		name = "person"
	}
	if runes := []rune(name); len(runes) > maxName-4 {
		name = strings.TrimSpace(string(runes[:maxName-4]))
	}
	if n > 1 {
		name = fmt.Sprintf("%s %d", name, n)
	}
	return name
}

// Unvouch ends the sessions that other services opened for somebody for whom one does not vouch any more.
func (s *Store) Unvouch(ctx context.Context, by Vouched) error {
	id, role, err := s.signedIn(ctx, by)
	if err != nil || id == 0 || role == RoleOwner {
		return err
	}
	return s.end(ctx, func(ctx context.Context, tx *sql.Tx) error { return endVouchedSessions(ctx, tx, id) })
}
