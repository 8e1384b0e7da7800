package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog/account"
	"watchmark/internal/record"
	"watchmark/internal/watch"
)

// unknownUser is a media-server user without an account.
type unknownUser struct {
	UserName  string         `json:"user_name"`
	PersonID  int64          `json:"person_id" doc:"The person whom the owner gave this user; 0 for none. Only an account of that person can name the user."`
	Plays     int            `json:"plays" doc:"How many plays failed because no account names the user."`
	FirstSeen time.Time      `json:"first_seen_at" doc:"When the first of them came in."`
	LastSeen  time.Time      `json:"last_seen_at" doc:"When the newest came in."`
	Sources   []watch.Source `json:"sources" doc:"Where they came from."`
	RecordID  int64          `json:"record_id" doc:"The newest of them."`
	Title     string         `json:"title" doc:"What the newest is a play of."`
}

// userAssignment says which account a user is to be one of.
type userAssignment struct {
	Name      string `json:"name" doc:"The user, as the media server spells it; case and spaces count." example:"Mira TV"`
	AccountID int64  `json:"account_id" minimum:"1" doc:"The account." example:"1"`
}

// assignmentPreview is what would be marked.
type assignmentPreview struct {
	UserName    string          `json:"user_name"`
	AccountID   int64           `json:"account_id"`
	AccountName string          `json:"account_name" doc:"On whose list."`
	Enabled     bool            `json:"enabled" doc:"Whether the account is; a disabled one takes no user."`
	DryRun      bool            `json:"dry_run" doc:"Whether nothing is marked, and the records only say what would be."`
	Plays       int             `json:"plays" doc:"How many plays wait and are run."`
	FirstSeen   *time.Time      `json:"first_seen_at" doc:"When the first of them came in; null without plays."`
	LastSeen    *time.Time      `json:"last_seen_at"`
	Titles      []assignedTitle `json:"titles" doc:"The first 20, in the order in which they were watched."`
	More        int             `json:"more" doc:"How many titles there are beside them."`
}

// assignedTitle is what is run of one season or film.
type assignedTitle struct {
	Title        string   `json:"title"`
	Season       *int     `json:"season"`
	Plays        int      `json:"plays"`
	FirstEpisode *float64 `json:"first_episode" doc:"The lowest episode number; null for a film."`
	LastEpisode  *float64 `json:"last_episode"`
}

// titlesPreviewed is how many titles a preview of an assignment lists.
const titlesPreviewed = 20

func (as Accounts) registerUnknown(s *server) {
	const tag, path = "Accounts", "/api/unknown-users"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: "list-unknown-users", Tags: []string{tag},
		Summary: "List media-server users without an account", Description: "Those whose plays failed because no enabled account names them, who was heard of last first. Ignored users are not among them.",
	}, func(ctx context.Context, in *PageQuery) (*JSON[Page[unknownUser]], error) {
		users, next, err := as.Engine.Records.Unrouted(ctx, in.seen, in.Limit)
		if err != nil {
			return nil, err
		}
		names := make([]string, len(users))
		for i, u := range users {
			names[i] = u.User
		}
		people, err := as.People.WhoAre(ctx, names)
		page := Page[unknownUser]{Items: []unknownUser{}, NextCursor: cursorOf(next)}
		for _, u := range users {
			page.Items = append(page.Items, unknownUser{u.User, people[u.User].ID, u.Count, u.First, u.Newest.CreatedAt, u.Sources, u.Newest.ID, u.Newest.Title})
		}
		return answer(page, err)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: path + "/preview", OperationID: "preview-assign-user", Tags: []string{tag},
		Summary:     "Preview what happens when a user is assigned to an account",
		Description: "What waits of the user, and on whose list it would be marked. Bangumi is not asked, and nothing is written.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *struct {
		Name      string `query:"name" required:"true" minLength:"1" maxLength:"500" doc:"The user." example:"Mira TV"`
		AccountID int64  `query:"account_id" required:"true" minimum:"1" doc:"The account." example:"1"`
	}) (*JSON[assignmentPreview], error) {
		a, err := as.Store.Get(ctx, in.AccountID)
		if err != nil {
			return nil, err
		}
		waits, err := as.Engine.Records.UnroutedOf(ctx, in.Name, titlesPreviewed)
		return answer(previewOf(in.Name, a, waits), err)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: path + "/assign", OperationID: "assign-user", Tags: []string{tag},
		Summary: "Assign a media-server user to an account",
		Description: "The account names the user from now on, who becomes one of the person whose account it is. What failed because no account named the user is run again, the oldest first: " +
			"follow the task by its stream, and undo it by its id, after which the user has no account again. 409 for a disabled account, and for a user that is another person.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity},
	}, func(ctx context.Context, in *JSON[userAssignment]) (*JSON[startedTask], error) {
		t, err := as.Engine.AssignUser(ctx, in.Body.Name, in.Body.AccountID)
		if err == nil {
			as.Kick() // marks may have waited for the account
		}
		return started(t, err)
	})
}

func previewOf(user string, a account.Account, waits record.UnroutedOf) assignmentPreview {
	p := assignmentPreview{UserName: user, AccountID: a.ID, AccountName: a.Username, Enabled: a.Enabled, DryRun: a.DryRun, Plays: waits.Plays,
		FirstSeen: orNil(waits.First), LastSeen: orNil(waits.Last), Titles: []assignedTitle{}, More: waits.More}
	for _, t := range waits.Titles {
		p.Titles = append(p.Titles, assignedTitle{t.Title, t.Season, t.Count, t.First, t.Last})
	}
	return p
}
