package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/door/problem"
	"watchmark/internal/platform/task"
	"watchmark/internal/watch"
)

const archiveTag = "Archive"

// archiveStatus is the state of the archive.
type archiveStatus struct {
	archive.Status
	CurrentProgress orNull[archive.Progress] `json:"current_progress" doc:"How far the import is; null while none runs."`
}

// archiveLog is the log of an import.
type archiveLog struct {
	TaskID int64             `json:"task_id"`
	State  task.State        `json:"state" enum:"running,done,failed,cancelled"`
	Lines  []json.RawMessage `json:"lines" doc:"Each with time, level, msg and more; the newest 256 KiB."`
}

// ArchiveSubject is a subject as the archive tells it.
type ArchiveSubject struct {
	SubjectID catalog.SubjectID   `json:"subject_id"`
	Type      catalog.SubjectType `json:"type" doc:"2 anime, 6 live action."`
	Name      string              `json:"name"`
	NameCN    string              `json:"name_cn"`
	Aliases   []string            `json:"aliases"`
	Date      watch.Date          `json:"date"`
	Platform  string              `json:"platform"`
	Eps       int                 `json:"eps"`
	NSFW      bool                `json:"nsfw"`
}

// archiveHit is a subject that was found by a title.
type archiveHit struct {
	ArchiveSubject
	Score float64     `json:"score" doc:"How alike the title is, a ratio 0 to 1."`
	How   archive.How `json:"how" enum:"equal,begins,alike" doc:"Whether the title is the same, begins with what was looked for, or is similar."`
	By    string      `json:"by" enum:"name,name_cn,alias" doc:"Which of its titles it was found by."`
}

// ArchiveEpisode is a chapter as the archive tells it.
type ArchiveEpisode struct {
	EpisodeID catalog.EpisodeID   `json:"episode_id"`
	SubjectID catalog.SubjectID   `json:"subject_id"`
	Type      catalog.EpisodeType `json:"type" doc:"0 main, 1 special, 2 opening, 3 ending, and others."`
	Sort      float64             `json:"sort"`
	Ep        float64             `json:"ep"`
	Name      string              `json:"name"`
	NameCN    string              `json:"name_cn"`
	AirDate   watch.Date          `json:"air_date"`
}

// archiveDetail is all that the archive holds of a subject.
type archiveDetail struct {
	ArchiveSubject
	Episodes  []ArchiveEpisode  `json:"episodes"`
	Relations []archiveRelation `json:"relations"`
	Seasons   []ArchiveSubject  `json:"seasons" doc:"What prequels and sequels lead to, the entry among them, by date."`
}

// archiveRelation is a neighbour of a subject.
type archiveRelation struct {
	SubjectID catalog.SubjectID   `json:"subject_id"`
	Type      catalog.SubjectType `json:"type"`
	Name      string              `json:"name"`
	NameCN    string              `json:"name_cn"`
	Relation  string              `json:"relation" doc:"What the neighbour is to the entry, in Bangumi's words." example:"续集"`
}

// archiveAiring is an episode with its subject's titles.
type archiveAiring struct {
	ArchiveEpisode
	SubjectName   string `json:"subject_name"`
	SubjectNameCN string `json:"subject_name_cn"`
}

// Archive is the local copy of the catalog: its imports, and what it holds.
type Archive struct {
	Archive  *archive.Archive
	Importer *archive.Importer
	Tasks    *task.Registry
}

