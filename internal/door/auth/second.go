package auth

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	// enrolmentLife is how long a person may take to read the QR code and type the first code.
	enrolmentLife = 15 * time.Minute
	recoveryCodes = 10
	// recoveryLetters are of base32: 80 bits, which nobody tries, so their hash needs no salt.
	recoveryLetters = 16
)

// Sealer keeps a secret in the database; *secret.Box is one.
type Sealer interface {
	Seal(plain, place string) string
	Open(sealed, place string) (string, error)
}

// TwoFactor is how the second factor stands.
type TwoFactor struct {
	On    bool       `json:"on" doc:"Whether signing in with the password asks for a code too."`
	Since *time.Time `json:"since" doc:"Since when."`
	// RecoveryCodes is how many are left.
	RecoveryCodes int `json:"recovery_codes" doc:"How many recovery codes are left; each is good once."`
}

// Enrolment is a second factor that is being set up: it counts once its first code was given.
type Enrolment struct {
	Secret string `json:"secret" doc:"What the authenticator app needs, in base32, for typing it in."`
	URI    string `json:"uri" doc:"The same as an otpauth address, for a QR code."`
}

// enrolling is an Enrolment under way; a person has one at a time, by the name enrolled.
type enrolling struct {
	Person int64
	Name   string
	Secret []byte
}

// enrolled is the name of the enrolment of a person.
func enrolled(person int64) string { return strconv.FormatInt(person, 10) }

// enrolmentsMost is how many people may set a second factor up at the same time.
const enrolmentsMost = 1000

// factor is the stored second factor of a person.
type factor struct {
	sealed   string
	lastStep int64
}

// factorPlace is where a secret is kept, for the seal.
func factorPlace(person int64) string { return fmt.Sprintf("second_factors/%d/secret", person) }

// factor is that of a person; nil when it is off.
func (s *Store) factor(ctx context.Context, person int64) (*factor, error) {
	var f factor
	err := s.db.Read().QueryRowContext(ctx, `SELECT secret, last_step FROM second_factors WHERE person_id = ?`, person).Scan(&f.sealed, &f.lastStep)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up the second factor: %w", err)
	}
	return &f, nil
}

// proof makes what was found right count, in the transaction of the session that it opens: what was
// good a moment ago need not be any more.
type proof func(ctx context.Context, tx *sql.Tx) error

// prove looks at the code, one of the app or a recovery code, or whether none is needed. It returns
// ErrCodeNeeded or ErrBadCode, and so may the proof, when somebody else was faster.
func (s *Store) prove(ctx context.Context, person int64, code string) (proof, error) {
	f, err := s.factor(ctx, person)
	switch {
	case err != nil:
		return nil, err
	case f == nil:
		return noFactor(person), nil
	case code == "":
		return nil, ErrCodeNeeded
	}
	code = strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(code))
	if len(code) == recoveryLetters {
		return usedUp(`DELETE FROM recovery_codes WHERE person_id = ? AND code_hash = ?`, person, digest(code)), nil
	}
	secret, err := s.box.Open(f.sealed, factorPlace(person))
	if err != nil {
		return nil, factorUnreadable.With(err)
	}
	step, ok := matchTOTP([]byte(secret), code, time.Now(), f.lastStep)
	if !ok {
		return nil, ErrBadCode
	}
	return usedUp(`UPDATE second_factors SET last_step = ? WHERE person_id = ? AND secret = ? AND last_step < ?`, step, person, f.sealed, step), nil
}

