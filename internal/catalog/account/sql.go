package account

import (
	"context"

	"watchmark/internal/platform/scope"
)

// Within holds for an account that the scope of ctx reaches; its arguments come with it.
func Within(ctx context.Context, id string) (term string, args []any) {
	s := scope.From(ctx)
	if s.Whole() {
		return `1 = 1`, nil
	}
	return id + ` IN (SELECT accounts.id FROM accounts WHERE accounts.person_id = ?)`, []any{s.Person()}
}

// SQL about accounts for the statements of those who keep other tables: id and user are expressions of such a statement.

// Existing is the id of an account that is there, else NULL; its argument is the id.
const Existing = `(SELECT accounts.id FROM accounts WHERE accounts.id = ?)`

// NameOf is the user name of an account, NULL when it was deleted.
func NameOf(id string) string {
	return `(SELECT accounts.username FROM accounts WHERE accounts.id = ` + id + `)`
}

// SignsIn holds for a person who may sign in.
func SignsIn(id string) string {
	return `EXISTS (SELECT 1 FROM people WHERE people.id = ` + id + ` AND people.role = 'person')`
}

// Person is the id of a person who is there, else NULL; its argument is the id.
const Person = `(SELECT people.id FROM people WHERE people.id = ?)`

// PersonOf is the id of the person whose an account is, NULL where it is the owner's or nobody's.
func PersonOf(id string) string {
	return `(SELECT people.id FROM accounts JOIN people ON people.id = accounts.person_id WHERE accounts.id = ` + id + ` AND people.role = 'person')`
}

// EnabledOf is 1 for an account that is enabled.
func EnabledOf(id string) string {
	return `(SELECT accounts.enabled FROM accounts WHERE accounts.id = ` + id + `)`
}

// usable holds for an account that marks can be sent for.
const usable = `accounts.enabled = 1 AND accounts.access_token <> ''`

// AnyUsable holds when marks can be sent for some account, IsUsable when they can for this one, and AnyUsableFor for one
// that names a media-server user.
const AnyUsable = `EXISTS (SELECT 1 FROM accounts WHERE ` + usable + `)`

// IsUsable is explained at AnyUsable.
func IsUsable(id string) string {
	return `EXISTS (SELECT 1 FROM accounts WHERE accounts.id = ` + id + ` AND ` + usable + `)`
}

// NamedByOthers holds when an account of somebody else than a person names a media-server user.
func NamedByOthers(user, person string) string {
	return naming(user) + ` AND (accounts.person_id IS NULL OR accounts.person_id <> ` + person + `))`
}

// AnyUsableFor is explained at AnyUsable.
func AnyUsableFor(user string) string { return naming(user) + ` AND ` + usable + `)` }

// AnyEnabledFor holds when an enabled account names a media-server user.
func AnyEnabledFor(user string) string { return naming(user) + ` AND accounts.enabled = 1)` }

func naming(user string) string {
	return `EXISTS (SELECT 1 FROM account_media_users JOIN accounts ON accounts.id = account_media_users.account_id
		WHERE account_media_users.name = ` + user
}
