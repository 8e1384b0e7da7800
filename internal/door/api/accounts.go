package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/door/access"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/problem"
	"watchmark/internal/engine"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/secret"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/word"
)

// accountInput is a new account.
type accountInput struct {
	Username       string                     `json:"username" doc:"Bangumi's user name, as it stands in the address of the person's page." example:"mira"`
	AccessToken    secret.Text                `json:"access_token,omitempty" writeOnly:"true" doc:"A token made on Bangumi's website. Leave it out to connect by OAuth. It is never answered." example:"paste-the-token-here"`
	MediaUserNames []string                   `json:"media_user_names,omitempty" doc:"The media-server users whose events go to this account; compared exactly, case and spaces included." example:"[\"mira\",\"Mira TV\"]"`
	Enabled        *bool                      `json:"enabled,omitempty" doc:"Whether events are marked; true when left out."`
	Preferred      bool                       `json:"preferred,omitempty" doc:"Whether test runs for unknown users use it. The first account always is preferred."`
	Private        bool                       `json:"private,omitempty" doc:"Whether new entries of the list are visible to their owner only."`
	CompleteSeries bool                       `json:"complete_series,omitempty" doc:"Whether a series is set to done when every main episode is marked."`
	CompleteFilms  *bool                      `json:"complete_films,omitempty" doc:"The same for films; true when left out."`
	DryRun         bool                       `json:"dry_run,omitempty" doc:"Whether records only say what would have been marked, and nothing is marked."`
	Adult          ownRule[account.Adult]     `json:"adult,omitzero" enum:"mark,private,skip," doc:"What is done with adult titles; null or empty is as the setting sync.adult says."`
	Unwatched      ownRule[account.Unwatched] `json:"unwatched,omitzero" enum:"ignore,take_back,ask," doc:"What is done when something was set back to unwatched on a media server; null or empty is as the setting sync.unwatched says."`
	Rewatch        ownRule[account.Rewatch]   `json:"rewatch,omitzero" enum:"ignore,note,doing," doc:"What is done when an episode that is marked already is watched once more; null or empty is as the setting sync.rewatch says."`
}

// accountChange is a change of an account. What is left out stays.
type accountChange struct {
	PersonID       *int64                     `json:"person_id,omitempty" minimum:"0" doc:"Whose account it is: the id of a person, or 0 for the owner. It goes with its records. The owner alone may change it."`
	Username       *string                    `json:"username,omitempty" doc:"Bangumi's user name."`
	AccessToken    *secret.Text               `json:"access_token,omitempty" writeOnly:"true" doc:"A new token; empty removes the one there is."`
	MediaUserNames *[]string                  `json:"media_user_names,omitempty" doc:"The whole new list."`
	Enabled        *bool                      `json:"enabled,omitempty"`
	Private        *bool                      `json:"private,omitempty"`
	CompleteSeries *bool                      `json:"complete_series,omitempty"`
	CompleteFilms  *bool                      `json:"complete_films,omitempty"`
	DryRun         *bool                      `json:"dry_run,omitempty" doc:"Whether records only say what would have been marked, and nothing is marked. Records of a dry run are marked by a retry after it is switched off."`
	Adult          ownRule[account.Adult]     `json:"adult,omitzero" enum:"mark,private,skip," doc:"What is done with adult titles; null or empty is as the setting sync.adult says."`
	Unwatched      ownRule[account.Unwatched] `json:"unwatched,omitzero" enum:"ignore,take_back,ask," doc:"What is done when something was set back to unwatched on a media server; null or empty is as the setting sync.unwatched says."`
	Rewatch        ownRule[account.Rewatch]   `json:"rewatch,omitzero" enum:"ignore,note,doing," doc:"What is done when an episode that is marked already is watched once more; null or empty is as the setting sync.rewatch says."`
}

// ownRule is a rule of an account as a request has it: null says the same as an empty one, and what is left out stays.
type ownRule[R ~string] struct{ to *R }

// UnmarshalJSON takes a text or null.
func (o *ownRule[R]) UnmarshalJSON(text []byte) error {
	o.to = new(R)
	return json.Unmarshal(text, o.to)
}

// Schema describes it.
func (ownRule[R]) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
}

// orEmpty is the rule of a new account.
func (o ownRule[R]) orEmpty() (rule R) {
	if o.to != nil {
		rule = *o.to
	}
	return rule
}

// mediaUserName names a user of a media server.
type mediaUserName struct {
	Name string `json:"name" doc:"As the media server spells it; case and spaces count." example:"Mira TV"`
}

// accountCheck is how asking the catalog with an account's token came out.
type accountCheck struct {
	OK      bool            `json:"ok" doc:"Whether Bangumi accepts the token."`
	Message string          `json:"message" doc:"What is wrong and what to do about it, in plain words." example:"The catalog accepts the token of mira."`
	Value   reason.Reason   `json:"message_value,omitzero" doc:"The same as a value: its code, its arguments, and the text."`
	Account account.Account `json:"account"`
}