// noFactor is ErrCodeNeeded once a second factor is on.
func noFactor(person int64) proof {
	return func(ctx context.Context, tx *sql.Tx) error {
		var factors int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM second_factors WHERE person_id = ?`, person).Scan(&factors); err != nil {
			return fmt.Errorf("look for a second factor: %w", err)
		}
		if factors > 0 {
			return ErrCodeNeeded
		}
		return nil
	}
}

// usedUp uses a code up by a statement, which changes nothing when the code was used before: ErrBadCode.
func usedUp(statement string, args ...any) proof {
	return func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, statement, args...)
		if err != nil {
			return fmt.Errorf("use up the code: %w", err)
		}
		changed, err := result.RowsAffected()
		if err != nil {
			return fmt.Errorf("use up the code: %w", err)
		}
		if changed == 0 {
			return ErrBadCode
		}
		return nil
	}
}

// TwoFactor is how the second factor of a person stands; 0 is the owner.
func (s *Store) TwoFactor(ctx context.Context, person int64) (TwoFactor, error) {
	var since, left int64
	err := s.db.Read().QueryRowContext(ctx, `SELECT created_at, (SELECT COUNT(*) FROM recovery_codes r WHERE r.person_id = f.person_id)
		FROM second_factors f WHERE f.person_id = COALESCE(?, (SELECT id FROM people WHERE role = ?))`, orNull(person), RoleOwner).Scan(&since, &left)
	if errors.Is(err, sql.ErrNoRows) {
		return TwoFactor{}, nil
	}
	if err != nil {
		return TwoFactor{}, fmt.Errorf("look up the second factor: %w", err)
	}
	at := time.UnixMilli(since)
	return TwoFactor{On: true, Since: &at, RecoveryCodes: int(left)}, nil
}

// StartTwoFactor checks the password and makes a secret for ConfirmTwoFactor, in place of one that
// was made before. It returns ErrTwoFactorOn, or what checking a password returns.
func (s *Store) StartTwoFactor(ctx context.Context, name, password string, v Visitor) (Enrolment, error) {
	who, err := s.reassure(ctx, name, password, v)
	if err != nil {
		return Enrolment{}, err
	}
	f, err := s.factor(ctx, who.id)
	if err != nil {
		return Enrolment{}, err
	}
	if f != nil {
		return Enrolment{}, ErrTwoFactorOn
	}
	made := enrolling{Person: who.id, Name: who.name, Secret: randomBytes(totpSecretBytes)}
	if err := s.enrolments.Put(ctx, enrolled(who.id), made); err != nil {
		return Enrolment{}, err
	}
	return made.shown(), nil
}

func (e enrolling) shown() Enrolment {
	return Enrolment{Secret: base32Plain.EncodeToString(e.Secret), URI: totpURI(e.Name, e.Secret)}
}

// Enrolment is the second factor that a person is setting up; false when there is none, or no longer.
func (s *Store) Enrolment(ctx context.Context, person int64) (e Enrolment, underWay bool, err error) {
	made, underWay, err := s.enrolments.Find(ctx, enrolled(person))
	if err != nil || !underWay {
		return Enrolment{}, false, err
	}
	return made.shown(), true, nil
}

// CancelEnrolment gives up what StartTwoFactor began.
func (s *Store) CancelEnrolment(ctx context.Context, person int64) error {
	return s.enrolments.Drop(ctx, enrolled(person))
}

// ConfirmTwoFactor turns the second factor of a person on once the app gives the right code, ends every session of the person
// but that of the token keep, and returns the recovery codes, which nobody can see again. It
// returns ErrNoEnrolment or ErrBadCode.
func (s *Store) ConfirmTwoFactor(ctx context.Context, person int64, code, keep string) (recovery []string, err error) {
	e, underWay, err := s.enrolments.Find(ctx, enrolled(person))
	if err != nil {
		return nil, err
	}
	if !underWay {
		return nil, ErrNoEnrolment
	}
	step, ok := matchTOTP(e.Secret, strings.ReplaceAll(code, " ", ""), time.Now(), 0)
	if !ok {
		return nil, ErrBadCode
	}
	sealed := s.box.Seal(string(e.Secret), factorPlace(e.Person))
	recovery = newRecoveryCodes()
	err = s.end(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `INSERT INTO second_factors (person_id, secret, last_step, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (person_id) DO NOTHING`,
			e.Person, sealed, step, time.Now().UnixMilli())
		if err != nil {
			return fmt.Errorf("store the second factor: %w", err)
		}
		if made, err := result.RowsAffected(); err != nil || made == 0 {
			return errors.Join(err, ErrNoEnrolment) // confirmed by another request
		}
		if err := storeRecoveryCodes(ctx, tx, e.Person, recovery); err != nil {
			return err
		}
		// Sessions from before were opened without a code.
		if _, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE person_id = ? AND token_hash <> ?`, e.Person, digest(keep)); err != nil {
			return fmt.Errorf("end the other sessions: %w", err)
		}
		return s.enrolments.DropTx(ctx, tx, enrolled(e.Person))
	})
	if err != nil {
		return nil, err
	}
	return recovery, nil
}

// RenewRecoveryCodes checks the password and makes new recovery codes in place of the old ones. It
// returns ErrTwoFactorOff, or what checking a password returns.
func (s *Store) RenewRecoveryCodes(ctx context.Context, name, password string, v Visitor) (recovery []string, err error) {
	who, err := s.reassure(ctx, name, password, v)
	if err != nil {
		return nil, err
	}
	f, err := s.factor(ctx, who.id)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, ErrTwoFactorOff
	}
	recovery = newRecoveryCodes()
	return recovery, s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return storeRecoveryCodes(ctx, tx, who.id, recovery) })
}

// TurnOffTwoFactor checks the password and turns the second factor off. It returns ErrTwoFactorOff,
// or what checking a password returns.
func (s *Store) TurnOffTwoFactor(ctx context.Context, name, password string, v Visitor) error {
	if _, err := s.reassure(ctx, name, password, v); err != nil {
		return err
	}
	return s.ResetTwoFactor(ctx, name)
}

// ResetTwoFactor turns the second factor off without asking for anything, for the owner of the
// machine. It returns ErrTwoFactorOff, or ErrUnknownAdmin as SetPassword does.
func (s *Store) ResetTwoFactor(ctx context.Context, name string) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		id, err := signingIn(ctx, tx, name)
		if err != nil {
			return err
		}
		result, err := tx.ExecContext(ctx, `DELETE FROM second_factors WHERE person_id = ?`, id)
		if err != nil {
			return fmt.Errorf("turn the second factor off: %w", err)
		}
		if ended, err := result.RowsAffected(); err != nil || ended == 0 {
			return errors.Join(err, ErrTwoFactorOff)
		}
		return nil
	})
}

func newRecoveryCodes() []string {
	codes := make([]string, recoveryCodes)
	for i := range codes {
		letters := strings.ToLower(rand.Text()[:recoveryLetters])
		codes[i] = letters[:4] + "-" + letters[4:8] + "-" + letters[8:12] + "-" + letters[12:]
	}
	return codes
}

func storeRecoveryCodes(ctx context.Context, tx *sql.Tx, person int64, codes []string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM recovery_codes WHERE person_id = ?`, person); err != nil {
		return fmt.Errorf("remove old recovery codes: %w", err)
	}
	for _, code := range codes {
		plain := strings.ToUpper(strings.ReplaceAll(code, "-", ""))
		if _, err := tx.ExecContext(ctx, `INSERT INTO recovery_codes (person_id, code_hash) VALUES (?, ?)`, person, digest(plain)); err != nil {
			return fmt.Errorf("store recovery codes: %w", err)
		}
	}
	return nil
}
