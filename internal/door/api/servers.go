package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/watcher"
)

// Servers are people's own logins at media servers.
type Servers struct{ Service Logins }

// Logins is what the API asks of them; *watcher.Service is one.
type Logins interface {
	Logins(ctx context.Context) ([]watcher.Login, error)
	Login(ctx context.Context, id int64) (watcher.Login, error)
	Probe(ctx context.Context, address, pin string) (mediaserver.Found, error)
	Add(ctx context.Context, l watcher.NewLogin) (watcher.Login, error)
	SignIn(ctx context.Context, id int64, c watcher.Credentials) (watcher.Login, error)
	Choose(ctx context.Context, id int64, server, person, pin string) (watcher.Login, error)
	Change(ctx context.Context, id int64, c watcher.Change) (watcher.Login, error)
	Remove(ctx context.Context, id int64) error
	Sync(ctx context.Context, id int64) (*task.Task, error)
	Answer(ctx context.Context, id int64, take bool) error
	History(ctx context.Context, id int64, preview bool) (*task.Task, error)
	Seed(ctx context.Context, id int64, r watcher.SeedRequest) (*task.Task, error)
	Undo(ctx context.Context, taskID int64) (*task.Task, error)
}

func (w Servers) register(s *server) {
	const tag = "Servers"
	missing, invalid := http.StatusNotFound, http.StatusUnprocessableEntity
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/servers", OperationID: "list-servers", Tags: []string{tag},
		Summary: "List the logins at media servers", Description: "Asks no server: this is how each login stands.",
	}, func(ctx context.Context, in *PageQuery) (*JSON[Page[watcher.Login]], error) {
		all, err := w.Service.Logins(ctx)
		return paged(*in, all, err)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/servers/probe", OperationID: "probe-server", Tags: []string{tag},
		Summary: "Find out what is at an address",
		Description: "Asks the address which media server it is; no password is needed. An address where none answers is refused with 422. A certificate that no trusted authority has signed is answered " +
			"in certificate_sha256: show it to the person, and send it with the sign-in when the person confirmed it.",
		Errors: []int{invalid},
	}, func(ctx context.Context, in *JSON[serverAddress]) (*JSON[mediaserver.Found], error) {
		return answer(w.Service.Probe(ctx, in.Body.URL, in.Body.Pin))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/servers", OperationID: "add-server", Tags: []string{tag},
		Summary: "Connect a media server with a person's login",
		Description: "Signs in and keeps the token that the server gives, sealed; the password is used and forgotten. What was played before is stored as known and marks nothing. " +
			"A wrong password, an address where nothing or another kind of server answers, and a certificate that was not confirmed are refused with 422 at their field, and nothing is stored. " +
			"Plex, and Jellyfin without a username, answer signed_out with sign_in: show its code and address; the login becomes connected by itself once the person confirmed it there. " +
			"At Plex there may be choices then, see choose. Plex needs no url: one that is given is used instead of the addresses that Plex knows.",
		DefaultStatus: http.StatusCreated, Errors: []int{http.StatusConflict, invalid},
	}, func(ctx context.Context, in *JSON[addedServer]) (*JSON[watcher.Login], error) {
		b := in.Body
		return answer(w.Service.Add(ctx, watcher.NewLogin{
			Kind: mediaserver.Kind(b.Kind), URL: b.URL, Pin: b.Pin, MediaUserName: b.MediaUserName, Credentials: b.credentials(),
		}))
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/servers/{id}", OperationID: "get-server", Tags: []string{tag},
		Summary: "Get a login at a media server", Errors: []int{missing},
	}, func(ctx context.Context, in *ByID) (*JSON[watcher.Login], error) {
		return answer(w.Service.Login(ctx, in.ID))
	})
	register(s, huma.Operation{
		Method: http.MethodPatch, Path: "/api/servers/{id}", OperationID: "change-server", Tags: []string{tag},
		Summary:     "Change a login at a media server",
		Description: "What is left out stays. A changed url must lead to the same server: the sign-in is kept.",
		Errors:      []int{missing, http.StatusConflict, invalid},
	}, func(ctx context.Context, in *struct {
		ByID
		Body serverChange
	}) (*JSON[watcher.Login], error) {
		return answer(w.Service.Change(ctx, in.ID, watcher.Change(in.Body)))
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: "/api/servers/{id}", OperationID: "remove-server", Tags: []string{tag},
		Summary:       "Disconnect a media server",
		Description:   "Signs out at the server, as far as it answers, and forgets the login with what is known of the server. Records and marks stay.",
		DefaultStatus: http.StatusNoContent, Errors: []int{missing},
	}, func(ctx context.Context, in *ByID) (*none, error) {
		return nil, w.Service.Remove(ctx, in.ID)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/servers/{id}/sign-in", OperationID: "sign-in-server", Tags: []string{tag},
		Summary:     "Sign in at a media server again",
		Description: "As when it was added, with the same person at the same server. Without a username it is done by a code, see sign_in of the answer.",
		Errors:      []int{missing, http.StatusConflict, invalid},
	}, func(ctx context.Context, in *struct {
		ByID
		Body SignInAtServer
	}) (*JSON[watcher.Login], error) {
		return answer(w.Service.SignIn(ctx, in.ID, in.Body.credentials()))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/servers/{id}/choose", OperationID: "choose-server", Tags: []string{tag},
		Summary:     "Choose a server and a member at Plex",
		Description: "One of the choices of the login each; without a Plex Home there is no person to choose.",
		Errors:      []int{missing, http.StatusConflict, invalid},
	}, func(ctx context.Context, in *struct {
		ByID
		Body plexChoice
	}) (*JSON[watcher.Login], error) {
		return answer(w.Service.Choose(ctx, in.ID, in.Body.Server, in.Body.Person, in.Body.PIN.Reveal()))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/servers/{id}/sync", OperationID: "sync-server", Tags: []string{tag},
		Summary:       "Catch up with a media server now",
		Description:   "Starts a task that compares everything that the person has played there; what is new becomes records. Its result is last_catch_up of the login.",
		DefaultStatus: http.StatusAccepted, Errors: []int{missing, http.StatusConflict},
	}, func(ctx context.Context, in *ByID) (*JSON[startedTask], error) {
		return started(w.Service.Sync(ctx, in.ID))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/servers/{id}/held", OperationID: "answer-server-held", Tags: []string{tag},
		Summary:     "Say what becomes of plays that came all at once",
		Description: "Either all that are held become records, or all are known from now on and mark nothing.",
		Errors:      []int{missing, http.StatusConflict},
	}, func(ctx context.Context, in *struct {
		ByID
		Body heldAnswer
	}) (*JSON[watcher.Login], error) {
		if err := w.Service.Answer(ctx, in.ID, in.Body.Take); err != nil {
			return nil, err
		}
		return answer(w.Service.Login(ctx, in.ID))
	})
	w.registerHistory(s)
}

