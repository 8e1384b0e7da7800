package calendar

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/scope"
)

// Address is the secret address of somebody's calendar.
type Address struct {
	// Secret is the part of it that nobody can guess: 26 letters and digits, 130 random bits.
	Secret    string
	CreatedAt time.Time
	// UsedAt is when a program fetched the calendar last, up to an hour late; zero when none did.
	UsedAt time.Time
}

// usedEvery is how often the use of an address is written.
const usedEvery = time.Hour

// Address is the address of whom the scope of ctx is of, or ErrNoAddress. With ErrUnopened it has all but Secret.
func (s *Service) Address(ctx context.Context) (Address, error) {
	owned, whose := scope.Owned(ctx, `person_id`)
	var sealed string
	var created, used int64
	err := s.DB.Read().QueryRowContext(ctx, `SELECT sealed, created_at, used_at FROM calendar_addresses WHERE `+owned, whose...).Scan(&sealed, &created, &used)
	if errors.Is(err, sql.ErrNoRows) {
		return Address{}, ErrNoAddress
	}
	if err != nil {
		return Address{}, fmt.Errorf("read the address of a calendar: %w", err)
	}
	a := Address{CreatedAt: time.UnixMilli(created)}
	if used != 0 {
		a.UsedAt = time.UnixMilli(used)
	}
	if a.Secret, err = s.Box.Open(sealed, place(scope.From(ctx).Person())); err != nil {
		return a, ErrUnopened
	}
	return a, nil
}

// Renew makes an address for whom the scope of ctx is of. The one of before ends.
func (s *Service) Renew(ctx context.Context) (Address, error) {
	a := Address{Secret: rand.Text(), CreatedAt: time.Now()}
	owned, whose := scope.Owned(ctx, `person_id`)
	at := scope.From(ctx)
	person := at.Person()
	if !at.Whole() && person == 0 { // nobody, whom a row without a person would make the owner
		return Address{}, ErrNoAddress
	}
	err := s.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM calendar_addresses WHERE `+owned, whose...); err != nil {
			return fmt.Errorf("end the address of a calendar: %w", err)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO calendar_addresses (person_id, hash, sealed, created_at) VALUES (?, ?, ?, ?)`,
			sql.NullInt64{Int64: person, Valid: person != 0}, digest(a.Secret), s.Box.Seal(a.Secret, place(person)), a.CreatedAt.UnixMilli())
		if err != nil {
			return fmt.Errorf("make the address of a calendar: %w", err)
		}
		return nil
	})
	return a, err
}

// Revoke ends the address of whom the scope of ctx is of, or returns ErrNoAddress.
func (s *Service) Revoke(ctx context.Context) error {
	owned, whose := scope.Owned(ctx, `person_id`)
	return s.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `DELETE FROM calendar_addresses WHERE `+owned, whose...)
		if err != nil {
			return fmt.Errorf("end the address of a calendar: %w", err)
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, ErrNoAddress)
		}
		return nil
	})
}

// whose is ctx in the scope of whom an address belongs to, or ErrNoAddress: for one that is not known, that has ended, and of somebody who
// may not sign in.
func (s *Service) whose(ctx context.Context, secret string) (context.Context, error) {
	var id, used int64
	var person sql.NullInt64
	err := s.DB.Read().QueryRowContext(ctx, `SELECT id, person_id, used_at FROM calendar_addresses WHERE hash = ?`, digest(secret)).Scan(&id, &person, &used)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNoAddress
	}
	if err != nil {
		return nil, fmt.Errorf("look whose calendar an address is: %w", err)
	}
	of := scope.Everything()
	if person.Valid {
		of = scope.Of(person.Int64)
		var signsIn bool
		if err := s.DB.Read().QueryRowContext(ctx, `SELECT `+account.SignsIn(`?`), person.Int64).Scan(&signsIn); err != nil {
			return nil, fmt.Errorf("look whether somebody may have a calendar: %w", err)
		}
		if !signsIn {
			return nil, ErrNoAddress
		}
	}
	if now := time.Now(); now.Sub(time.UnixMilli(used)) >= usedEvery {
		if err := s.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE calendar_addresses SET used_at = ? WHERE id = ? AND used_at = ?`, now.UnixMilli(), id, used)
			return err
		}); err != nil && !errors.Is(err, db.ErrStorage) { // a calendar can be read while nothing can be written
			return nil, fmt.Errorf("note the use of the address of a calendar: %w", err)
		}
	}
	return scope.In(ctx, of), nil
}

// PathOf is the path of an address, below that of the service.
func PathOf(secret string) string { return "/calendar/" + secret + fileEnd }

// SecretIn is the secret of an address whose last part is name; empty when it can be none.
func SecretIn(name string) string {
	secret, is := strings.CutSuffix(name, fileEnd)
	if !is || len(secret) != secretLength {
		return ""
	}
	return secret
}

// fileEnd is the end of the name of a calendar's file; secretLength is how long the text of crypto/rand is.
const (
	fileEnd      = ".ics"
	secretLength = 26
)

func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// place is where the address of a person is sealed; 0 is the owner.
func place(person int64) string { return "calendar_addresses/" + strconv.FormatInt(person, 10) }
