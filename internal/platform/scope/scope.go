// Package scope tells whose rows the work of a request may reach. Whoever lets a request in puts its scope into the context, and
// the packages that keep what belongs to people restrict their queries by it, so that nobody has to remember it on the way.
//
// What it promises: the zero Scope reaches nothing. Work that no request began has no scope in its context and reaches everything:
// the service itself.
package scope

import "context"

// Scope is whose rows may be reached.
type Scope struct {
	everything bool
	person     int64
}

// Everything reaches the rows of everybody.
func Everything() Scope { return Scope{everything: true} }

// Of reaches the rows of one person.
func Of(person int64) Scope { return Scope{person: person} }

// Whole reports whether everything may be reached.
func (s Scope) Whole() bool { return s.everything }

// Person is whose rows may be reached; 0 is nobody, and no person in the scope Everything.
func (s Scope) Person() int64 { return s.person }

type key struct{}

// In is ctx with a scope.
func In(ctx context.Context, s Scope) context.Context { return context.WithValue(ctx, key{}, s) }

// InOf is ctx in the scope of a person, or for 0 of the owner.
func InOf(ctx context.Context, person int64) context.Context {
	if person == 0 {
		return In(ctx, Everything())
	}
	return In(ctx, Of(person))
}

// From is the scope of ctx.
func From(ctx context.Context) Scope {
	if s, is := ctx.Value(key{}).(Scope); is {
		return s
	}
	return Everything()
}

// Owned holds for the rows that belong to whom a scope is of: column is the id of the person, and NULL in what is the owner's.
func Owned(ctx context.Context, column string) (term string, args []any) {
	s := From(ctx)
	if s.Whole() {
		return column + ` IS NULL`, nil
	}
	return column + ` = ?`, []any{s.Person()}
}
