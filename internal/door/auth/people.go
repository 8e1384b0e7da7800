package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
)

// Role is what somebody may do; package access has the table.
type Role string

// The roles. A guest does not sign in, and what a guest watches is left alone.
const (
	RoleOwner  Role = "owner"
	RolePerson Role = "person"
	RoleGuest  Role = "guest"
)

func (r Role) signsIn() bool { return r == RoleOwner || r == RolePerson }

// Person is somebody of the household.
type Person struct {
	ID   int64  `json:"id"`
	Name string `json:"name" doc:"The name to sign in with."`
	Role Role   `json:"role" enum:"owner,person,guest" doc:"What this person may do: owner everything, person what is their own, guest nothing."`
	// MediaUserNames are compared exactly.
	MediaUserNames []string `json:"media_user_names" doc:"The media-server users that this person is; each belongs to one person."`
	HasPassword    bool     `json:"has_password" doc:"Whether this person has set a password, and so can sign in."`
	// SignIns are by other services than the password.
	SignIns   []SignIn `json:"sign_ins" doc:"The ways in beside the password: at a media server, or with the sign-in provider."`
	TwoFactor bool     `json:"two_factor" doc:"Whether signing in with the password asks for a code too."`
	// InvitedUntil is nil where no invitation is open.
	InvitedUntil *time.Time `json:"invited_until" doc:"Until when an invitation is good that nobody has used; null when there is none."`
	CreatedAt    time.Time  `json:"created_at"`
}

// folded is a name as the table compares it.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// People are some of all people, the owner first, then by name, without the first ones of them.
func (s *Store) People(ctx context.Context, without, limit int) ([]Person, error) {
	return peopleOf(ctx, s.db.Read(), `p.id IN (SELECT id FROM people ORDER BY CASE role WHEN 'owner' THEN 0 ELSE 1 END, lower(name) LIMIT ? OFFSET ?)`, limit, without)
}

// Person is the person with the id, or ErrPersonNotFound.
func (s *Store) Person(ctx context.Context, id int64) (Person, error) {
	return personOf(ctx, s.db.Read(), id)
}

func personOf(ctx context.Context, from db.Querier, id int64) (Person, error) {
	found, err := peopleOf(ctx, from, `p.id = ?`, id)
	if err != nil {
		return Person{}, err
	}
	if len(found) == 0 {
		return Person{}, ErrPersonNotFound
	}
	return found[0], nil
}

func peopleOf(ctx context.Context, from db.Querier, where string, args ...any) ([]Person, error) {
	people := []Person{}
	now := time.Now()
	err := db.Each(ctx, from, "read people", func(row db.Row) error {
		p := Person{MediaUserNames: []string{}, SignIns: []SignIn{}}
		var created, invited int64
		var user sql.NullString
		if err := row.Scan(&p.ID, &p.Name, &p.Role, &p.HasPassword, &p.TwoFactor, &invited, &created, &user); err != nil {
			return err
		}
		if last := len(people) - 1; last < 0 || people[last].ID != p.ID { // else one more user of the same person
			p.CreatedAt = time.UnixMilli(created)
			if until := time.UnixMilli(invited); until.After(now) {
				p.InvitedUntil = &until
			}
			people = append(people, p)
		}
		if user.Valid {
			last := &people[len(people)-1]
			last.MediaUserNames = append(last.MediaUserNames, user.String)
		}
		return nil
	}, `SELECT p.id, p.name, p.role, CASE WHEN p.password_hash <> '' THEN 1 ELSE 0 END, EXISTS (SELECT 1 FROM second_factors f WHERE f.person_id = p.id),
			CASE WHEN p.invitation_hash <> '' THEN p.invited_until ELSE 0 END, p.created_at, m.name
		FROM people p LEFT JOIN person_media_users m ON m.person_id = p.id WHERE `+where+`
		ORDER BY CASE p.role WHEN 'owner' THEN 0 ELSE 1 END, lower(p.name), m.name`, args...)
	if err != nil || len(people) == 0 {
		return people, err
	}
	signIns, err := signInsOf(ctx, from, people)
	for i := range people {
		people[i].SignIns = append(people[i].SignIns, signIns[people[i].ID]...)
	}
	return people, err
}

// Names are those of some people, by their ids.
func (s *Store) Names(ctx context.Context, ids []int64) (map[int64]string, error) {
	names := make(map[int64]string, len(ids))
	if len(ids) == 0 {
		return names, nil
	}
	list, args := db.In(ids)
	err := db.Each(ctx, s.db.Read(), "read the names of people", func(row db.Row) error {
		var id int64
		var name string
		err := row.Scan(&id, &name)
		names[id] = name
		return err
	}, `SELECT id, name FROM people WHERE id IN `+list, args...)
	return names, err
}