// registerHistory adds what brings history from a media server to a list, and from a list to a media server.
func (w Servers) registerHistory(s *server) {
	const tag = "Servers"
	errs := []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity}
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/servers/{id}/history", OperationID: "import-server-history", Tags: []string{tag},
		Summary: "Import what was played before the login was connected",
		Description: "Starts a task. With dry_run nothing is stored or marked: the result lists what would be marked, as that of POST /api/import/preview. " +
			"Without it the result is that of POST /api/import/run.",
		DefaultStatus: http.StatusAccepted, Errors: errs,
	}, func(ctx context.Context, in *struct {
		ByID
		Body historyRequest
	}) (*JSON[startedTask], error) {
		return started(w.Service.History(ctx, in.ID, in.Body.DryRun))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/servers/{id}/seed", OperationID: "seed-server", Tags: []string{tag},
		Summary: "Mark on a media server what an account's list has as watched",
		Description: "Starts a task, for a new server or a new installation. With dry_run nothing is written. The result lists for each show what would change or changed, and what was not found. " +
			"Nothing is un-marked there unless unmark says so. Undo it with POST /api/tasks/{id}/undo.",
		DefaultStatus: http.StatusAccepted, Errors: errs,
	}, func(ctx context.Context, in *struct {
		ByID
		Body seedRequest
	}) (*JSON[startedTask], error) {
		return started(w.Service.Seed(ctx, in.ID, watcher.SeedRequest(in.Body)))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/tasks/{id}/undo", OperationID: "undo-task", Tags: []string{"Tasks"},
		Summary: "Undo a task",
		Description: "Starts a task that restores what the task with the id has written to a media server, as far as nobody changed it there since. " +
			"What tasks of other kinds have written is taken back by POST /api/undo.",
		DefaultStatus: http.StatusAccepted, Errors: errs[:2],
	}, func(ctx context.Context, in *ByID) (*JSON[startedTask], error) {
		return started(w.Service.Undo(ctx, in.ID))
	})
}

