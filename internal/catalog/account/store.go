package account

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/scope"
)

// sealer seals tokens at rest; *secret.Box is one.
type sealer interface {
	Seal(plain, place string) string
	Open(sealed, place string) (string, error)
}

// Store keeps accounts in the database, their tokens sealed. Every account that it answers is one that the scope of the context reaches.
type Store struct {
	db  *db.DB
	box sealer
}

// NewStore is the store over d; box seals the tokens.
func NewStore(d *db.DB, box sealer) *Store { return &Store{db: d, box: box} }

// listedNames is the field of drafts and changes that has the media-server users.
const listedNames = "media_user_names"

const columns = `a.id, COALESCE(a.person_id, 0), a.username, a.nickname, a.catalog_user_id, a.auth_method, a.access_token <> '', a.expires_at,
	a.enabled, a.preferred, a.private, a.complete_series, a.complete_films, a.dry_run, a.adult, a.unwatched, a.rewatch, a.checked_at, a.problem, a.created_at, a.updated_at`

// List is every account, the preferred one first, then by name.
func (s *Store) List(ctx context.Context) ([]Account, error) {
	return query(ctx, s.db.Read(), `1 = 1`, `a.preferred DESC, a.username`)
}

// Filter restricts a list of accounts; what is empty restricts nothing.
type Filter struct {
	// Text is part of the name, of the nickname or of a media-server user's name; upper and lower case are the same in ASCII.
	Text string
	// Users are media-server users, one of whom the account names.
	Users []string
	// IDs are accounts, one of which it is.
	IDs []int64
	// Own leaves those of whom the scope is of: the person, or the owner.
	Own bool
	// Enabled leaves out what is disabled.
	Enabled bool
	// EndsBefore leaves enabled accounts whose token is missing, refused or over, or was made by hand and ends before then:
	// others are renewed.
	EndsBefore time.Time
}

// where is the SQL condition of the filter and of the scope on accounts a, and its arguments.
func (f Filter) where(ctx context.Context) (string, []any) {
	where, args := Within(ctx, `a.id`)
	if f.Text != "" {
		like := db.Containing(f.Text)
		where += ` AND (a.username LIKE ? ESCAPE '\' OR a.nickname LIKE ? ESCAPE '\' OR a.id IN (SELECT account_id FROM account_media_users WHERE name LIKE ? ESCAPE '\'))`
		args = append(args, like, like, like)
	}
	if len(f.Users) > 0 {
		list, names := db.In(f.Users)
		where, args = where+` AND a.id IN (SELECT account_id FROM account_media_users WHERE name IN `+list+`)`, append(args, names...)
	}
	if len(f.IDs) > 0 {
		list, ids := db.In(f.IDs)
		where, args = where+` AND a.id IN `+list, append(args, ids...)
	}
	if f.Own {
		own, whose := scope.Owned(ctx, `a.person_id`)
		where, args = where+` AND `+own, append(args, whose...)
	}
	if f.Enabled || !f.EndsBefore.IsZero() {
		where += ` AND a.enabled = 1`
	}
	if !f.EndsBefore.IsZero() {
		where, args = where+` AND (a.access_token = '' OR a.problem <> '' OR a.expires_at > 0 AND (a.expires_at < ? OR a.expires_at < ? AND a.auth_method = ?))`,
			append(args, time.Now().UnixMilli(), f.EndsBefore.UnixMilli(), ByToken)
	}
	return where, args
}

// Find is some of the accounts that pass a filter, in the order of List, without the first ones of them.
func (s *Store) Find(ctx context.Context, f Filter, without, limit int) ([]Account, error) {
	where, args := f.where(ctx)
	return query(ctx, s.db.Read(), `a.id IN (SELECT a.id FROM accounts a WHERE `+where+` ORDER BY a.preferred DESC, a.username LIMIT ? OFFSET ?)`,
		`a.preferred DESC, a.username`, append(args, limit, without)...)
}

