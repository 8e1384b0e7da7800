package api

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog/account"
	"watchmark/internal/door/auth"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/task"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/word"
)

// People are the people of the household: who signs in, and who is only known by what they watch.
type People struct {
	Store    *auth.Store
	Accounts *account.Store
	Words    *word.Service
	Rules    *mapping.Store
	Tasks    *task.Registry
	Engine   interface {
		IgnoreUser(ctx context.Context, user string) error
		HeedUser(ctx context.Context, user string) error
	}
}

// personInput is a new person.
type personInput struct {
	Name           string    `json:"name" doc:"The name to sign in with; upper and lower case are the same in it." example:"alex"`
	Role           auth.Role `json:"role" enum:"person,guest" doc:"What this person may do: person signs in to what is their own, guest does not sign in, and what a guest watches is ignored."`
	MediaUserNames []string  `json:"media_user_names,omitempty" doc:"The media-server users that this person is; compared exactly, case and spaces included." example:"[\"alex\"]"`
}

// personChange is a change of a person. What is left out stays.
type personChange struct {
	Name           *string    `json:"name,omitempty"`
	Role           *auth.Role `json:"role,omitempty" enum:"owner,person,guest" doc:"Who becomes a guest is signed out. The owner stays the owner."`
	MediaUserNames *[]string  `json:"media_user_names,omitempty" doc:"The whole new list. Names that go are taken from the accounts of the person; names that come are added where the person has one account."`
}

// invitation is a link by which a person sets a password.
type invitation struct {
	URL       string    `json:"url" doc:"The link. It works once, and cannot be seen again."`
	ExpiresAt time.Time `json:"expires_at"`
}

func (ps People) register(s *server) {
	const tag, path = "People", "/api/people"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: "list-people", Tags: []string{tag},
		Summary: "List people", Description: "The owner first, then by name.",
	}, func(ctx context.Context, in *struct{ PageQuery }) (*JSON[Page[auth.Person]], error) {
		some, err := ps.Store.People(ctx, int(in.seen), in.Limit+1)
		page := Page[auth.Person]{Items: some[:min(len(some), in.Limit)]}
		if len(some) > in.Limit {
			page.NextCursor = cursorOf(in.seen + int64(in.Limit))
		}
		return answer(page, err)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: path, OperationID: "add-person", Tags: []string{tag},
		Summary: "Add a person", Description: "A person signs in once an invitation was accepted.",
		DefaultStatus: http.StatusCreated, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, in *JSON[personInput]) (*JSON[auth.Person], error) {
		added, err := ps.Store.AddPerson(ctx, auth.PersonDraft{Name: in.Body.Name, Role: in.Body.Role, MediaUserNames: in.Body.MediaUserNames})
		if err == nil {
			err = ps.heed(ctx, auth.Person{}, added)
		}
		return answer(added, err)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path + "/{id}", OperationID: "get-person", Tags: []string{tag},
		Summary: "Get a person", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*JSON[auth.Person], error) {
		return answer(ps.Store.Person(ctx, in.ID))
	})
	register(s, huma.Operation{
		Method: http.MethodPatch, Path: path + "/{id}", OperationID: "change-person", Tags: []string{tag},
		Summary: "Change a person", Description: "Fields that are left out stay as they are.",
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, ps.change)
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: path + "/{id}", OperationID: "remove-person", Tags: []string{tag},
		Summary:     "Remove a person",
		Description: "Ends the person's sessions and API keys, and removes their accounts with the tokens. Their records stay, and the owner alone sees them. Their lists on Bangumi stay as they are.",
		Errors:      []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, in *ByID) (*none, error) { return nil, ps.remove(ctx, in.ID) })
	register(s, huma.Operation{
		Method: http.MethodPost, Path: path + "/{id}/invitation", OperationID: "invite-person", Tags: []string{tag},
		Summary: "Invite a person", Description: "Answers a link by which the person sets a password, in place of the link before. Who had a password sets a new one.",
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, in *ByID) (*JSON[invitation], error) {
		token, until, err := ps.Store.Invite(ctx, in.ID)
		return answer(invitation{s.PublicURL(ctx) + "/invitation?token=" + token, until}, err)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: path + "/{id}/sign-ins/{sign_in}", OperationID: "remove-sign-in", Tags: []string{tag},
		Summary:     "Take a way to sign in from a person",
		Description: "The person does not sign in by this user of a media server or account of the provider any more, and is signed out where another service signed them in. An invitation gives it back.",
		Errors:      []int{http.StatusNotFound},
	}, func(ctx context.Context, in *struct {
		ByID
		SignIn int64 `path:"sign_in" minimum:"1" doc:"The id of the way in, as sign_ins of the person has it."`
	}) (*none, error) {
		return nil, ps.Store.RemoveSignIn(ctx, in.ID, in.SignIn)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: path + "/{id}/invitation", OperationID: "revoke-invitation", Tags: []string{tag},
		Summary: "Take an invitation back", Description: "Its link does not work any more.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*none, error) { return nil, ps.Store.Uninvite(ctx, in.ID) })
}

func (ps People) change(ctx context.Context, in *struct {
	ByID
	JSON[personChange]
}) (*JSON[auth.Person], error) {
	before, err := ps.Store.Person(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	changed, err := ps.Store.ChangePerson(ctx, in.ID, auth.PersonChange{Name: in.Body.Name, Role: in.Body.Role, MediaUserNames: in.Body.MediaUserNames})
	if err != nil {
		return nil, err
	}
	err = ps.Accounts.MoveUserNames(ctx, in.ID, without(before.MediaUserNames, changed.MediaUserNames), without(changed.MediaUserNames, before.MediaUserNames))
	if err == nil {
		err = ps.heed(ctx, before, changed)
	}
	return answer(changed, err)
}

// heed has the media-server users of a guest ignored, and those that are no guest's any more not.
func (ps People) heed(ctx context.Context, before, after auth.Person) error {
	guests := func(p auth.Person) []string {
		if p.Role != auth.RoleGuest {
			return nil
		}
		return p.MediaUserNames
	}
	for _, name := range without(guests(before), guests(after)) {
		if err := ps.Engine.HeedUser(ctx, name); err != nil && !errors.Is(err, account.ErrNotFound) {
			return err
		}
	}
	for _, name := range guests(after) {
		if err := ps.Engine.IgnoreUser(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (ps People) remove(ctx context.Context, id int64) error {
	p, err := ps.Store.Person(ctx, id)
	if err != nil {
		return err
	}
	if p.Role == auth.RoleOwner {
		return auth.ErrOwnerStays
	}
	if err := ps.Tasks.CancelOf(ctx, id); err != nil {
		return err
	}
	accounts, err := ps.Accounts.OfPerson(ctx, id)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		if err := ps.Words.Leave(ctx, a); err != nil {
			return err
		}
		if err := ps.Accounts.Delete(ctx, a); err != nil && !errors.Is(err, account.ErrNotFound) {
			return err
		}
	}
	err = ps.Rules.Change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := notify.DropOfTx(ctx, tx, id); err != nil {
			return err
		}
		return ps.Store.RemovePersonTx(ctx, tx, id)
	})
	if err != nil {
		return err
	}
	ps.Store.Ended(ctx)
	return ps.heed(ctx, p, auth.Person{})
}

// without are those of names that others has not.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}
