package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog/account"
	"watchmark/internal/door/auth"
	"watchmark/internal/door/problem"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/importer"
	"watchmark/internal/watch"
)

// ImportServer is where a media server is and what opens it.
type ImportServer struct {
	Source string      `json:"source" enum:"plex,emby,jellyfin"`
	URL    string      `json:"url" maxLength:"2000" doc:"The address of the server as this service reaches it, with scheme and port."`
	Token  secret.Text `json:"token" maxLength:"500" writeOnly:"true" doc:"The token of the owner (Plex), or an API key (Emby, Jellyfin). It is not stored."`
}

func (s ImportServer) address() importer.Address {
	return importer.Address{Source: watch.Source(s.Source), URL: s.URL, Token: s.Token}
}

// importChoice is whose history of which server is meant.
type importChoice struct {
	ImportServer
	User      string   `json:"user,omitempty" maxLength:"500" doc:"Whose history, by id or name; left out it is the only user."`
	Libraries []string `json:"libraries,omitempty" maxItems:"200" nullable:"false" doc:"Only these libraries, by id or name; left out it is all that may hold episodes or films."`
}

// Import takes in what media servers remember, and what files hold.
type Import struct {
	Importer *importer.Importer
	Accounts *account.Store
	People   *auth.Store
}

func (i Import) register(s *server) {
	const tag = "Import"
	errs := []int{http.StatusConflict, http.StatusUnprocessableEntity}
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/import/server", OperationID: "get-import-server", Tags: []string{tag},
		Summary:     "Get the users and libraries of a media server",
		Description: "Asks the server, so that a person can choose whose history to import.",
		Errors:      errs[1:],
	}, func(ctx context.Context, in *JSON[ImportServer]) (*JSON[importer.About], error) {
		return answer(i.Importer.About(ctx, in.Body.address()))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/import/preview", OperationID: "preview-import", Tags: []string{tag},
		Summary: "Tell what an import would mark",
		Description: "Starts a task that reads what a user of a media server has watched and looks everything up; nothing is stored or marked. The result of the task has a table: " +
			"for each season or film, which episodes would be marked, are on the list already, would be asked about or cannot be found, and why.",
		DefaultStatus: http.StatusAccepted, Errors: errs,
	}, func(ctx context.Context, in *JSON[importChoice]) (*JSON[task.Status], error) {
		return statusOf(i.Importer.Preview(ctx, in.Body.address(), in.Body.choice()))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/import/run", OperationID: "run-import", Tags: []string{tag},
		Summary: "Import what a user has watched",
		Description: "Starts a task that takes in what a user of a media server has watched and was not imported before, and waits for what becomes of it. " +
			"Cancelling it keeps what was taken in; running it again goes on where it stopped.",
		DefaultStatus: http.StatusAccepted, Errors: errs,
	}, func(ctx context.Context, in *JSON[importChoice]) (*JSON[task.Status], error) {
		return statusOf(i.Importer.Run(ctx, in.Body.address(), in.Body.choice()))
	})
	i.registerFile(s, tag)
}

// registerFile registers the import of a file, whose body huma would keep in memory.
func (i Import) registerFile(s *server, tag string) {
	var one uploads
	param := func(name, about string, schema *huma.Schema) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: about, Schema: schema}
	}
	format := param("format", "What the file is.", &huma.Schema{Type: huma.TypeString, Enum: []any{"trakt", "simkl", "mal"}})
	format.Required = true
	responses := map[string]*huma.Response{"202": s.response("Accepted", startedTask{})}
	for _, status := range []int{400, 401, 403, 409, 413, 415, 422, 507} {
		responses[strconv.Itoa(status)] = s.response(http.StatusText(status), &problem.Document{})
	}
	s.handle(huma.Operation{
		Method: http.MethodPost, Path: "/api/import/file", OperationID: "import-file", Tags: []string{tag}, Summary: "Import a file of Trakt, Simkl or MyAnimeList",
		Description: fmt.Sprintf("The body is the file itself, or a form with it: the zip of Trakt's export (or one watched-history.json of it), Simkl's backup (zip or JSON), or the XML of MyAnimeList (with or without gzip). "+
			"It may have %d MiB, is read whole before anything is taken in, and is not kept. Starts a task that ends as that of an import, or with dry_run as that of a preview; nothing is imported twice.", importer.MaxFile>>20),
		Parameters: []*huma.Param{
			format,
			param("dry_run", "Only tell what the import would mark.", &huma.Schema{Type: huma.TypeBoolean}),
			param("user", "The media-server user whose plays they become; left out it is the first one of the preferred account. A person names one of their own.", &huma.Schema{Type: huma.TypeString}),
		},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}},
		Responses:   responses,
	}, func(w http.ResponseWriter, r *http.Request) error {
		done, first := one.begin(r)
		if !first {
			return uploading
		}
		defer done()
		id, err := i.file(w, r)
		if err == nil {
			writeJSON(w, http.StatusAccepted, startedTask{id})
		}
		return err
	})
}

// file takes the file in a request and starts its import.
func (i Import) file(w http.ResponseWriter, r *http.Request) (taskID int64, err error) {
	asked := r.URL.Query()
	user, err := i.user(r.Context(), asked.Get("user"))
	if err != nil {
		return 0, err
	}
	body, err := fileIn(w, r, importer.MaxFile, append(zipTypes, "application/gzip", "application/x-gzip", "application/json", "application/xml", "text/xml", "text/plain"), noImport)
	if err != nil {
		return 0, err
	}
	file, err := i.Importer.NewFile()
	if err != nil {
		return 0, err
	}
	if err := receive(file, body, importLarge.With(importer.MaxFile>>20)); err != nil {
		importer.Discard(file)
		return 0, err
	}
	t, err := i.Importer.RunFile(r.Context(), file, importer.Format(asked.Get("format")), user, asked.Get("dry_run") == "true")
	if err != nil {
		return 0, err
	}
	return t.Status().ID, nil
}

// user is the media-server user whose plays a file becomes: the one that is named, else the first one of the preferred account. A person
// names one that the owner said they are, so that what was imported for one is never that of another.
func (i Import) user(ctx context.Context, named string) (string, error) {
	person, is := personOf(ctx)
	if named != "" && !is {
		return named, nil
	}
	names := []string{named}
	if named == "" {
		a, err := i.Accounts.Preferred(ctx)
		if err != nil && !errors.Is(err, account.ErrNotFound) {
			return "", err
		}
		names = a.MediaUserNames
	}
	if is {
		who, err := i.People.Person(ctx, person)
		if err != nil {
			return "", err
		}
		names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(who.MediaUserNames, name) })
	}
	switch {
	case len(names) > 0:
		return names[0], nil
	case named != "":
		return "", reason.At("user", foreignMediaUser.With(named))
	case is:
		return "", reason.At("user", noOwnImportUser)
	}
	return "", reason.At("user", noImportUser)
}

func (c importChoice) choice() importer.Choice {
	return importer.Choice{User: c.User, Libraries: c.Libraries}
}
