package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

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

// Import takes in what media servers remember.
type Import struct{ Importer *importer.Importer }

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
}

func (c importChoice) choice() importer.Choice {
	return importer.Choice{User: c.User, Libraries: c.Libraries}
}
