package web

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"

	"watchmark/internal/catalog/account"
	"watchmark/internal/door/auth"
	"watchmark/internal/engine"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
)

// unroutedMost is how many users without an account a page lists.
const unroutedMost = 20

// unroutedUser is a user of a media server whom no account lists, with the accounts that could.
type unroutedUser struct {
	User string
	// Person is who the user is, by what the owner said; empty for a user who is nobody yet. Only an account of that person can list the
	// user; a newcomer has none.
	Person string
	// Accounts are the enabled accounts, or none when there are More than have room; one is then chosen on their page.
	// Disabled is the name of a disabled account that lists the user; empty without one.
	Accounts []account.Account
	More     bool
	Disabled string
}

// Body is the request body that names the user.
func (u unroutedUser) Body() string {
	body, _ := json.Marshal(map[string]string{"name": u.User}) // a map of strings always encodes
	return string(body)
}

// AssignPath is the page that shows what becomes of the user as one of an account.
func (u unroutedUser) AssignPath(accountID int64) string {
	return withQuery(assignPath, map[string]string{"user": u.User, "account": strconv.FormatInt(accountID, 10)})
}

// Path is the path of the user's records.
func (u unroutedUser) Path() string { return "/records?user=" + url.QueryEscape(u.User) }

// IsNewcomer reports whether the user is a person who has connected no account yet.
func (u unroutedUser) IsNewcomer() bool {
	return u.Person != "" && len(u.Accounts) == 0 && u.Disabled == ""
}

// whoAre tells who users of media servers are, by their names; of an owner alone.
type whoAre func(ctx context.Context, users []string) (map[string]auth.Person, error)

// unroutedLine is an unrouted user with their records.
type unroutedLine struct {
	unroutedUser
	record.Unrouted
}

// User is the name; both parts have one.
func (l unroutedLine) User() string { return l.unroutedUser.User }

// ChoosePath is the page where the account of the user is chosen.
func (u unroutedUser) ChoosePath() string { return "/people?add=" + url.QueryEscape(u.User) }

// offeredAccounts is how many accounts a card offers by a button each.
const offeredAccounts = 6

// offers are the accounts to which users of media servers can be added.
type offers struct {
	accounts []account.Account
	more     bool
	// naming are the accounts that list one of the users.
	naming []account.Account
	// people are who the users are, and own the accounts of these.
	people map[string]auth.Person
	own    map[int64][]account.Account
}

// offersFor looks up what can be offered for users.
func offersFor(ctx context.Context, accounts *account.Store, who whoAre, users []string) (o offers, err error) {
	if len(users) == 0 {
		return o, nil
	}
	if o.people, err = who(ctx, users); err != nil {
		return o, err
	}
	var ids []int64
	for _, p := range o.people {
		ids = append(ids, p.ID)
	}
	if o.own, err = accounts.OfPeople(ctx, ids); err != nil {
		return o, err
	}
	if o.accounts, err = accounts.Find(ctx, account.Filter{Enabled: true}, 0, offeredAccounts+1); err != nil {
		return o, err
	}
	if o.more = len(o.accounts) > offeredAccounts; o.more {
		o.accounts = nil
	}
	o.naming, err = accounts.Find(ctx, account.Filter{Users: users}, 0, accountsOfUsers)
	return o, err
}

// accountsOfUsers is how many accounts are looked up by the users that they list.
const accountsOfUsers = 1000

// of makes the unrouted user of a name; nil when an enabled account lists the name by now.
func (o offers) of(user string) *unroutedUser {
	u := &unroutedUser{User: user, Accounts: o.accounts, More: o.more}
	if p, is := o.people[user]; is {
		u.Person, u.Accounts, u.More = p.Name, nil, false
		for _, a := range o.own[p.ID] {
			if a.Enabled {
				u.Accounts = append(u.Accounts, a)
			}
		}
		if len(u.Accounts) == 0 && len(o.own[p.ID]) > 0 {
			u.Disabled = o.own[p.ID][0].Username
		}
	}
	for _, a := range o.naming {
		switch {
		case !slices.Contains(a.MediaUserNames, user):
		case a.Enabled:
			return nil
		default:
			u.Disabled = a.Username
		}
	}
	return u
}