// serverAddress is where a media server might be.
type serverAddress struct {
	URL string `json:"url" minLength:"1" maxLength:"2000" doc:"The address as this service reaches it. Scheme and port may be left out: the usual ones are tried." example:"192.168.1.5:8096"`
	Pin string `json:"certificate_sha256,omitempty" maxLength:"200" doc:"SHA-256 of a certificate that the person has confirmed."`
}

// SignInAtServer is what a person signs in with.
type SignInAtServer struct {
	Username string      `json:"username,omitempty" maxLength:"200" doc:"The person's user name there; left out the sign-in is by a code." example:"mira"`
	Password secret.Text `json:"password,omitempty" maxLength:"500" writeOnly:"true" doc:"It is used and forgotten. Some users have none."`
}

func (s SignInAtServer) credentials() watcher.Credentials {
	return watcher.Credentials{Username: s.Username, Password: s.Password}
}

// addedServer is a login to be connected.
type addedServer struct {
	Kind string `json:"kind" enum:"jellyfin,emby,plex,ugreen,zspace,fnos"`
	URL  string `json:"url,omitempty" maxLength:"2000" doc:"The address as this service reaches it; only Plex needs none." example:"192.168.1.5:8096"`
	SignInAtServer
	MediaUserName string `json:"media_user_name,omitempty" maxLength:"500" doc:"The media-server user that records name, and that accounts list; left out it is what the server calls the person." example:"mira"`
	Pin           string `json:"certificate_sha256,omitempty" maxLength:"200" doc:"SHA-256 of a certificate that the person has confirmed."`
}

// serverChange has the fields of a watcher.Change.
type serverChange struct {
	URL           *string   `json:"url,omitempty" maxLength:"2000" doc:"The new address of the same server."`
	Pin           *string   `json:"certificate_sha256,omitempty" maxLength:"200" doc:"SHA-256 of a certificate that the person has confirmed."`
	MediaUserName *string   `json:"media_user_name,omitempty" maxLength:"500" doc:"The media-server user that records name, and that accounts list."`
	Enabled       *bool     `json:"enabled,omitempty" doc:"Whether the server is asked at all."`
	Libraries     *[]string `json:"libraries,omitempty" maxItems:"200" doc:"The ids of the libraries whose plays are taken."`
}

type plexChoice struct {
	Server string      `json:"server" maxLength:"200" doc:"The id of a server."`
	Person string      `json:"person,omitempty" maxLength:"200" doc:"The id of a member of the Plex Home; left out it is who signed in."`
	PIN    secret.Text `json:"pin,omitempty" maxLength:"20" writeOnly:"true" doc:"The PIN of the member, where one is asked for."`
}

type historyRequest struct {
	DryRun bool `json:"dry_run,omitempty" doc:"Only tell what would be marked."`
}

type heldAnswer struct {
	Take bool `json:"take" doc:"Whether they become records; otherwise they are known and mark nothing."`
}

// seedRequest has the fields of a watcher.SeedRequest.
type seedRequest struct {
	AccountID int64 `json:"account_id" minimum:"1" doc:"Whose list is read." example:"1"`
	DryRun    bool  `json:"dry_run,omitempty" doc:"Only tell what would change."`
	Unmark    bool  `json:"unmark,omitempty" doc:"Take marks away at the media server that the list does not have."`
}