// Accounts are whose lists are marked, and the media-server users that are left alone.
type Accounts struct {
	Store *account.Store
	// People are who has an account.
	People interface {
		Person(ctx context.Context, id int64) (auth.Person, error)
		WhoAre(ctx context.Context, users []string) (map[string]auth.Person, error)
	}
	Client interface {
		Check(ctx context.Context, accountID int64) (account.Account, error)
		Whose(ctx context.Context, token secret.Text) (catalog.User, error)
		StartOAuth(ctx context.Context, redirectURI string, accountID int64) (authorizeURL string, err error)
		FinishOAuth(ctx context.Context, state, code string) (account.Account, error)
	}
	Engine  *engine.Engine
	Notices *notify.Notifier
	Words   *word.Service
	Masker  *secret.Masker
	// Kick has the marks that wait sent soon: an account may be back.
	Kick func()
	Log  *slog.Logger
}

func (as Accounts) register(s *server) {
	const tag = "Accounts"
	s.owned[access.Account] = func(ctx context.Context, id int64) error {
		_, err := as.Store.Get(ctx, id)
		return err
	}
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/accounts", OperationID: "list-accounts", Tags: []string{tag},
		Summary: "List accounts", Description: "The Bangumi accounts that the caller may see, the preferred one first.",
	}, func(ctx context.Context, in *struct{ PageQuery }) (*JSON[Page[account.Account]], error) {
		some, err := as.Store.Find(ctx, account.Filter{}, int(in.seen), in.Limit+1)
		page := Page[account.Account]{Items: some[:min(len(some), in.Limit)]}
		if len(some) > in.Limit {
			page.NextCursor = cursorOf(in.seen + int64(in.Limit))
		}
		return answer(page, err)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/accounts", OperationID: "create-account", Tags: []string{tag},
		Summary: "Add an account", Description: "Bangumi is asked whose token it is; what is wrong with it is told in problem. While Bangumi does not answer, the token is kept unchecked. A person adds an account of their own: its token is checked first, and nothing is kept unless Bangumi says that it is theirs; its media-server users are among those that the owner gave to the person, all of them when left out. What these watched while nobody had an account for them, and what the person's players told before, is marked then, as a task that can be undone.",
		DefaultStatus: http.StatusCreated, Errors: []int{http.StatusConflict},
	}, as.createAccount)
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/accounts/{id}", OperationID: "get-account", Tags: []string{tag},
		Summary: "Get an account", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*JSON[account.Account], error) {
		return answer(as.Store.Get(ctx, in.ID))
	})
	register(s, huma.Operation{
		Method: http.MethodPatch, Path: "/api/accounts/{id}", OperationID: "change-account", Tags: []string{tag},
		Summary: "Change an account", Description: "Fields that are left out stay as they are. A new token is checked as that of a new account. A person may not change whose account it is.",
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, as.changeAccount)
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/accounts/{id}/media_user_names", OperationID: "add-media-user-name", Tags: []string{tag},
		Summary: "Add a media-server user to an account", Description: "What this user watches from now on is marked for the account too. Nothing changes when the account names the user already.",
		Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *struct {
		ByID
		JSON[mediaUserName]
	}) (*JSON[account.Account], error) {
		a, err := as.Store.AddUserName(ctx, in.ID, in.Body.Name)
		return as.usable(ctx, a, err)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: "/api/accounts/{id}", OperationID: "delete-account", Tags: []string{tag},
		Summary: "Remove an account", Description: "Its records stay. Marks of it that wait go on waiting, until an enabled account names the same user.",
		Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*none, error) {
		if err := as.Words.Leave(ctx, in.ID); err != nil {
			return nil, err
		}
		return nil, as.Store.Delete(ctx, in.ID)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/accounts/{id}/test", OperationID: "test-account", Tags: []string{tag},
		Summary: "Test an account", Description: "Asks Bangumi whose token it is, and keeps the answer with the account.",
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, as.testAccount)
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/accounts/{id}/activate", OperationID: "activate-account", Tags: []string{tag},
		Summary: "Make an account the preferred one", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*JSON[account.Account], error) {
		if err := as.Store.Prefer(ctx, in.ID); err != nil {
			return nil, err
		}
		return answer(as.Store.Get(ctx, in.ID))
	})
	as.registerOAuth(s)
	as.registerIgnored(s)
	as.registerUnknown(s)
}

