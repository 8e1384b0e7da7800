package web

import (
	"context"
	"errors"
	"path"
	"slices"
	"time"

	"watchmark/internal/source/nas"
	"watchmark/internal/watch"
)

// nasPage shows the state of the library of a NAS and its users.
type nasPage struct {
	nas.Status
	Display  display
	Settings map[string]control
	Users    []nasUser
	// UsersProblem is why the users cannot be read; nil without a problem.
	UsersProblem *nas.Problem
	// UsersLater is set when the users are not read yet, because that needs a copy of the library.
	UsersLater bool
	// Mount is the part of a compose file that gives a container access to the library.
	Mount  string
	Ranges []nas.Range
	// Records is the path of the records from the NAS.
	Records string
	Refresh int
}

// Odd are the values of the column watched that the source does not understand.
func (p nasPage) Odd() []string {
	return slices.DeleteFunc(slices.Clone(p.WatchedValues), func(v string) bool { return v == "0" || v == "1" || v == "NULL" })
}

// ChosenElsewhere reports that the settings name a user who is not listed.
func (p nasPage) ChosenElsewhere() bool {
	chosen := p.Settings["user"].Value
	return chosen != nas.AllUsers && !slices.ContainsFunc(p.Users, func(u nasUser) bool { return u.GUID == chosen })
}

// nasUser is a user of the NAS with the accounts that get their marks.
type nasUser struct {
	nas.User
	Accounts []string
}

// usersTime is how long a page waits for the users of the NAS.
const usersTime = 3 * time.Second

func (g Sources) nas(r *request) (content, error) {
	ctx := r.Context()
	status, err := g.NAS.Status(ctx)
	if err != nil {
		return content{}, err
	}
	values := controls(g.Settings, "nas")
	usual, _ := values["database_path"].Default.(string)
	page := nasPage{
		Status: status, Display: nasDisplay(status), Settings: values, Mount: "volumes:\n  - " + path.Dir(usual) + ":/nas:ro",
		Ranges: []nas.Range{nas.Day, nas.Week, nas.Month, nas.All}, Records: withQuery("/records", map[string]string{"source": string(watch.NAS)}), Refresh: refreshIdle,
	}
	if status.Scanning || status.Enabled && status.LastScan.IsZero() {
		page.Refresh = refreshBusy
	}
	if page.UsersLater = status.Handling == nas.Copied && !r.URL.Query().Has("users"); !page.UsersLater {
		if err := g.nasUsers(ctx, &page); err != nil {
			return content{}, err
		}
	}
	return content{Data: page}, nil
}

// nasUsers reads who uses the NAS.
func (g Sources) nasUsers(ctx context.Context, page *nasPage) error {
	accounts, err := g.accountsOf(ctx)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, usersTime)
	defer cancel()
	users, err := g.NAS.Users(bounded)
	switch {
	case err == nil:
	case errors.As(err, &page.UsersProblem):
		return nil
	case bounded.Err() != nil && ctx.Err() == nil:
		page.UsersProblem = &nas.Problem{Kind: nas.Busy}
		return nil
	default:
		return err
	}
	for _, u := range users {
		page.Users = append(page.Users, nasUser{u, accounts(u.UserName)})
	}
	return nil
}

// nasDisplay shows the state of the source.
func nasDisplay(s nas.Status) display {
	switch {
	case !s.Enabled:
		return display{"quiet", "power", "nas.is.off"}
	case s.LastErrorKind == nas.Busy:
		return display{"warn", "hourglass", "nas.is.busy"}
	case !s.LastError.IsZero():
		return display{"bad", "circle-x", "nas.is.failed"}
	case s.LastScan.IsZero():
		return display{"busy", "loader", "nas.is.first"}
	case len(s.Missing) > 0:
		return display{"warn", "triangle-alert", "nas.is.partly"}
	}
	return display{"good", "circle-check", "nas.is.good"}
}