// unroutedList are the users without an account, those who were heard of last, and how many there are.
type unroutedList struct {
	Lines []unroutedLine
	Count int
	// Open is set when the list is shown unfolded.
	Open bool
}

// More is how many users are not listed.
func (l unroutedList) More() int { return max(0, l.Count-len(l.Lines)) }

// unroutedOf are the users without an account.
func unroutedOf(ctx context.Context, records *record.Store, accounts *account.Store, who whoAre) (list unroutedList, err error) {
	users, next, err := records.Unrouted(ctx, 0, unroutedMost)
	if err != nil || len(users) == 0 {
		return list, err
	}
	if list.Count = len(users); next != 0 {
		if list.Count, err = records.CountUnrouted(ctx); err != nil {
			return list, err
		}
	}
	var names []string
	for _, u := range users {
		names = append(names, u.User)
	}
	offered, err := offersFor(ctx, accounts, who, names)
	for _, u := range users {
		if of := offered.of(u.User); of != nil { // nil when an account lists the name since the query
			list.Lines = append(list.Lines, unroutedLine{*of, u})
		} else {
			list.Count--
		}
	}
	return list, err
}

// assignPath is the page of an assignment.
const assignPath = "/people/assign"

type assignPage struct {
	User    string
	Account account.Account
	Waits   record.UnroutedOf
	Titles  []assignedTitle
	// Named is set when the account names the user, and Body is the request body that makes it so.
	Named       bool
	Body        string
	RunningTask int64
	// Last is the assignment of this user to the account that ended last; nil before the first.
	Last *taskView
}

// assignedTitle is what waits of one season or film.
type assignedTitle struct{ record.UnroutedTitle }

// SeasonNumber is the season of one that has one.
func (t assignedTitle) SeasonNumber() int { return *t.Season }

// titlesAssigned is how many titles the page lists.
const titlesAssigned = 20

// assign shows what waits of ?user= and on whose list it would be marked: that of ?account=.
func (g Accounts) assign(r *request) (content, error) {
	ctx, q := r.Context(), r.URL.Query()
	id, err := strconv.ParseInt(q.Get("account"), 10, 64)
	if err != nil || q.Get("user") == "" {
		return content{}, account.ErrNotFound
	}
	page := assignPage{User: q.Get("user")}
	if page.Account, err = g.Accounts.Get(ctx, id); err != nil {
		return content{}, err
	}
	if page.Waits, err = g.Records.UnroutedOf(ctx, page.User, titlesAssigned); err != nil {
		return content{}, err
	}
	for _, t := range page.Waits.Titles {
		page.Titles = append(page.Titles, assignedTitle{t})
	}
	page.Named = slices.Contains(page.Account.MediaUserNames, page.User)
	body, err := json.Marshal(map[string]any{"name": page.User, "account_id": id})
	if err != nil {
		return content{}, err
	}
	page.Body = string(body)
	if page.RunningTask, err = g.Tasks.RunningOf(ctx, id, engine.AssignKind); err != nil {
		return content{}, err
	}
	page.Last, err = g.lastAssignment(r, page)
	return content{Heading: page.User, Data: page}, err
}

// lastAssignment is the newest task that made the user of a page one of its account, once it ended.
func (g Accounts) lastAssignment(r *request, page assignPage) (*taskView, error) {
	all, err := g.Tasks.List(r.Context())
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.Kind != engine.AssignKind || t.State == task.Running || t.RecordID != page.Account.ID {
			continue
		}
		if made, there := task.ResultOf[engine.Assignment](t); there && made.UserName == page.User {
			view, err := r.taskView(t)
			return &view, err
		}
	}
	return nil, nil
}