// Count is how many accounts pass a filter.
func (s *Store) Count(ctx context.Context, f Filter) (n int, err error) {
	where, args := f.where(ctx)
	if err := s.db.Read().QueryRowContext(ctx, `SELECT COUNT(*) FROM accounts a WHERE `+where, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count accounts: %w", err)
	}
	return n, nil
}

// Get is the account with id, or ErrNotFound.
func (s *Store) Get(ctx context.Context, id int64) (Account, error) {
	return get(ctx, s.db.Read(), id)
}

// ForUser is every account, disabled ones included, that names the media-server user exactly.
func (s *Store) ForUser(ctx context.Context, mediaUser string) ([]Account, error) {
	return ForUser(ctx, s.db.Read(), mediaUser)
}

// ForUser is Store.ForUser by the database or within a transaction.
func ForUser(ctx context.Context, from db.Querier, mediaUser string) ([]Account, error) {
	return query(ctx, from, `a.id IN (SELECT account_id FROM account_media_users WHERE name = ?)`, `a.preferred DESC, a.id`, mediaUser)
}

// ForPerson is every account of a person, or of the owner for 0, disabled ones included.
func (s *Store) ForPerson(ctx context.Context, person int64) ([]Account, error) {
	return query(ctx, s.db.Read(), `COALESCE(a.person_id, 0) = ?`, `a.preferred DESC, a.id`, person)
}

// Preferred is the preferred enabled account, else the first enabled one, else ErrNotFound.
func (s *Store) Preferred(ctx context.Context) (Account, error) {
	within, whose := Within(ctx, `p.id`)
	found, err := query(ctx, s.db.Read(), `a.id = (SELECT p.id FROM accounts p WHERE p.enabled = 1 AND `+within+` ORDER BY p.preferred DESC, p.id LIMIT 1)`, `a.id`, whose...)
	if err != nil {
		return Account{}, err
	}
	if len(found) == 0 {
		return Account{}, ErrNotFound
	}
	return found[0], nil
}

// Create adds an account. The first account becomes the preferred one by itself.
// It returns a *reason.FieldError for a bad draft and ErrTaken for a name in use or
// a catalog user who has an account.
func (s *Store) Create(ctx context.Context, d Draft) (Account, error) {
	if err := errors.Join(checkUsername(d.Username), CheckUserNames(listedNames, d.MediaUserNames), checkToken(d.Tokens.Access), checkRules(d.Adult, d.Unwatched, d.Rewatch)); err != nil {
		return Account{}, err
	}
	var created Account
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := checkFree(ctx, tx, d.Username, d.CatalogUserID, 0); err != nil {
			return err
		}
		var others int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM accounts`).Scan(&others); err != nil {
			return fmt.Errorf("count accounts: %w", err)
		}
		now := time.Now().UnixMilli()
		var checked, id int64
		if d.CatalogUserID != 0 {
			checked = now
		}
		err := tx.QueryRowContext(ctx, `
			INSERT INTO accounts (person_id, username, nickname, catalog_user_id, auth_method, enabled, preferred, private, complete_series, complete_films, dry_run, adult, unwatched, rewatch, checked_at, created_at, updated_at)
			VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
			sql.NullInt64{Int64: d.PersonID, Valid: d.PersonID != 0}, d.Username, d.Nickname, d.CatalogUserID, d.Method, d.Enabled, d.Private, d.CompleteSeries, d.CompleteFilms, d.DryRun, d.Adult, d.Unwatched, d.Rewatch, checked, now, now).Scan(&id)
		if err != nil {
			return fmt.Errorf("create account: %w", err)
		}
		if err := s.setTokens(ctx, tx, id, d.Tokens); err != nil {
			return err
		}
		if err := setUserNames(ctx, tx, id, d.MediaUserNames); err != nil {
			return err
		}
		if d.Preferred || others == 0 {
			if err := prefer(ctx, tx, id); err != nil {
				return err
			}
		}
		created, err = get(ctx, tx, id)
		return err
	})
	return created, err
}

