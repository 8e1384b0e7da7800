package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
)

// Vouched is somebody for whom another service vouches.
type Vouched struct {
	// Issuer and Subject name them for ever: an id that the issuer gives to nobody else.
	Issuer, Subject string
	// Service is what people call the issuer, and Name what it calls the user.
	Service, Name string
	// Introduces says that Name is that of a media-server user, and at the time nobody else's there.
	Introduces bool
	// Via is the one of Policy.Entries that the session is noted by.
	Via string
}

// SignIn is a way in by another service.
type SignIn struct {
	ID      int64     `json:"id"`
	Service string    `json:"service" doc:"Where the person signs in, such as Plex."`
	Name    string    `json:"name" doc:"What the service calls the person."`
	UsedAt  time.Time `json:"used_at" doc:"When the person last signed in by it."`

	person int64
}

// Entered is a session that another service opened.
type Entered struct {
	Opened
	Person int64
	// Named is the media-server user that the person is from now on, too; empty without a new one.
	Named string
}

// EnterVouched opens a session of the person for whom another service vouches. Who is not known by the id is known by the name of the
// media-server user, where the owner gave it to a person and nobody has come in by it: from then on the id counts alone. It returns
// ErrNotKnown for somebody unknown, a guest and the owner.
func (s *Store) EnterVouched(ctx context.Context, by Vouched, v Visitor) (e Entered, err error) {
	who, introduced, err := s.vouched(ctx, by)
	if err != nil {
		return Entered{}, err
	}
	return s.enterBound(ctx, who, by, v, func(ctx context.Context, tx *sql.Tx) error {
		if introduced {
			return introduce(ctx, tx, who.id, by)
		}
		_, err := bind(ctx, tx, who.id, by)
		return err
	})
}

// AcceptVouched is EnterVouched for whom a token invites, and uses the invitation up: no password is set. The media-server user is the
// person's from then on, unless the name leads to an account of somebody else. It returns ErrBadInvitation, or ErrSignInTaken and
// ErrMediaUserTaken where another person is that user; the invitation then stays.
func (s *Store) AcceptVouched(ctx context.Context, token string, by Vouched, v Visitor) (Entered, error) {
	who, err := s.invited(ctx, token)
	if err != nil {
		return Entered{}, err
	}
	var named string
	e, err := s.enterBound(ctx, who, by, v, func(ctx context.Context, tx *sql.Tx) error {
		if err := useUp(ctx, tx, who.id, token); err != nil {
			return err
		}
		named, err = bind(ctx, tx, who.id, by)
		return err
	})
	e.Named = named
	return e, err
}

// enterBound opens a session of a person, and has binding count with it.
func (s *Store) enterBound(ctx context.Context, who credentials, by Vouched, v Visitor, binding proof) (Entered, error) {
	_, doors := s.doors(v.Name, v)
	opened, err := s.openSession(ctx, who, by.Via, binding, doors, v)
	if err != nil {
		return Entered{}, err
	}
	opened.Device = s.deviceOf(v.Device, who.name)
	return Entered{Opened: opened, Person: who.id}, nil
}

// vouched is the person for whom another service vouches, and whether only the name tells so.
func (s *Store) vouched(ctx context.Context, by Vouched) (who credentials, introduced bool, err error) {
	var role Role
	err = s.db.Read().QueryRowContext(ctx, `SELECT p.id, p.name, p.password_hash, p.role FROM person_sign_ins s JOIN people p ON p.id = s.person_id
		WHERE s.issuer = ? AND s.subject = ?`, by.Issuer, by.Subject).Scan(&who.id, &who.name, &who.hash, &role)
	if errors.Is(err, sql.ErrNoRows) && by.Introduces {
		introduced = true
		err = s.db.Read().QueryRowContext(ctx, `SELECT p.id, p.name, p.password_hash, p.role FROM person_media_users m JOIN people p ON p.id = m.person_id
			WHERE m.name = ? AND m.introduces = 1`, by.Name).Scan(&who.id, &who.name, &who.hash, &role)
	}
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && role != RolePerson:
		return credentials{}, false, ErrNotKnown
	case err != nil:
		return credentials{}, false, fmt.Errorf("look for whom a service vouches: %w", err)
	}
	return who, introduced, nil
}

// introduce binds whom the name alone tells: once.
func introduce(ctx context.Context, tx *sql.Tx, person int64, by Vouched) error {
	used, err := changed(tx.ExecContext(ctx, `UPDATE person_media_users SET introduces = 0 WHERE name = ? AND person_id = ? AND introduces = 1`, by.Name, person))
	if err != nil || !used {
		return errors.Join(err, ErrNotKnown) // another user of the name was faster
	}
	_, err = bind(ctx, tx, person, by)
	return err
}

