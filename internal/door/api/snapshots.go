package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/door/access"
	"watchmark/internal/door/problem"
	"watchmark/internal/platform/reason"
	"watchmark/internal/upkeep/snapshot"
)

// Snapshots keeps the lists of people.
type Snapshots struct {
	Service  *snapshot.Service
	Accounts *account.Store
	Watches  Watches
}

// SnapshotList is the snapshots of an account.
type SnapshotList struct {
	Items []snapshot.Snapshot `json:"items"`
}

// EntryHistory is the versions of an entry.
type EntryHistory struct {
	Items []snapshot.Version `json:"items"`
}

func (a Snapshots) register(s *server) {
	const tag = "Snapshots"
	s.owned[access.Snapshot] = func(ctx context.Context, id int64) error {
		_, err := a.Service.Get(ctx, id)
		return err
	}
	s.owned[access.Restore] = func(ctx context.Context, id int64) error { return a.Service.IsRestore(ctx, id) }
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/accounts/{id}/snapshots", OperationID: "take-snapshot", Tags: []string{tag}, Summary: "Read the list of an account and keep it",
		Description:   "Starts a task that reads the whole list, and the marks of the entries that have changed since the snapshot before; once in 30 days all marks. A reading that was cut off goes on where it was. The result of the task is the snapshot.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, in *ByID) (*JSON[startedTask], error) {
		return started(a.Service.Take(ctx, in.ID))
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/accounts/{id}/snapshots", OperationID: "list-snapshots", Tags: []string{tag}, Summary: "List the snapshots of an account",
		Description: "The newest first.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*JSON[SnapshotList], error) {
		all, err := a.Service.List(ctx, in.ID)
		return answer(SnapshotList{all}, err)
	})
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: "/api/snapshots/{id}", OperationID: "delete-snapshot", Tags: []string{tag}, Summary: "Forget a snapshot",
		Description: "Nothing on Bangumi changes.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*none, error) {
		return nil, a.Service.Delete(ctx, in.ID)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/snapshots/{id}/diff", OperationID: "diff-snapshots", Tags: []string{tag}, Summary: "Tell what has changed between two snapshots",
		Description: "Of the same list; to may be the older one.", Errors: []int{http.StatusNotFound, http.StatusUnprocessableEntity},
	}, func(ctx context.Context, in *struct {
		ByID
		To int64 `query:"to" required:"true" minimum:"1" doc:"The other snapshot."`
	}) (*JSON[snapshot.Diff], error) {
		return answer(a.Service.Diff(ctx, in.ID, in.To))
	})
	s.orNull("Change", "before", "after")
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/accounts/{id}/entries/{subject_id}", OperationID: "get-entry-history", Tags: []string{tag}, Summary: "Tell how an entry came to be what it is",
		Description: "Its versions in the snapshots, the newest first.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *struct {
		ByID
		SubjectID int `path:"subject_id" minimum:"1" doc:"Of the entry, on Bangumi."`
	}) (*JSON[EntryHistory], error) {
		all, err := a.Service.History(ctx, in.ID, catalog.SubjectID(in.SubjectID))
		return answer(EntryHistory{all}, err)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/snapshots/{id}/restore", OperationID: "restore-snapshot", Tags: []string{tag}, Summary: "Bring a list back",
		Description: "Starts a task that makes entries on Bangumi what they are in the snapshot; with dry_run one that says what it would write. It reads the list first, and keeps that as a snapshot. " +
			"It never removes an entry, and takes away marks, ratings, states and text of those in lower alone. Others are not told of entries; marks are told once for each entry and state, as lines says. " +
			"Restarting the service does not end it: it goes on under the same id. The result of the task has what became of each entry, and why something is not brought back.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, in *struct {
		ByID
		Body struct {
			Entries *[]catalog.SubjectID `json:"entries,omitempty" maxItems:"50000" doc:"Subjects of the entries to bring back; null or left out is all."`
			Lower   []catalog.SubjectID  `json:"lower,omitempty" maxItems:"50000" doc:"Subjects of the entries of which something may be taken away: marks that the snapshot does not have, a higher rating, a state further on, a comment or tags where it has none."`
			DryRun  bool                 `json:"dry_run,omitempty" doc:"Only say what would be written."`
		}
	}) (*JSON[startedTask], error) {
		req := snapshot.RestoreRequest{Lower: in.Body.Lower, DryRun: in.Body.DryRun}
		if in.Body.Entries != nil {
			req.Entries = append([]catalog.SubjectID{}, *in.Body.Entries...)
		}
		return started(a.Service.Restore(ctx, in.ID, req))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/restores/{id}/undo", OperationID: "undo-restore", Tags: []string{tag}, Summary: "Take a restore back",
		Description:   "Starts a task that makes entries what they were before the task with this id brought them back, as far as nobody changed them since. An entry that was put on the list is dropped and hidden: Bangumi lets no program remove it.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, in *struct {
		ByID
		Body struct {
			DryRun bool `json:"dry_run,omitempty" doc:"Only say what would be written."`
		}
	}) (*JSON[startedTask], error) {
		return started(a.Service.UndoRestore(ctx, in.ID, in.Body.DryRun))
	})
	a.registerExport(s, tag)
	a.registerImport(s, tag)
}