// Update changes an account. It returns a *reason.FieldError, ErrTaken or ErrNotFound.
// A new token clears what was known of the old one, and a new user name also which catalog
// user the account is: both are checked before the next mark.
func (s *Store) Update(ctx context.Context, id int64, c Change) (Account, error) {
	var changed Account
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		now, err := get(ctx, tx, id)
		if err != nil {
			return err
		}
		if c.Username != nil {
			if err := errors.Join(checkUsername(*c.Username), checkFree(ctx, tx, *c.Username, 0, id)); err != nil {
				return err
			}
		}
		if err := checkRules(or(c.Adult, now.Adult), or(c.Unwatched, now.Unwatched), or(c.Rewatch, now.Rewatch)); err != nil {
			return err
		}
		if c.MediaUserNames != nil {
			if err := CheckUserNames(listedNames, *c.MediaUserNames); err != nil {
				return err
			}
			if err := setUserNames(ctx, tx, id, *c.MediaUserNames); err != nil {
				return err
			}
		}
		if c.PersonID != nil {
			if _, err := tx.ExecContext(ctx, `UPDATE accounts SET person_id = ? WHERE id = ?`, sql.NullInt64{Int64: *c.PersonID, Valid: *c.PersonID != 0}, id); err != nil {
				return fmt.Errorf("give account %d to a person: %w", id, err)
			}
		}
		_, err = tx.ExecContext(ctx, `UPDATE accounts SET username = ?, enabled = ?, private = ?, complete_series = ?, complete_films = ?, dry_run = ?, adult = ?, unwatched = ?, rewatch = ?, updated_at = ? WHERE id = ?`,
			or(c.Username, now.Username), or(c.Enabled, now.Enabled), or(c.Private, now.Private),
			or(c.CompleteSeries, now.CompleteSeries), or(c.CompleteFilms, now.CompleteFilms), or(c.DryRun, now.DryRun), or(c.Adult, now.Adult), or(c.Unwatched, now.Unwatched), or(c.Rewatch, now.Rewatch), time.Now().UnixMilli(), id)
		if err != nil {
			return fmt.Errorf("update account %d: %w", id, err)
		}
		if c.AccessToken != nil {
			if err := checkToken(*c.AccessToken); err != nil {
				return err
			}
			if err := s.setTokens(ctx, tx, id, Tokens{Access: *c.AccessToken}); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `UPDATE accounts SET auth_method = ?, checked_at = 0 WHERE id = ?`, ByToken, id); err != nil {
				return fmt.Errorf("update account %d: %w", id, err)
			}
		}
		if c.Username != nil && *c.Username != now.Username {
			if _, err := tx.ExecContext(ctx, `UPDATE accounts SET catalog_user_id = 0, checked_at = 0 WHERE id = ?`, id); err != nil {
				return fmt.Errorf("update account %d: %w", id, err)
			}
		}
		changed, err = get(ctx, tx, id)
		return err
	})
	return changed, err
}

