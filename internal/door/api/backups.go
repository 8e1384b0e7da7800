package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/auth"
	"watchmark/internal/door/problem"
	"watchmark/internal/upkeep/backup"
)

const backupsTag = "Backups"

// Backups are the copies of everything that cannot be made anew.
type Backups struct{ Service *backup.Service }

func (b Backups) register(s *server) {
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/backups", OperationID: "list-backups", Tags: []string{backupsTag},
		Summary: "List backups", Description: "Those in the folder of backup.dir, and when the next one is made. A backup is put back by the command watchmark restore FILE, while the service is stopped.",
	}, func(context.Context, *none) (*JSON[backup.Status], error) { return answer(b.Service.Status(), nil) })
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/backups", OperationID: "make-backup", Tags: []string{backupsTag},
		Summary: "Make a backup now", Description: "Starts a task. The oldest backup is removed when there are more than backup.keep.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, _ *none) (*JSON[startedTask], error) { return started(b.Service.Start(ctx)) })
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: "/api/backups/{name}", OperationID: "delete-backup", Tags: []string{backupsTag},
		Summary: "Delete a backup", Errors: []int{http.StatusNotFound},
	}, func(_ context.Context, in *backupName) (*none, error) { return nil, b.Service.Delete(in.Name) })
	// A file of any size.
	s.handle(huma.Operation{
		Method: http.MethodGet, Path: "/api/backups/{name}", OperationID: "download-backup", Tags: []string{backupsTag}, Summary: "Download a backup",
		Description: "Whoever has the file has the tokens of all accounts. It is refused while the service asks nobody for a login.",
		Parameters: []*huma.Param{{Name: "name", In: "path", Required: true, Description: "The name of the file.",
			Example: "watchmark-20260314-041700.backup", Schema: &huma.Schema{Type: huma.TypeString}}},
		Responses: map[string]*huma.Response{
			"200": {Description: "The file.", Content: map[string]*huma.MediaType{"application/octet-stream": {}}},
			"401": s.response("Unauthorized", &problem.Document{}),
			"403": s.response("Forbidden", &problem.Document{}),
			"404": s.response("Not Found", &problem.Document{}),
			"500": s.response("Internal Server Error", &problem.Document{}),
		},
	}, b.send)
}

// backupName is an input that names a backup.
type backupName struct {
	Name string `path:"name" maxLength:"100" doc:"The name of the file." example:"watchmark-20260314-041700.backup"`
}

// send answers a backup as a file to keep.
func (b Backups) send(w http.ResponseWriter, r *http.Request) error {
	if who, _ := auth.IdentityOf(r.Context()); who.Kind == auth.Open {
		return backupWithout
	}
	file, err := b.Service.Open(r.PathValue("name"))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="`+r.PathValue("name")+`"`) // a name that Open knows needs no escaping
	http.ServeContent(w, r, "", info.ModTime(), file)
	return nil
}
