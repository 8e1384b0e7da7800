package api

import (
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/contrib"
	"watchmark/internal/door/problem"
	"watchmark/internal/source/custom"
)

// published is a file that other programs need to tell what was watched. There is nothing in it that is not in every program, so
// everybody may have it.
type published struct {
	path, id, summary, contentType string
	// name is what a browser saves it as; empty for what it shows.
	name string
	make func() ([]byte, error)
}

var publishedFiles = []published{
	{"/api/custom-event.schema.json", "get-custom-event-schema", "Get the JSON Schema of the custom webhook’s body", "application/schema+json", "", custom.Schema},
	{"/api/kodi-addon.zip", "get-kodi-addon", "Download the add-on for Kodi", "application/zip", "service.watchmark.zip", contrib.KodiAddon},
}

// registerPublished serves the published files.
func (s *server) registerPublished() {
	for _, file := range publishedFiles {
		s.handle(huma.Operation{
			Method: http.MethodGet, Path: file.path, OperationID: file.id, Tags: []string{"Webhooks"}, Summary: file.summary, Security: []map[string][]string{},
			Responses: map[string]*huma.Response{
				"200": {Description: "The file.", Content: map[string]*huma.MediaType{file.contentType: {}}},
				"500": s.response("Internal Server Error", &problem.Document{}),
			},
		}, func(w http.ResponseWriter, _ *http.Request) error {
			content, err := file.make()
			if err != nil {
				return err
			}
			w.Header().Set("Content-Type", file.contentType)
			w.Header().Set("Content-Length", strconv.Itoa(len(content)))
			if file.name != "" {
				w.Header().Set("Content-Disposition", `attachment; filename="`+file.name+`"`)
			}
			_, _ = w.Write(content) // a client that went away needs none
			return nil
		})
	}
}
