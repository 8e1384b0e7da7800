package tracker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// Method is how a person signed in.
type Method string

// The methods.
const (
	ByMail   Method = "email"
	ByCode   Method = "code"   // an application, by a browser that comes back
	ByDevice Method = "device" // an application, by a code typed in elsewhere
)

// State is how a connection stands.
type State string

// The states. Dead needs a person to sign in again. Refused is a sign-in that was renewed and that the tracker refuses
// all the same: it is tried at every reading, and connected again when the tracker takes it.
const (
	Connected    State = "connected"
	Refused      State = "refused"
	Dead         State = "dead"
	Disconnected State = "disconnected"
)

// User is a person whose tracker account was connected.
type User struct {
	ID          int64         `json:"id"`
	Name        string        `json:"name" doc:"What Trakt calls them; accounts list it as a media-server user. Empty until Trakt told."`
	Method      Method        `json:"method" enum:"email,code,device" doc:"How they signed in."`
	State       State         `json:"state" enum:"connected,refused,dead,disconnected" doc:"refused: Trakt refuses the sign-in although it was renewed. dead: it does not renew the sign-in any more, sign in again."`
	Problem     reason.Reason `json:"problem_value,omitzero" doc:"What is wrong with the sign-in and what to do, in plain words; empty when nothing is."`
	ExpiresAt   *time.Time    `json:"expires_at" doc:"When the access token ends; it is renewed before. null when there is none."`
	ConnectedAt time.Time     `json:"connected_at"`
	RefreshedAt *time.Time    `json:"refreshed_at" doc:"When the sign-in was last renewed."`

	uid         string
	clientID    string
	redirectURI string
	version     int64
}

// MarshalJSON has the text of the problem beside it, as problem.
func (u User) MarshalJSON() ([]byte, error) {
	type plain User
	return reason.MarshalBeside((*plain)(&u))
}

// Trouble is the problem with the name of the user, as far as it is known.
func (u User) Trouble() reason.Reason {
	if u.Name == "" {
		return u.Problem
	}
	return reason.Because.With(u.Name, u.Problem)
}

// Usable reports whether a history can be read with the sign-in.
func (s State) Usable() bool { return s == Connected || s == Refused }

// store is the SQL of credentials.
type store struct {
	db  *db.DB
	box *secret.Box
}

// place binds a sealed credential to its row.
func place(id int64) string { return "tracker_users/credential/" + strconv.FormatInt(id, 10) }

const userColumns = `id, uid, name, method, client_id, redirect_uri, version, expires_at, state, problem, connected_at, refreshed_at`

// scanUser reads userColumns, and more after them.
func scanUser(row db.Row, more ...any) (User, error) {
	var u User
	var expires, connected, refreshed int64
	err := row.Scan(append([]any{&u.ID, &u.uid, &u.Name, &u.Method, &u.clientID, &u.redirectURI, &u.version, &expires, &u.State, &u.Problem, &connected, &refreshed}, more...)...)
	u.ConnectedAt = time.UnixMilli(connected).UTC()
	u.ExpiresAt, u.RefreshedAt = timeOrNil(expires), timeOrNil(refreshed)
	return u, err
}

func timeOrNil(ms int64) *time.Time {
	if ms == 0 {
		return nil
	}
	t := time.UnixMilli(ms).UTC()
	return &t
}

// users lists everybody, the first connected first. A credential that cannot be opened is the
// user's problem for as long as that lasts.
func (s store) users(ctx context.Context) ([]User, error) {
	return db.All(ctx, s.db.Read(), "list Trakt users", func(row db.Row) (User, error) {
		var text string
		u, err := scanUser(row, &text)
		if err == nil && text != "" {
			if _, err := s.open(text, u.ID); err != nil {
				u.Problem = reason.Of(err)
			}
		}
		return u, err
	}, `SELECT `+userColumns+`, credential FROM tracker_users ORDER BY id`)
}

