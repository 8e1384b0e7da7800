// Package access is the one table of who may do what: each operation of the API, each page and each other path, by role.
//
// What it promises: what the table does not name is the owner's alone. The packages api and web ask it before anything else runs; the
// table for people is docs/design/access.md, and a test holds both against each other and against the running service.
package access

import (
	"maps"
	"slices"

	"watchmark/internal/door/auth"
)

// Right is how far somebody may go.
type Right string

// The rights: nothing, what is one's own, everything that there is.
const (
	Nothing Right = ""
	Own     Right = "own"
	All     Right = "all"
)

// Thing is what an id in a path names.
type Thing string

// The things that belong to somebody.
const (
	Account Thing = "account"
	Record  Thing = "record"
	Key     Thing = "key"
	Notice  Thing = "notice"
	// Mapping and Keyword are rules that hold for the person alone. Question is one that a record of the person waits for, or that the
	// person answered.
	Mapping  Thing = "mapping"
	Keyword  Thing = "keyword"
	Question Thing = "question"
	// Channel is one of any type, MessageRule a rule of what goes to them, and Delivery a notice on its way to one.
	Channel     Thing = "channel"
	MessageRule Thing = "rule"
	Delivery    Thing = "delivery"
	Snapshot    Thing = "snapshot"
	Restore     Thing = "restore"
	Task        Thing = "task"
	// Summary is named by {name}, which is free for each person.
	Summary Thing = "summary"
)

// Rule is what the table says. The owner may do everything. A guest does not sign in, and so is nobody.
type Rule struct {
	// Person is for a person who is signed in, or an API key of one, Nobody for everybody else.
	Person, Nobody Right
	// Of is what {id} in the path names, or {name}, where that must be the person's own.
	Of Thing
}

var (
	ownerOnly = Rule{}
	everybody = Rule{Person: All, Nobody: All}
	signedIn  = Rule{Person: All}
	own       = Rule{Person: Own}
)

// ownOf is for what leads to one thing.
func ownOf(thing Thing) Rule { return Rule{Person: Own, Of: thing} }

// Operation is the rule of an operation of the API, by its id; false where the table does not name it, which is the owner's alone.
func Operation(id string) (Rule, bool) {
	rule, named := operations[id]
	return rule, named
}

// Path is the rule of a page or another path beside the API, by its pattern without the method; as Operation.
func Path(pattern string) (Rule, bool) {
	rule, named := paths[pattern]
	return rule, named
}

// For is the right of a caller under the rule; known is false for nobody.
func (r Rule) For(who auth.Identity, known bool) Right {
	switch {
	case !known:
		return r.Nobody
	case who.Role == auth.RoleOwner:
		return All
	case who.Role == auth.RolePerson:
		return r.Person
	default:
		return r.Nobody
	}
}

// Operations are the ids of all operations that the table names, and Paths the patterns of all paths.
func Operations() []string { return slices.Sorted(maps.Keys(operations)) }

// Paths is explained at Operations.
func Paths() []string { return slices.Sorted(maps.Keys(paths)) }