// WhoAre are the people who are users of media servers, by the names of these. Who is a person is told nothing of others, and so nobody.
func (s *Store) WhoAre(ctx context.Context, users []string) (map[string]Person, error) {
	people := map[string]Person{}
	if len(users) == 0 || !scope.From(ctx).Whole() {
		return people, nil
	}
	list, args := db.In(users)
	err := db.Each(ctx, s.db.Read(), "read who users of media servers are", func(row db.Row) error {
		var user string
		var p Person
		err := row.Scan(&user, &p.ID, &p.Name, &p.Role)
		people[user] = p
		return err
	}, `SELECT m.name, p.id, p.name, p.role FROM person_media_users m JOIN people p ON p.id = m.person_id WHERE m.name IN `+list, args...)
	return people, err
}

// PersonDraft is a new person.
type PersonDraft struct {
	Name           string
	Role           Role
	MediaUserNames []string
}

// AddPerson adds a person or a guest, who cannot sign in before an invitation. It returns a *reason.FieldError, ErrNameTaken or
// ErrMediaUserTaken.
func (s *Store) AddPerson(ctx context.Context, d PersonDraft) (Person, error) {
	if err := errors.Join(checkName(d.Name), checkRole(d.Role), account.CheckUserNames(mediaUserNames, d.MediaUserNames)); err != nil {
		return Person{}, err
	}
	var added Person
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		id, err := addPerson(ctx, tx, d.Name, d.Role)
		if err != nil {
			return err
		}
		if err := setMediaUsers(ctx, tx, id, d.MediaUserNames); err != nil {
			return err
		}
		added, err = personOf(ctx, tx, id)
		return err
	})
	return added, err
}

// addPerson adds somebody with a name that nobody has; else it returns ErrNameTaken.
func addPerson(ctx context.Context, tx *sql.Tx, name string, role Role) (id int64, err error) {
	if err := nameFree(ctx, tx, name, 0); err != nil {
		return 0, err
	}
	return insertPerson(ctx, tx, name, role, "")
}

// lastRemoved is the fact that remembers the highest id of people who were removed. What is kept of them, such as a watch that their player
// told, names them by it, so nobody else may ever get it.
const lastRemoved = "last_removed_person"

// insertPerson adds somebody with an id that nobody had.
func insertPerson(ctx context.Context, tx *sql.Tx, name string, role Role, hash string) (id int64, err error) {
	removed, err := removedUpTo(ctx, tx)
	if err != nil {
		return 0, err
	}
	var highest int64
	if err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(id), 0) FROM people`).Scan(&highest); err != nil {
		return 0, fmt.Errorf("look for the highest id of a person: %w", err)
	}
	id = max(highest, removed) + 1
	now := time.Now().UnixMilli()
	_, err = tx.ExecContext(ctx, `INSERT INTO people (id, name, role, password_hash, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)`, id, name, role, hash, now, now)
	if err != nil {
		return 0, fmt.Errorf("add a person: %w", err)
	}
	return id, nil
}

// removedUpTo is the highest id of people who were removed; 0 for none.
func removedUpTo(ctx context.Context, tx *sql.Tx) (id int64, err error) {
	text, err := db.Fact(ctx, tx, lastRemoved)
	if err != nil || text == "" {
		return 0, err
	}
	if id, err = strconv.ParseInt(text, 10, 64); err != nil {
		return 0, fmt.Errorf("read the fact %s: %w", lastRemoved, err)
	}
	return id, nil
}

// PersonChange is a change of a person; what is nil stays.
type PersonChange struct {
	Name           *string
	Role           *Role
	MediaUserNames *[]string
}

// ChangePerson changes a person. Who becomes a guest is signed out. It returns a *reason.FieldError, ErrPersonNotFound, ErrNameTaken,
// ErrMediaUserTaken, or ErrOwnerStays for another role of the owner.
func (s *Store) ChangePerson(ctx context.Context, id int64, c PersonChange) (Person, error) {
	var changed Person
	err := s.end(ctx, func(ctx context.Context, tx *sql.Tx) error {
		now, err := personOf(ctx, tx, id)
		if err != nil {
			return err
		}
		name, role := now.Name, now.Role
		if c.Name != nil {
			name = *c.Name
			if err := errors.Join(checkName(name), nameFree(ctx, tx, name, id)); err != nil {
				return err
			}
		}
		if c.Role != nil && *c.Role != role {
			if role == RoleOwner {
				return ErrOwnerStays
			}
			if err := checkRole(*c.Role); err != nil {
				return err
			}
			role = *c.Role
		}
		if _, err := tx.ExecContext(ctx, `UPDATE people SET name = ?, role = ?, updated_at = ? WHERE id = ?`, name, role, time.Now().UnixMilli(), id); err != nil {
			return fmt.Errorf("change person %d: %w", id, err)
		}
		if !role.signsIn() {
			if err := errors.Join(endSessions(ctx, tx, id), dropInvitation(ctx, tx, id)); err != nil {
				return err
			}
		}
		if c.MediaUserNames != nil {
			if err := account.CheckUserNames(mediaUserNames, *c.MediaUserNames); err != nil {
				return err
			}
			if err := setMediaUsers(ctx, tx, id, *c.MediaUserNames); err != nil {
				return err
			}
		}
		changed, err = personOf(ctx, tx, id)
		return err
	})
	return changed, err
}

// RemovePersonTx removes a person with all ways to sign in, API keys, accounts, mappings and blocked keywords, within a tx that
// changes these; call Ended after it. The id is never given again. It returns ErrPersonNotFound, or ErrOwnerStays.
func (s *Store) RemovePersonTx(ctx context.Context, tx *sql.Tx, id int64) error {
	p, err := personOf(ctx, tx, id)
	if err != nil {
		return err
	}
	if p.Role == RoleOwner {
		return ErrOwnerStays
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM people WHERE id = ?`, id); err != nil {
		return fmt.Errorf("remove person %d: %w", id, err)
	}
	removed, err := removedUpTo(ctx, tx)
	if err != nil {
		return err
	}
	if err := db.SetFact(ctx, tx, lastRemoved, strconv.FormatInt(max(removed, id), 10)); err != nil {
		return err
	}
	return s.enrolments.DropTx(ctx, tx, enrolled(id))
}

