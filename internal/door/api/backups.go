package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/door/auth"
	"watchmark/internal/upkeep/backup"
)

const backupsTag = "Backups"

func (s *server) registerBackups() {
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/backups", OperationID: "list-backups", Tags: []string{backupsTag},
		Summary: "List backups", Description: "Those in the folder of backup.dir, and when the next one is made. A backup is put back by the command watchmark restore FILE, while the service is stopped.",
	}, func(context.Context, *none) (*JSON[backup.Status], error) { return answer(s.Backups.Status(), nil) })
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/backups", OperationID: "make-backup", Tags: []string{backupsTag},
		Summary: "Make a backup now", Description: "Starts a task. The oldest backup is removed when there are more than backup.keep.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusConflict},
	}, func(context.Context, *none) (*JSON[startedTask], error) { return started(s.Backups.Start()) })
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: "/api/backups/{name}", OperationID: "delete-backup", Tags: []string{backupsTag},
		Summary: "Delete a backup", Errors: []int{http.StatusNotFound},
	}, func(_ context.Context, in *backupName) (*none, error) { return nil, s.Backups.Delete(in.Name) })
	s.registerBackupDownload()
}

// backupName is an input that names a backup.
type backupName struct {
	Name string `path:"name" maxLength:"100" doc:"The name of the file." example:"watchmark-20260314-041700.backup"`
}

// registerBackupDownload registers the download, which goes beside huma: it is a file of any size.
func (s *server) registerBackupDownload() {
	const path = "/api/backups/{name}"
	s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
		if err := s.sendBackup(w, r); err != nil {
			s.problemOf(r.Context(), "GET "+path, err).write(w)
		}
	})
	s.api.OpenAPI().AddOperation(&huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: "download-backup", Tags: []string{backupsTag}, Summary: "Download a backup",
		Description: "Whoever has the file has the tokens of all accounts. It is refused while the service asks nobody for a login.",
		Parameters: []*huma.Param{{Name: "name", In: "path", Required: true, Description: "The name of the file.",
			Example: "watchmark-20260314-041700.backup", Schema: &huma.Schema{Type: huma.TypeString}}},
		Responses: map[string]*huma.Response{
			"200": {Description: "The file.", Content: map[string]*huma.MediaType{"application/octet-stream": {}}},
			"401": s.response("Unauthorized", &Problem{}),
			"403": s.response("Forbidden", &Problem{}),
			"404": s.response("Not Found", &Problem{}),
			"500": s.response("Internal Server Error", &Problem{}),
		},
	})
}

// sendBackup answers a backup as a file to keep.
func (s *server) sendBackup(w http.ResponseWriter, r *http.Request) error {
	if who, _ := auth.IdentityOf(r.Context()); who.Kind == auth.Open {
		return problem(http.StatusForbidden, "A backup holds the tokens of all accounts, and this service asks nobody for a login: turn auth.enabled on, or take the file from its folder.")
	}
	file, err := s.Backups.Open(r.PathValue("name"))
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