// get is a user and their credential, as stored now. The error is ErrNotFound,
// ErrDisconnected, or one of package secret.
func (s store) get(ctx context.Context, id int64) (User, Credential, error) {
	var text string
	u, err := scanUser(s.db.Read().QueryRowContext(ctx, `SELECT `+userColumns+`, credential FROM tracker_users WHERE id = ?`, id), &text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return User{}, Credential{}, ErrNotFound
	case err != nil:
		return User{}, Credential{}, fmt.Errorf("read tracker user %d: %w", id, err)
	case text == "":
		return u, Credential{}, ErrDisconnected
	}
	c, err := s.open(text, id)
	return u, c, err
}

func (s store) open(text string, id int64) (Credential, error) {
	plain, err := s.box.Open(text, place(id))
	if err != nil {
		return Credential{}, fmt.Errorf("open the credential of tracker user %d: %w", id, err)
	}
	c, err := unmarshalCredential(plain)
	if err != nil {
		return Credential{}, fmt.Errorf("read the credential of tracker user %d: %w", id, secret.ErrDamaged)
	}
	return c, nil
}

func (s store) seal(c Credential, id int64) string { return s.box.Seal(c.marshal(), place(id)) }

// add stores a new sign-in, of somebody not known yet, connected since a time.
func (s store) add(ctx context.Context, m Method, clientID, redirectURI string, c Credential, since time.Time) (id int64, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `INSERT INTO tracker_users (method, client_id, redirect_uri, version, expires_at, state, connected_at)
			VALUES (?, ?, ?, 1, ?, ?, ?) RETURNING id`, m, clientID, redirectURI, c.ExpiresAt.UnixMilli(), Connected, since.UnixMilli()).Scan(&id)
		if err != nil {
			return fmt.Errorf("store a tracker user: %w", err)
		}
		// The seal is bound to the id, which is known only now.
		if _, err = tx.ExecContext(ctx, `UPDATE tracker_users SET credential = ? WHERE id = ?`, s.seal(c, id), id); err != nil {
			return fmt.Errorf("store a credential of Trakt: %w", err)
		}
		return nil
	})
	return id, err
}

// learn stores who a user is. When they were connected before, that row takes the
// sign-in over, with what is known of its history; kept is the id that stays.
func (s store) learn(ctx context.Context, id int64, uid, name string) (kept int64, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		kept = id
		err := tx.QueryRowContext(ctx, `SELECT id FROM tracker_users WHERE uid = ? AND id <> ?`, uid, id).Scan(&kept)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("find tracker user: %w", err)
		}
		if kept != id {
			if err := s.move(ctx, tx, id, kept); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, `UPDATE tracker_users SET uid = ?, name = ? WHERE id = ?`, uid, name, kept); err != nil {
			return fmt.Errorf("store who tracker user %d is: %w", id, err)
		}
		return nil
	})
	return kept, err
}

// move gives the sign-in of one row to another one, and removes the first. Whoever asked at the
// same time may have done that already.
func (s store) move(ctx context.Context, tx *sql.Tx, from, to int64) error {
	var text string
	u, err := scanUser(tx.QueryRowContext(ctx, `SELECT `+userColumns+`, credential FROM tracker_users WHERE id = ?`, from), &text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read tracker user %d: %w", from, err)
	}
	c, err := s.open(text, from)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE tracker_users SET method = ?, client_id = ?, redirect_uri = ?, credential = ?, version = version + 1,
		expires_at = ?, state = ?, problem = '' WHERE id = ?`, u.Method, u.clientID, u.redirectURI, s.seal(c, to), c.ExpiresAt.UnixMilli(), Connected, to)
	if err != nil {
		return fmt.Errorf("store the credential of tracker user %d: %w", to, err)
	}
	if _, err = tx.ExecContext(ctx, `DELETE FROM tracker_users WHERE id = ?`, from); err != nil {
		return fmt.Errorf("remove tracker user %d: %w", from, err)
	}
	return nil
}

// renew replaces the credential that was stored as version, unless that is not stored any more.
func (s store) renew(ctx context.Context, id, version int64, c Credential) error {
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE tracker_users SET credential = ?, version = version + 1, expires_at = ?, state = ?, problem = '', refreshed_at = ?
			WHERE id = ? AND version = ?`, s.seal(c, id), c.ExpiresAt.UnixMilli(), Connected, time.Now().UnixMilli(), id, version)
		return err
	})
	if err != nil {
		return fmt.Errorf("store the renewed credential of tracker user %d: %w", id, err)
	}
	return nil
}