func (a Archive) register(s *server) {
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/catalog_archive/status", OperationID: "get-archive-status", Tags: []string{archiveTag},
		Summary: "Get the state of the offline data",
	}, func(context.Context, *none) (*JSON[archiveStatus], error) {
		status := a.Importer.Status()
		return answer(archiveStatus{status, orNull[archive.Progress]{status.CurrentProgress}}, nil)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/catalog_archive/trigger", OperationID: "update-archive", Tags: []string{archiveTag},
		Summary: "Import the newest dump",
		Description: "Starts a task, or answers the one that runs already; /api/catalog_archive/progress follows it, too. " +
			"When the newest dump is in use, there is nothing to do unless force is set.",
		DefaultStatus: http.StatusAccepted,
	}, func(ctx context.Context, in *struct {
		Force bool `query:"force" doc:"Import the newest dump even if it is in use already."`
	}) (*JSON[startedTask], error) {
		return started(a.Importer.Update(ctx, in.Force))
	})
	registerOther(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/catalog_archive/cancel", OperationID: "cancel-archive-import", Tags: []string{archiveTag},
		Summary: "Cancel the import", DefaultStatus: http.StatusAccepted,
		Description: "The archive in use stays; a download goes on where it was at the next import.",
		Errors:      []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, _ *none) (*none, error) {
		t, err := a.Tasks.NewestHere(ctx, archive.TaskKind)
		if err != nil {
			return nil, err
		}
		return nil, a.Tasks.Cancel(ctx, t.ID)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/catalog_archive/progress_log", OperationID: "get-archive-log", Tags: []string{archiveTag},
		Summary: "Get the log of an import", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *struct {
		TaskID int64 `query:"task_id" minimum:"0" doc:"The task; 0 is the newest import."`
	}) (*JSON[archiveLog], error) {
		t, err := a.task(ctx, in.TaskID)
		if err != nil {
			return nil, err
		}
		lines, _ := t.After(0)
		log := archiveLog{TaskID: t.Status().ID, State: t.Status().State, Lines: make([]json.RawMessage, 0, len(lines))}
		for _, line := range lines {
			log.Lines = append(log.Lines, json.RawMessage(line.Text))
		}
		return answer(log, nil)
	})
	s.stream("/api/catalog_archive/progress", "stream-archive-import", archiveTag, "Follow an import",
		"Server-sent events until the import ends: log (a line of its log), progress and result (the task).", taskInQuery, a.task)
	a.registerLookUps(s)
	a.registerUpload(s)
}

// task is an import by its id, or the newest one.
func (a Archive) task(ctx context.Context, id int64) (*task.Task, error) {
	if id == 0 {
		newest, err := a.Tasks.NewestHere(ctx, archive.TaskKind)
		if err != nil {
			return nil, err
		}
		id = newest.ID
	}
	t, err := a.Tasks.Get(ctx, id)
	if err == nil && t.Status().Kind != archive.TaskKind {
		err = task.ErrNotFound
	}
	return t, err
}

