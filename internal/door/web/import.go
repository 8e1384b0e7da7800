package web

import (
	"slices"

	"watchmark/internal/catalog/account"
	"watchmark/internal/door/auth"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/source/importer"
	"watchmark/internal/watch"
)

// importPage is the form that imports the history of a media server, with the results of the newest preview and
// import.
type importPage struct {
	Sources []importSource
	Formats []importer.Format
	// Accounts are the enabled ones.
	Accounts []account.Account
	// RunningTask is the preview or import that runs; 0 when none does.
	RunningTask int64
	Preview     *previewTable
	Of          importer.Preview
	// Last is the newest import that ended since the start; nil when there is none.
	Last *importView
}

// importView is the result of an import.
type importView struct {
	task.Status
	importer.Result
	Display display
	Counts  []tile // of its records by status
	Path    string // of its user's records
}

// importSource is a media server whose history can be read, with an example of its address.
type importSource struct {
	Source  watch.Source
	Example string
}

var importSources = []importSource{
	{watch.Plex, "http://192.168.1.5:32400"}, {watch.Emby, "http://192.168.1.5:8096"}, {watch.Jellyfin, "http://192.168.1.5:8096"},
}

func (g Sources) importHistory(r *request) (content, error) {
	accounts, err := g.Accounts.List(r.Context())
	if err != nil {
		return content{}, err
	}
	page := importPage{Sources: importSources, Formats: importer.Formats, Accounts: enabledOf(accounts)}
	if r.viewer.Role == auth.RolePerson { // who imports files, for the users that they are
		page.Sources = nil
		if page.Accounts, err = g.ownUsers(r, page.Accounts); err != nil {
			return content{}, err
		}
	}
	if page.RunningTask, err = g.Tasks.RunningOf(r.Context(), 0, importer.PreviewTask, importer.RunTask); err != nil {
		return content{}, err
	}
	preview, err := newest(r.Context(), g.Tasks, 0, importer.PreviewTask)
	if err != nil {
		return content{}, err
	}
	run, err := newest(r.Context(), g.Tasks, 0, importer.RunTask)
	if err != nil {
		return content{}, err
	}
	if result, is := task.ResultOf[importer.Result](run); is && run.State != task.Running {
		page.Last = importViewOf(r, run, result)
	}
	// An import after the preview makes the preview out of date.
	if result, is := task.ResultOf[importer.Preview](preview); is && result.Table != nil && preview.State != task.Running && preview.ID > run.ID {
		page.Of = result
		page.Preview = previewTableOf(r, preview, result.Table)
		page.Preview.Known, page.Preview.Skipped, page.Preview.SkippedKey, page.Preview.Items = result.Known, result.Count, "preview.skipped", result.Some
	}
	return content{Data: page}, nil
}

// ownUsers are the accounts of a person with those of their users alone that the person is; without one an account is left out.
func (g Sources) ownUsers(r *request, accounts []account.Account) (own []account.Account, err error) {
	who, err := g.Person(r.Context(), r.viewer.Person)
	if err != nil {
		return nil, err
	}
	for _, a := range accounts {
		a.MediaUserNames = slices.DeleteFunc(a.MediaUserNames, func(name string) bool { return !slices.Contains(who.MediaUserNames, name) })
		if len(a.MediaUserNames) > 0 {
			own = append(own, a)
		}
	}
	return own, nil
}

func importViewOf(r *request, t task.Status, result importer.Result) *importView {
	records := minePath
	if r.may("/records") {
		records = "/records"
	}
	view := &importView{Status: t, Result: result, Display: taskEnds[t.State], Path: withQuery(records, map[string]string{"user": result.User})}
	for _, status := range record.Statuses {
		if n := result.Records[status]; n > 0 {
			view.Counts = append(view.Counts, tile{displayOf(status), n, withQuery(records, map[string]string{"user": result.User, "status": string(status)})})
		}
	}
	return view
}

// taskEnds show how a task ended.
var taskEnds = map[task.State]display{
	task.Done:      {"good", "circle-check", "import.is.done"},
	task.Failed:    {"bad", "circle-x", "import.is.failed"},
	task.Cancelled: {"warn", "circle-slash", "import.is.cancelled"},
}