const mediaUserNames = "media_user_names"

// checkRole holds the rule for roles that may be given.
func checkRole(role Role) error {
	switch role {
	case RolePerson, RoleGuest:
		return nil
	case RoleOwner:
		return reason.At("role", oneOwner)
	default:
		return reason.At("role", roleUnknown)
	}
}

// nameFree returns ErrNameTaken when another person than id has the name, however its letters are written.
func nameFree(ctx context.Context, tx *sql.Tx, name string, id int64) error {
	var taken int
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM people WHERE lower(name) = ? AND id <> ?`, folded(name), id).Scan(&taken); err != nil {
		return fmt.Errorf("look for a person of that name: %w", err)
	}
	if taken > 0 {
		return ErrNameTaken
	}
	return nil
}

// GiveUserTx makes a media-server user one of a person, within tx. It returns ErrMediaUserTaken where the user is somebody else.
func (s *Store) GiveUserTx(ctx context.Context, tx *sql.Tx, person int64, name string) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO person_media_users (name, person_id) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`, name, person); err != nil {
		return fmt.Errorf("add a media-server user to person %d: %w", person, err)
	}
	var whose int64
	if err := tx.QueryRowContext(ctx, `SELECT person_id FROM person_media_users WHERE name = ?`, name).Scan(&whose); err != nil {
		return fmt.Errorf("look whose a media-server user is: %w", err)
	}
	if whose != person {
		return ErrMediaUserTaken
	}
	return nil
}

// TakeUserTx is the way back from GiveUserTx.
func (s *Store) TakeUserTx(ctx context.Context, tx *sql.Tx, person int64, name string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM person_media_users WHERE name = ? AND person_id = ?`, name, person); err != nil {
		return fmt.Errorf("take a media-server user from person %d: %w", person, err)
	}
	return nil
}

// setMediaUsers gives a person names; one that stays is as it was.
func setMediaUsers(ctx context.Context, tx *sql.Tx, id int64, names []string) error {
	before, err := db.Values[string](ctx, tx, "list the media-server users of a person", `SELECT name FROM person_media_users WHERE person_id = ?`, id)
	if err != nil {
		return err
	}
	for _, name := range before {
		if slices.Contains(names, name) {
			continue
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM person_media_users WHERE name = ?`, name); err != nil {
			return fmt.Errorf("replace the media-server users of person %d: %w", id, err)
		}
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(before, name) })
	for _, name := range slices.Sorted(slices.Values(names)) {
		result, err := tx.ExecContext(ctx, `INSERT INTO person_media_users (name, person_id) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`, name, id)
		if err != nil {
			return fmt.Errorf("add a media-server user to person %d: %w", id, err)
		}
		if added, err := result.RowsAffected(); err != nil || added == 0 {
			return errors.Join(err, ErrMediaUserTaken)
		}
	}
	return nil
}