func (a Archive) registerLookUps(s *server) {
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/catalog_archive/search", OperationID: "search-archive", Tags: []string{archiveTag},
		Summary:     "Find titles in the offline data",
		Description: "Equal titles first, then those that begin with the text; when none is equal, those that are similar too.",
		Errors:      []int{http.StatusConflict},
	}, func(ctx context.Context, in *struct {
		Text  string `query:"q" required:"true" minLength:"1" maxLength:"500" doc:"The title."`
		Type  string `query:"type" enum:"anime,real" doc:"Only anime, or only live action."`
		Limit int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"How many entries to answer at most."`
	}) (*JSON[Page[archiveHit]], error) {
		found, err := a.Archive.Find(ctx, archive.Query{Text: in.Text, Types: typesOf(in.Type), Limit: in.Limit})
		page := Page[archiveHit]{Items: []archiveHit{}}
		for _, f := range found {
			page.Items = append(page.Items, archiveHit{archiveSubject(f.Subject), f.Likeness, f.How, f.By()})
		}
		return answer(page, err)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/catalog_archive/subjects/{id}", OperationID: "get-archive-subject", Tags: []string{archiveTag},
		Summary: "Get an entry from the offline data", Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, in *ByID) (*JSON[archiveDetail], error) {
		return answer(a.detail(ctx, catalog.SubjectID(in.ID)))
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/catalog_archive/airing", OperationID: "list-airing", Tags: []string{archiveTag},
		Summary: "List the episodes that air in some days", Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, in *struct {
		From string `query:"from" required:"true" format:"date" doc:"The first day, such as 2026-01-05." example:"2026-01-05"`
		To   string `query:"to" format:"date" doc:"The last day; left out it is the first. At most 31 days after it." example:"2026-01-11"`
	}) (*JSON[Page[archiveAiring]], error) {
		from, to := watch.ParseDate(in.From), watch.ParseDate(in.To)
		if in.To == "" {
			to = from
		}
		if days, ok := to.DaysFrom(from); !ok || days < 0 || days > 31 {
			return nil, fieldProblem("query.to", badDays)
		}
		list, err := a.Archive.Airing(ctx, from, to, nil)
		page := Page[archiveAiring]{Items: []archiveAiring{}}
		for _, one := range list {
			page.Items = append(page.Items, archiveAiring{archiveEpisode(one.Episode), one.Subject.Name, one.Subject.NameCN})
		}
		return answer(page, err)
	})
}

func (a Archive) detail(ctx context.Context, id catalog.SubjectID) (archiveDetail, error) {
	subject, err := a.Archive.Subject(ctx, id)
	if err != nil {
		return archiveDetail{}, archiveMiss(err)
	}
	d := archiveDetail{ArchiveSubject: archiveSubject(subject), Episodes: []ArchiveEpisode{}, Relations: []archiveRelation{}, Seasons: []ArchiveSubject{}}
	episodes, err := a.Archive.Episodes(ctx, id)
	if err != nil {
		return d, archiveMiss(err)
	}
	for _, e := range episodes {
		d.Episodes = append(d.Episodes, archiveEpisode(e))
	}
	relations, err := a.Archive.Relations(ctx, id)
	if err != nil {
		return d, archiveMiss(err)
	}
	for _, r := range relations {
		d.Relations = append(d.Relations, archiveRelation{r.ID, r.Type, r.Name, r.NameCN, r.Label})
	}
	chain, err := a.Archive.Chain(ctx, id)
	if err != nil {
		return d, archiveMiss(err)
	}
	for _, season := range chain {
		d.Seasons = append(d.Seasons, archiveSubject(season))
	}
	return d, nil
}

// archiveMiss makes "not in the archive" a 404.
func archiveMiss(err error) error {
	if errors.Is(err, catalog.ErrNotFound) {
		return notArchive
	}
	return err
}

func archiveSubject(s catalog.Subject) ArchiveSubject {
	if s.Aliases == nil {
		s.Aliases = []string{}
	}
	return ArchiveSubject{s.ID, s.Type, s.Name, s.NameCN, s.Aliases, s.Date, s.Platform, s.Eps, s.NSFW}
}

func archiveEpisode(e catalog.EpisodeInfo) ArchiveEpisode {
	return ArchiveEpisode{e.ID, e.Subject, e.Type, e.Sort, e.Ep, e.Name, e.NameCN, e.AirDate}
}

// registerUpload registers the upload of a dump, which huma does not do.
func (a Archive) registerUpload(s *server) {
	var one sync.Mutex // at a time
	binary := map[string]*huma.MediaType{"application/zip": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
	s.handle(huma.Operation{
		Method: http.MethodPost, Path: "/api/catalog_archive/import_local", OperationID: "upload-archive", Tags: []string{archiveTag}, Summary: "Import a dump from a file",
		Description: fmt.Sprintf("The body is the zip itself, or a form with it as a file. It may have %d MiB. Starts a task.", archive.MaxDump>>20),
		Parameters: []*huma.Param{{Name: "force", In: "query", Schema: &huma.Schema{Type: huma.TypeBoolean},
			Description: "Import it even if it holds much less than the archive in use."}},
		RequestBody: &huma.RequestBody{Required: true, Content: binary},
		Responses: map[string]*huma.Response{
			"202": s.response("Accepted", startedTask{}),
			"400": s.response("Bad Request", &problem.Document{}),
			"401": s.response("Unauthorized", &problem.Document{}),
			"403": s.response("Forbidden", &problem.Document{}),
			"409": s.response("Conflict", &problem.Document{}),
			"413": s.response("Request Entity Too Large", &problem.Document{}),
			"415": s.response("Unsupported Media Type", &problem.Document{}),
			"507": s.response("Insufficient Storage", &problem.Document{}),
		},
	}, func(w http.ResponseWriter, r *http.Request) error {
		if !one.TryLock() {
			return uploading
		}
		defer one.Unlock()
		id, err := a.upload(w, r)
		if err == nil {
			writeJSON(w, http.StatusAccepted, startedTask{id})
		}
		return err
	})
}

// upload takes the zip in a request into a file and starts its import.
func (a Archive) upload(w http.ResponseWriter, r *http.Request) (taskID int64, err error) {
	if a.Importer.Status().ImportInProgress {
		return 0, archive.ErrBusy
	}
	body, err := fileIn(w, r, archive.MaxDump, zipTypes, noZip)
	if err != nil {
		return 0, err
	}
	file, err := a.Importer.NewUpload()
	if err != nil {
		return 0, err
	}
	if err := receive(file, body, dumpLarge.With(archive.MaxDump>>20)); err != nil {
		a.Importer.Discard(file)
		return 0, err
	}
	t, err := a.Importer.ImportFile(r.Context(), file, r.URL.Query().Get("force") == "true")
	if err != nil {
		return 0, err
	}
	return t.Status().ID, nil
}
