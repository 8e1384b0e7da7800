package web

import (
	"context"

	"watchmark/internal/catalog/account"
	"watchmark/internal/door/auth"
)

// householdPath is the page of the people who sign in.
const householdPath = "/people/household"

// Household is the owner's page of the people.
type Household struct {
	People   func(ctx context.Context, without, limit int) ([]auth.Person, error)
	Accounts *account.Store
}

type householdPage struct {
	People []householdMember
	pager
}

type householdMember struct {
	auth.Person
	Accounts []account.Account
}

// householdShown is how many people a page shows.
const householdShown = 50

func (g Household) list(r *request) (content, error) {
	from := int(cursor(r, "from"))
	people, err := g.People(r.Context(), from, householdShown+1)
	if err != nil {
		return content{}, err
	}
	page := householdPage{}
	if from > 0 {
		page.Newest = fromCursor(householdPath, map[string]string{}, "from", int64(max(0, from-householdShown)))
	}
	if len(people) > householdShown {
		people = people[:householdShown]
		page.Older = fromCursor(householdPath, map[string]string{}, "from", int64(from+householdShown))
	}
	ids := make([]int64, len(people))
	for i, p := range people {
		ids[i] = p.ID
	}
	accounts, err := g.Accounts.OfPeople(r.Context(), ids)
	if err != nil {
		return content{}, err
	}
	for _, p := range people {
		page.People = append(page.People, householdMember{p, accounts[p.ID]})
	}
	return content{Data: page}, nil
}
