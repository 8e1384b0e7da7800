package web

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/tracker"
	"watchmark/internal/watch"
)

// trackerPage shows who is connected to the tracker, the state of reading their histories, and the ways to sign in.
type trackerPage struct {
	tracker.Status
	Display  display
	Settings map[string]control
	People   []personView
	NextRun  *time.Time
	Running  bool
	CanSync  bool // whether anybody's history can be read
	// Connected is the user who has just signed in at the tracker, ErrorKey the text key of the error.
	Connected *tracker.User
	ErrorKey  string
	// Callback is the address that the tracker redirects browsers to. CallbackFits is set when the tracker accepts it.
	Callback     string
	CallbackFits bool
	// RunningTask is the task of the tracker that runs; 0 when none does.
	RunningTask int64
	// Preview is the expected outcome of the full sync that PreviewOf describes; nil when there is none.
	Preview   *previewTable
	PreviewOf tracker.Preview
	Refresh   int
}

// personView is a user of the tracker who was connected.
type personView struct {
	tracker.User
	Accounts []string
	// Adds are the accounts to which the user's name can be added; empty when an account lists it.
	Adds    []account.Account
	Sync    tracker.UserSync
	Display display
	Path    string // of their records
}

// trackerProblems are the values of ?tracker_error= that have a text of their own. GET /api/tracker/oauth/callback of
// the API documents them.
var trackerProblems = []string{"denied", "state", "not_configured", "refused", "unreachable"}

func (g Sources) tracker(r *request) (content, error) {
	ctx := r.Context()
	status, err := g.Tracker.Status(ctx)
	if err != nil {
		return content{}, err
	}
	history, err := g.Tracker.SyncStatus(ctx)
	if err != nil {
		return content{}, err
	}
	accountsOf, err := g.accountsOf(ctx)
	if err != nil {
		return content{}, err
	}
	accounts, err := g.Accounts.List(ctx)
	if err != nil {
		return content{}, err
	}
	accounts = slices.DeleteFunc(accounts, func(a account.Account) bool { return !a.Enabled })
	public := r.PublicURL(ctx)
	page := trackerPage{
		Status: status, Display: trackerDisplay(status), Settings: controls(g.Settings, "tracker"), NextRun: history.NextRun, Running: history.Running,
		Callback: public + "/api/tracker/oauth/callback", CallbackFits: strings.HasPrefix(public, "https://") || onLoopback(public),
		Refresh: refreshIdle,
	}
	if page.RunningTask, err = g.Tasks.RunningOf(ctx, 0, tracker.SyncTask, tracker.PreviewTask, tracker.DeviceTask); err != nil {
		return content{}, err
	}
	connected := r.URL.Query().Get("tracker_connected")
	for _, u := range status.Users {
		person := personView{
			User: u, Accounts: accountsOf(u.Name), Display: personDisplay(u),
			Path: withQuery("/records", map[string]string{"source": string(watch.Tracker), "user": u.Name}),
		}
		if at := slices.IndexFunc(history.Users, func(one tracker.UserSync) bool { return one.ID == u.ID }); at >= 0 {
			person.Sync = history.Users[at]
		}
		if len(person.Accounts) == 0 && u.Name != "" && u.State != tracker.Disconnected {
			person.Adds = accounts
		}
		page.CanSync = page.CanSync || status.Enabled && u.State.Usable()
		if strconv.FormatInt(u.ID, 10) == connected {
			page.Connected = &u
		}
		page.People = append(page.People, person)
	}
	if problem := r.URL.Query().Get("tracker_error"); problem != "" {
		page.ErrorKey = "tracker.error.other"
		if slices.Contains(trackerProblems, problem) {
			page.ErrorKey = "tracker.error." + problem
		}
	}
	preview, err := newest(ctx, g.Tasks, 0, tracker.PreviewTask)
	if err != nil {
		return content{}, err
	}
	if result, is := task.ResultOf[tracker.Preview](preview); is && result.Table != nil && preview.State != task.Running {
		page.PreviewOf = result
		page.Preview = previewTableOf(r, preview, result.Table)
		page.Preview.Known, page.Preview.Skipped, page.Preview.SkippedKey = result.Known, result.Skipped+result.Unreadable, "preview.foreign"
	}
	return content{Data: page}, nil
}

// trackerDisplay shows the state of the tracker.
func trackerDisplay(s tracker.Status) display {
	states := map[tracker.State]int{}
	trouble := false
	for _, u := range s.Users {
		states[u.State]++
		if u.State.Usable() {
			trouble = trouble || !u.Problem.IsZero()
		}
	}
	switch {
	case !s.Enabled:
		return display{"quiet", "power", "tracker.is.off"}
	case states[tracker.Dead] > 0:
		return display{"bad", "circle-x", "tracker.is.dead"}
	case states[tracker.Connected]+states[tracker.Refused] == 0:
		return display{"warn", "key-round", "tracker.is.nobody"}
	case trouble:
		return display{"warn", "triangle-alert", "tracker.is.trouble"}
	}
	return display{"good", "circle-check", "tracker.is.good"}
}

// personDisplay shows the state of a connection.
func personDisplay(u tracker.User) display {
	switch {
	case u.State == tracker.Dead:
		return display{"bad", "circle-x", "tracker.state.dead"}
	case u.State == tracker.Refused:
		return display{"bad", "circle-x", "tracker.state.refused"}
	case u.State == tracker.Disconnected:
		return display{"quiet", "circle-slash", "tracker.state.disconnected"}
	case !u.Problem.IsZero():
		return display{"warn", "triangle-alert", "tracker.state.trouble"}
	}
	return display{"good", "circle-check", "tracker.state.connected"}
}