// registerImport registers what huma would keep in memory.
func (a Snapshots) registerImport(s *server, tag string) {
	var one uploads
	responses := map[string]*huma.Response{"202": s.response("Accepted", startedTask{})}
	for _, status := range []int{400, 401, 403, 404, 409, 413, 415, 422} {
		responses[strconv.Itoa(status)] = s.response(http.StatusText(status), &problem.Document{})
	}
	s.handle(huma.Operation{
		Method: http.MethodPost, Path: "/api/accounts/{id}/snapshots/import", OperationID: "import-snapshot", Tags: []string{tag}, Summary: "Bring a list in that was taken out",
		Description: fmt.Sprintf("The body is the JSON that export gave, or a form with it; it may have %d MiB. It becomes a snapshot of the account, which can be compared and brought back as any other; nothing on Bangumi changes. "+
			"Starts a task, whose result is the snapshot. 409 for the list of another account, unless other_account says so.", snapshot.MaxFile>>20),
		Parameters: []*huma.Param{
			{Name: "id", In: "path", Required: true, Description: "Of the account.", Schema: &huma.Schema{Type: huma.TypeInteger}},
			{Name: "other_account", In: "query", Description: "The file may be the list of another account.", Schema: &huma.Schema{Type: huma.TypeBoolean}},
		},
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject}}}},
		Responses:   responses,
	}, func(w http.ResponseWriter, r *http.Request) error {
		done, first := one.begin(r)
		if !first {
			return uploading
		}
		defer done()
		id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64) // what is no number is no account
		if _, err := a.Accounts.Get(r.Context(), id); err != nil {
			return err
		}
		body, err := fileIn(w, r, snapshot.MaxFile, []string{"application/json", "application/octet-stream"}, noImport)
		if err != nil {
			return err
		}
		file, err := snapshot.ReadFile(body)
		if err != nil {
			_, _ = io.Copy(io.Discard, body) // a caller that still sends would lose the answer
		}
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return problem.With(http.StatusRequestEntityTooLarge, importLarge.With(snapshot.MaxFile>>20))
		}
		if err != nil {
			return err
		}
		t, err := a.Service.BringIn(r.Context(), id, file, r.URL.Query().Get("other_account") == "true")
		if err != nil {
			return err
		}
		writeJSON(w, http.StatusAccepted, startedTask{t.Status().ID})
		return nil
	})
}

// registerExport registers what huma would keep in memory.
func (a Snapshots) registerExport(s *server, tag string) {
	responses := map[string]*huma.Response{"200": {Description: "The list", Content: map[string]*huma.MediaType{}}}
	for _, kind := range snapshot.Types {
		schema := &huma.Schema{Type: huma.TypeString}
		if kind == snapshot.Types[snapshot.JSON] {
			schema = &huma.Schema{Type: huma.TypeObject}
		}
		responses["200"].Content[kind] = &huma.MediaType{Schema: schema}
	}
	for _, status := range []int{401, 403, 404, 409, 422, 500} {
		responses[strconv.Itoa(status)] = s.response(http.StatusText(status), &problem.Document{})
	}
	s.handle(huma.Operation{
		Method: http.MethodGet, Path: "/api/accounts/{id}/export", OperationID: "export-list", Tags: []string{tag}, Summary: "Take a list out, or what is known of the person's watches",
		Description: "The list as it is in the newest snapshot, or in one of its snapshots: as JSON with all that is kept (/docs/lists), as CSV for people, or as the XML of MyAnimeList with the anime that it has. Take a snapshot first. " +
			"watches is all that this service knows of what the person has watched, as JSON: every record of the account with its event, the mappings and blocked titles that decided about them, and the answers to what they asked.",
		Parameters: []*huma.Param{
			{Name: "id", In: "path", Required: true, Description: "Of the account.", Schema: &huma.Schema{Type: huma.TypeInteger}},
			{Name: "format", In: "query", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"json", "csv", "mal", watchesFormat}}, Description: "Left out it is json."},
			{Name: "snapshot", In: "query", Schema: &huma.Schema{Type: huma.TypeInteger}, Description: "Left out it is the newest."},
		},
		Responses: responses,
	}, a.export)
}

func (a Snapshots) export(w http.ResponseWriter, r *http.Request) error {
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64) // what is no number is no account
	by, err := a.Accounts.Get(r.Context(), id)
	if err != nil {
		return err
	}
	asked := r.URL.Query()
	if asked.Get("format") == watchesFormat {
		asFile(w, snapshot.Types[snapshot.JSON], "watchmark-watches-"+time.Now().UTC().Format("20060102-150405")+".json")
		return a.Watches.write(r.Context(), by, w)
	}
	format := snapshot.Format(asked.Get("format"))
	if format == "" {
		format = snapshot.JSON
	}
	if snapshot.Types[format] == "" {
		return reason.At("format", wrongExport)
	}
	var s snapshot.Snapshot
	if text := asked.Get("snapshot"); text != "" {
		number, _ := strconv.ParseInt(text, 10, 64)
		if s, err = a.Service.Get(r.Context(), number); err == nil && s.AccountID != id {
			err = snapshot.ErrNotFound
		}
	} else {
		s, err = a.Service.Newest(r.Context(), id)
	}
	if err != nil {
		return err
	}
	asFile(w, snapshot.Types[format], format.FileName(s))
	return a.Service.Export(r.Context(), by, s, format, w)
}

// asFile has browsers keep an answer as a file.
func asFile(w http.ResponseWriter, kind, name string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}