// bind notes that somebody for whom a service vouches is a person, and gives the person the name of the media-server user with the first
// sign-in. A name that leads to an account of somebody else stays where it is.
func bind(ctx context.Context, tx *sql.Tx, person int64, by Vouched) (named string, err error) {
	now := time.Now().UnixMilli()
	known, err := changed(tx.ExecContext(ctx, `UPDATE person_sign_ins SET service = ?, name = ?, used_at = ? WHERE issuer = ? AND subject = ? AND person_id = ?`,
		by.Service, by.Name, now, by.Issuer, by.Subject, person))
	if err != nil || known {
		return "", err
	}
	made, err := changed(tx.ExecContext(ctx, `INSERT INTO person_sign_ins (person_id, issuer, subject, service, name, created_at, used_at) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (issuer, subject) DO NOTHING`, person, by.Issuer, by.Subject, by.Service, by.Name, now, now))
	if err != nil || !made {
		return "", errors.Join(err, ErrSignInTaken)
	}
	if !by.Introduces || !fitsList(by.Name) {
		return "", nil
	}
	return nameUser(ctx, tx, person, by.Name)
}

// fitsList reports whether a name can stand in a list of media-server users.
func fitsList(name string) bool { return account.CheckUserNames(mediaUserNames, []string{name}) == nil }

// nameUser gives a person the name of a media-server user who has signed in.
func nameUser(ctx context.Context, tx *sql.Tx, person int64, name string) (named string, err error) {
	var whose int64
	err = tx.QueryRowContext(ctx, `SELECT person_id FROM person_media_users WHERE name = ?`, name).Scan(&whose)
	switch {
	case err == nil && whose != person:
		return "", ErrMediaUserTaken
	case err == nil:
		_, err := tx.ExecContext(ctx, `UPDATE person_media_users SET introduces = 0 WHERE name = ?`, name)
		return "", err
	case !errors.Is(err, sql.ErrNoRows):
		return "", fmt.Errorf("look for a media-server user: %w", err)
	}
	var others int
	err = tx.QueryRowContext(ctx, `SELECT CASE WHEN `+account.NamedByOthers(`?`, `?`)+` THEN 1 ELSE 0 END`, name, person).Scan(&others)
	if err != nil || others > 0 {
		return "", err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO person_media_users (name, person_id, introduces) VALUES (?, ?, 0)`, name, person); err != nil {
		return "", fmt.Errorf("add a media-server user to person %d: %w", person, err)
	}
	return name, nil
}

// signInsOf are the sign-ins of people by other services, by person.
func signInsOf(ctx context.Context, from db.Querier, people []Person) (map[int64][]SignIn, error) {
	ids := make([]int64, len(people))
	for i, p := range people {
		ids[i] = p.ID
	}
	list, args := db.In(ids)
	all, err := db.All(ctx, from, "list the sign-ins of people", func(row db.Row) (one SignIn, err error) {
		var used int64
		err = row.Scan(&one.ID, &one.person, &one.Service, &one.Name, &used)
		one.UsedAt = time.UnixMilli(used)
		return one, err
	}, `SELECT id, person_id, service, name, used_at FROM person_sign_ins WHERE person_id IN `+list+` ORDER BY id`, args...)
	if err != nil {
		return nil, err
	}
	of := map[int64][]SignIn{}
	for _, one := range all {
		of[one.person] = append(of[one.person], one)
	}
	return of, nil
}

// RemoveSignIn takes a way in by another service from a person, and ends the sessions that other services opened. The person gets it back
// by an invitation alone. It returns ErrPersonNotFound or ErrSignInNotFound.
func (s *Store) RemoveSignIn(ctx context.Context, person, id int64) error {
	return s.end(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := personOf(ctx, tx, person); err != nil {
			return err
		}
		gone, err := changed(tx.ExecContext(ctx, `DELETE FROM person_sign_ins WHERE id = ? AND person_id = ?`, id, person))
		if err != nil || !gone {
			return errors.Join(err, ErrSignInNotFound)
		}
		return endVouchedSessions(ctx, tx, person)
	})
}

// endVouchedSessions ends the sessions of a person that other services opened.
func endVouchedSessions(ctx context.Context, tx *sql.Tx, person int64) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE person_id = ? AND via <> ''`, person); err != nil {
		return fmt.Errorf("end the sessions that other services opened: %w", err)
	}
	return nil
}

// changed reports whether a statement changed anything.
func changed(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	rows, err := result.RowsAffected()
	return rows > 0, err
}