func (as Accounts) createAccount(ctx context.Context, in *JSON[accountInput]) (*JSON[account.Account], error) {
	b := in.Body
	method := account.ByToken
	if b.AccessToken == "" {
		method = account.ByOAuth
	}
	as.Masker.Add(b.AccessToken.Reveal())
	var whose catalog.User
	who, is := personOf(ctx)
	if is {
		var err error
		if b.MediaUserNames, err = as.ownNames(ctx, who, b.MediaUserNames, nil); err != nil {
			return nil, err
		}
		if b.Preferred {
			return nil, fieldProblem("body.preferred", auth.OwnerOnly)
		}
		if whose, err = as.proven(ctx, b.AccessToken, b.Username, 0); err != nil {
			return nil, err
		}
		b.Username = whose.Username
	}
	made, err := as.Store.Create(ctx, account.Draft{
		PersonID: who, Username: b.Username, Nickname: whose.Nickname, CatalogUserID: whose.ID, Method: method, Tokens: account.Tokens{Access: b.AccessToken},
		MediaUserNames: b.MediaUserNames, Enabled: orTrue(b.Enabled), Preferred: b.Preferred, Private: b.Private,
		CompleteSeries: b.CompleteSeries, CompleteFilms: orTrue(b.CompleteFilms), DryRun: b.DryRun, Adult: b.Adult.orEmpty(), Unwatched: b.Unwatched.orEmpty(), Rewatch: b.Rewatch.orEmpty(),
	})
	if !is {
		return as.saved(ctx, made, err, b.AccessToken)
	}
	if err == nil && made.Enabled {
		as.markBefore(scope.In(ctx, scope.Everything()), made) // records without an account are the owner's
	}
	return as.usable(ctx, made, err)
}

// markBefore has marked for a new account of a person what the owner said that the person had watched before, and what their players told.
func (as Accounts) markBefore(ctx context.Context, a account.Account) {
	if err := as.Engine.RetryTold(ctx, a.PersonID); err != nil { // the owner sees that these records failed
		as.Log.WarnContext(ctx, "cannot mark what players told before the account was there", "account_id", a.ID, "error", err)
	}
	for _, name := range a.MediaUserNames {
		waiting, err := as.Engine.Records.UnroutedIDs(ctx, name)
		if err == nil && len(waiting) > 0 {
			_, err = as.Engine.AssignUser(ctx, name, a.ID)
		}
		if err != nil { // the owner sees that the user has records that failed
			as.Log.WarnContext(ctx, "cannot mark what was watched before the account was there", "account_id", a.ID, "error", err)
		}
	}
}

func (as Accounts) changeAccount(ctx context.Context, in *struct {
	ByID
	JSON[accountChange]
}) (*JSON[account.Account], error) {
	var given secret.Text
	b := in.Body
	if b.AccessToken != nil {
		given = *b.AccessToken
		as.Masker.Add(given.Reveal())
	}
	if err := as.mayChange(ctx, in.ID, b); err != nil {
		return nil, err
	}
	changed, err := as.Store.Update(ctx, in.ID, account.Change{
		PersonID: b.PersonID, Username: b.Username, AccessToken: b.AccessToken, MediaUserNames: b.MediaUserNames, Enabled: b.Enabled, Private: b.Private,
		CompleteSeries: b.CompleteSeries, CompleteFilms: b.CompleteFilms, DryRun: b.DryRun, Adult: b.Adult.to, Unwatched: b.Unwatched.to, Rewatch: b.Rewatch.to,
	})
	return as.saved(ctx, changed, err, given)
}

// checkTime is how long whoever saves a token waits for the catalog to say whose it is.
const checkTime = 10 * time.Second

// saved answers an account that was stored, with what is wrong with the token that it was given; given is empty when it
// was given none.
func (as Accounts) saved(ctx context.Context, a account.Account, err error, given secret.Text) (*JSON[account.Account], error) {
	if err != nil || given == "" {
		return as.usable(ctx, a, err)
	}
	bounded, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	if _, err := as.Client.Check(bounded, a.ID); err != nil { // the account says why, or is not checked
		as.Log.DebugContext(ctx, "the token of an account that was saved is not confirmed", "account_id", a.ID, "error", err)
	}
	a, err = as.Store.Get(ctx, a.ID)
	return as.usable(ctx, a, err)
}

// usable answers an account that was changed. Marks may have waited for it, and the inbox may say that nobody names its users.
func (as Accounts) usable(ctx context.Context, a account.Account, err error) (*JSON[account.Account], error) {
	as.Kick()
	var over []notify.Notice
	for _, name := range a.MediaUserNames {
		if a.Enabled {
			over = append(over, notify.Notice{Kind: notify.NoAccount, About: name, Over: true})
		}
	}
	if len(over) > 0 {
		as.Notices.Add(ctx, over...)
	}
	return answer(a, err)
}

func (as Accounts) testAccount(ctx context.Context, in *ByID) (*JSON[accountCheck], error) {
	checked, err := as.Client.Check(ctx, in.ID)
	if err == nil {
		accepted := tokenAccepted.With(checked.Username)
		return answer(accountCheck{true, accepted.Text, accepted, checked}, nil)
	}
	var refused *catalog.Error
	switch {
	case errors.As(err, &refused):
		err = catalogProblem(refused)
	case errors.Is(err, account.ErrNoToken):
		err = account.ErrNoToken
	case errors.Is(err, account.ErrOtherUser):
		err = account.ErrOtherUser
	case errors.Is(err, account.ErrTaken):
		err = account.ErrTaken
	default:
		return nil, err
	}
	said := problem.Of(err)
	a, err := as.Store.Get(ctx, in.ID)
	return answer(accountCheck{false, said.Detail, said.Reason, a}, err)
}