// kill says that the credential stored as version cannot be renewed; first is whether nobody said so before.
func (s store) kill(ctx context.Context, id, version int64, problem reason.Reason) (first bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		first, err = changed(tx.ExecContext(ctx, `UPDATE tracker_users SET state = ?, problem = ? WHERE id = ? AND version = ? AND state IN (?, ?)`,
			Dead, problem, id, version, Connected, Refused))
		return err
	})
	if err != nil {
		return false, fmt.Errorf("store that the credential of tracker user %d is dead: %w", id, err)
	}
	return first, nil
}

// take stores whether the tracker takes the credential stored as version: empty, or why it does not.
func (s store) take(ctx context.Context, id, version int64, problem reason.Reason) error {
	from, to := Refused, Connected
	if !problem.IsZero() {
		from, to = Connected, Refused
	}
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE tracker_users SET state = ?, problem = ? WHERE id = ? AND version = ? AND state = ?`, to, problem, id, version, from)
		return err
	})
	if err != nil {
		return fmt.Errorf("store whether Trakt takes the credential of tracker user %d: %w", id, err)
	}
	return nil
}

// clear forgets a credential; what is known of the history stays.
func (s store) clear(ctx context.Context, id int64) error {
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE tracker_users SET credential = '', version = version + 1, expires_at = 0, state = ?, problem = '' WHERE id = ?`, Disconnected, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("remove the credential of tracker user %d: %w", id, err)
	}
	return nil
}

// claimMail takes the right to ask for a sign-in mail. Where the last one was asked for less than MailCooldown ago,
// it returns how long to wait instead. A time ahead of now is from before the clock was set back, and holds nobody up.
func (s store) claimMail(ctx context.Context) (at time.Time, wait time.Duration, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		// The time is that of the database, once others that ask are through.
		if at, wait, err = mailWait(ctx, tx); err != nil || wait > 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO tracker_mail (id, asked_at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET asked_at = excluded.asked_at`, at.UnixMilli())
		return err
	})
	if err != nil {
		return at, 0, fmt.Errorf("claim the next sign-in mail: %w", err)
	}
	return at, wait, nil
}

// freeMail gives back what claimMail took at a time: no mail was sent.
func (s store) freeMail(ctx context.Context, at time.Time) error {
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM tracker_mail WHERE asked_at = ?`, at.UnixMilli())
		return err
	})
	if err != nil {
		return fmt.Errorf("give back a sign-in mail that was not sent: %w", err)
	}
	return nil
}

// mailWait is the time by the database's clock, and how long the next mail has to wait then; 0 when it may be asked for.
func mailWait(ctx context.Context, q db.Querier) (at time.Time, wait time.Duration, err error) {
	var now int64
	var asked sql.NullInt64
	if err := q.QueryRowContext(ctx, `SELECT now_ms(), (SELECT asked_at FROM tracker_mail)`).Scan(&now, &asked); err != nil {
		return at, 0, fmt.Errorf("read when a sign-in mail was asked for: %w", err)
	}
	at = time.UnixMilli(now)
	wait = MailCooldown - at.Sub(time.UnixMilli(asked.Int64))
	if !asked.Valid || wait > MailCooldown {
		return at, 0, nil
	}
	return at, max(wait, 0), nil
}

// changed reports whether a statement changed a row.
func changed(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