// Delete removes an account; its records stay, without it. It returns ErrNotFound.
func (s *Store) Delete(ctx context.Context, id int64) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		a, err := get(ctx, tx, id)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM accounts WHERE id = ?`, id); err != nil {
			return fmt.Errorf("delete account %d: %w", id, err)
		}
		if !a.Preferred {
			return nil
		}
		_, err = tx.ExecContext(ctx, `UPDATE accounts SET preferred = 1 WHERE id = (SELECT MIN(id) FROM accounts)`)
		if err != nil {
			return fmt.Errorf("prefer another account: %w", err)
		}
		return nil
	})
}

// Prefer makes the account the preferred one. It returns ErrNotFound.
func (s *Store) Prefer(ctx context.Context, id int64) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := get(ctx, tx, id); err != nil {
			return err
		}
		return prefer(ctx, tx, id)
	})
}

// OfPerson are the ids of the accounts of a person.
func (s *Store) OfPerson(ctx context.Context, person int64) ([]int64, error) {
	return db.Values[int64](ctx, s.db.Read(), "list the accounts of a person", `SELECT id FROM accounts WHERE person_id = ? ORDER BY id`, person)
}

// OfPeople are the accounts of some people, by the ids of these.
func (s *Store) OfPeople(ctx context.Context, people []int64) (map[int64][]Account, error) {
	of := map[int64][]Account{}
	if len(people) == 0 {
		return of, nil
	}
	list, args := db.In(people)
	accounts, err := query(ctx, s.db.Read(), `a.person_id IN `+list, `a.username`, args...)
	for _, a := range accounts {
		of[a.PersonID] = append(of[a.PersonID], a)
	}
	return of, err
}

// MoveUserNames takes media-server users from every account of a person, and lets the account name others where the person has one alone.
func (s *Store) MoveUserNames(ctx context.Context, person int64, gone, come []string) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		ids, err := db.Values[int64](ctx, tx, "list the accounts of a person", `SELECT id FROM accounts WHERE person_id = ?`, person)
		if err != nil {
			return err
		}
		for _, id := range ids {
			now, err := get(ctx, tx, id)
			if err != nil {
				return err
			}
			names := slices.DeleteFunc(slices.Clone(now.MediaUserNames), func(name string) bool { return slices.Contains(gone, name) })
			if len(ids) == 1 {
				for _, name := range come {
					if !slices.Contains(names, name) {
						names = append(names, name)
					}
				}
			}
			if err := CheckUserNames(listedNames, names); err != nil {
				return err
			}
			if err := setUserNames(ctx, tx, id, names); err != nil {
				return err
			}
		}
		return nil
	})
}

// AddUserName lets an account name one more media-server user; one that it names already stays. It returns a
// *reason.FieldError of the field name, or ErrNotFound.
func (s *Store) AddUserName(ctx context.Context, id int64, name string) (Account, error) {
	var changed Account
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		changed, _, err = AddUserNameTx(ctx, tx, id, name)
		return err
	})
	return changed, err
}

// AddUserNameTx is Store.AddUserName within tx, and reports whether the account did not name the user before.
func AddUserNameTx(ctx context.Context, tx *sql.Tx, id int64, name string) (changed Account, added bool, err error) {
	now, err := get(ctx, tx, id)
	if err != nil || slices.Contains(now.MediaUserNames, name) {
		return now, false, err
	}
	names := append(now.MediaUserNames, name)
	if err := CheckUserNames("name", names); err != nil {
		return Account{}, false, err
	}
	changed, err = renameUsers(ctx, tx, id, names)
	return changed, true, err
}

// DropUserNameTx is the way back from AddUserNameTx, within tx. It answers the person that has no account any more which names the user; 0 for
// nobody.
func DropUserNameTx(ctx context.Context, tx *sql.Tx, id int64, name string) (person int64, err error) {
	now, err := get(ctx, tx, id)
	if err != nil || !slices.Contains(now.MediaUserNames, name) {
		return 0, err
	}
	if _, err := renameUsers(ctx, tx, id, slices.DeleteFunc(now.MediaUserNames, func(n string) bool { return n == name })); err != nil {
		return 0, err
	}
	var others int
	err = tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM account_media_users m JOIN accounts a ON a.id = m.account_id WHERE m.name = ? AND a.person_id = ?`, name, now.PersonID).Scan(&others)
	if err != nil {
		return 0, fmt.Errorf("look which accounts of person %d name a user: %w", now.PersonID, err)
	}
	if others > 0 {
		return 0, nil
	}
	return now.PersonID, nil
}

