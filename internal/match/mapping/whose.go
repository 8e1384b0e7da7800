package mapping

import (
	"context"

	"watchmark/internal/platform/scope"
)

type personKey struct{}

// For has Rules and RulesWith answer what leads the marks on the lists of a person; 0 is the owner, for whom only the rules for all
// hold. Without it they are those of the person whose scope ctx has.
func For(ctx context.Context, person int64) context.Context {
	return context.WithValue(ctx, personKey{}, person)
}

// readBy is whose rules are asked for in ctx.
func readBy(ctx context.Context) int64 {
	if person, is := ctx.Value(personKey{}).(int64); is {
		return person
	}
	return madeBy(ctx)
}

// nobody has no rules.
const nobody = -1

// madeBy is whose rules are made in the scope of ctx; 0 are those for all.
func madeBy(ctx context.Context) int64 {
	s := scope.From(ctx)
	if !s.Whole() && s.Person() == 0 {
		return nobody
	}
	return s.Person()
}

// within holds for a rule that the scope of ctx reaches; its arguments come with it.
func within(ctx context.Context) (term string, args []any) {
	s := scope.From(ctx)
	if s.Whole() {
		return `1 = 1`, nil
	}
	return `person_id = ?`, []any{s.Person()}
}

// orNull is a person as the column person_id has them.
func orNull(person int64) any {
	if person == 0 {
		return nil
	}
	return person
}