// renameUsers has an account name these users alone.
func renameUsers(ctx context.Context, tx *sql.Tx, id int64, names []string) (Account, error) {
	if err := setUserNames(ctx, tx, id, names); err != nil {
		return Account{}, err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE accounts SET updated_at = ? WHERE id = ?`, time.Now().UnixMilli(), id); err != nil {
		return Account{}, fmt.Errorf("update account %d: %w", id, err)
	}
	return get(ctx, tx, id)
}

func setUserNames(ctx context.Context, tx *sql.Tx, id int64, names []string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM account_media_users WHERE account_id = ?`, id); err != nil {
		return fmt.Errorf("replace media user names of account %d: %w", id, err)
	}
	for _, name := range names {
		if _, err := tx.ExecContext(ctx, `INSERT INTO account_media_users (account_id, name) VALUES (?, ?)`, id, name); err != nil {
			return fmt.Errorf("add media user name to account %d: %w", id, err)
		}
		if err := HeedTx(ctx, tx, name); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}

func prefer(ctx context.Context, tx *sql.Tx, id int64) error {
	_, err := tx.ExecContext(ctx, `UPDATE accounts SET preferred = CASE WHEN id = ? THEN 1 ELSE 0 END WHERE preferred = 1 OR id = ?`, id, id)
	if err != nil {
		return fmt.Errorf("prefer account %d: %w", id, err)
	}
	return nil
}

// checkFree returns ErrTaken when another account than id has the name, or is known to
// be that catalog user; catalogUserID 0 is nobody.
func checkFree(ctx context.Context, tx *sql.Tx, username string, catalogUserID int, id int64) error {
	var taken int
	err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM accounts WHERE (username = ? OR catalog_user_id <> 0 AND catalog_user_id = ?) AND id <> ?`,
		username, catalogUserID, id).Scan(&taken)
	if err != nil {
		return fmt.Errorf("look for account %q: %w", username, err)
	}
	if taken > 0 {
		return ErrTaken
	}
	return nil
}

func get(ctx context.Context, q db.Querier, id int64) (Account, error) {
	found, err := query(ctx, q, `a.id = ?`, `a.id`, id)
	if err != nil {
		return Account{}, err
	}
	if len(found) == 0 {
		return Account{}, ErrNotFound
	}
	return found[0], nil
}

// query reads the accounts that match a condition, in an order, with their media user names.
func query(ctx context.Context, q db.Querier, where, order string, args ...any) ([]Account, error) {
	accounts := []Account{}
	within, whose := Within(ctx, `a.id`)
	err := db.Each(ctx, q, "read accounts", func(row db.Row) error {
		a := Account{MediaUserNames: []string{}}
		var expires, checked, created, updated int64
		var name sql.NullString
		err := row.Scan(&a.ID, &a.PersonID, &a.Username, &a.Nickname, &a.CatalogUserID, &a.Method, &a.HasToken, &expires, &a.Enabled, &a.Preferred,
			&a.Private, &a.CompleteSeries, &a.CompleteFilms, &a.DryRun, &a.Adult, &a.Unwatched, &a.Rewatch, &checked, &a.Problem, &created, &updated, &name)
		if err != nil {
			return err
		}
		if last := len(accounts) - 1; last < 0 || accounts[last].ID != a.ID { // else one more name of the same account
			a.ExpiresAt, a.CheckedAt = timeOrNil(expires), timeOrNil(checked)
			a.CreatedAt, a.UpdatedAt = time.UnixMilli(created), time.UnixMilli(updated)
			accounts = append(accounts, a)
		}
		if name.Valid {
			last := &accounts[len(accounts)-1]
			last.MediaUserNames = append(last.MediaUserNames, name.String)
		}
		return nil
	}, `SELECT `+columns+`, m.name FROM accounts a LEFT JOIN account_media_users m ON m.account_id = a.id
		WHERE (`+where+`) AND `+within+` ORDER BY `+order+`, m.name`, append(args, whose...)...)
	if err != nil {
		return nil, err
	}
	return accounts, nil
}

func or[T any](p *T, otherwise T) T {
	if p != nil {
		return *p
	}
	return otherwise
}

func timeOrNil(ms int64) *time.Time {
	if ms == 0 {
		return nil
	}
	t := time.UnixMilli(ms)
	return &t
}
