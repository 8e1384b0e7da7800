package web

import (
	"context"
	"slices"
	"strconv"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/watcher"
	"watchmark/internal/watch"
)

// Servers is what the pages read of people's logins at media servers; *watcher.Service is one.
type Servers interface {
	Logins(ctx context.Context) ([]watcher.Login, error)
	Login(ctx context.Context, id int64) (watcher.Login, error)
}

// serversPath is the page of all logins; that of one is below it.
const serversPath = "/sources/servers"

// serverPath is the page of a login.
func serverPath(id int64) string { return serversPath + "/" + strconv.FormatInt(id, 10) }

// serversPage shows how each login stands.
type serversPage struct {
	Logins  []serverView
	Enabled control // the setting that switches all of them
	Running int64   // the task of a login that runs; 0 when none does
	Refresh int
}

// serverView is a login as the pages show it.
type serverView struct {
	watcher.Login
	Display display
	// Adds are the accounts that the user can be added to; empty when an account lists the user.
	Adds []account.Account
	// Path is its page, Records that of its records.
	Path, Records string
	// SkewMinutes is by how many minutes the clock of the server is ahead or behind; 0 for a clock that is right.
	SkewMinutes int
}

// Experimental reports whether what is known of its kind was never confirmed on all of its versions.
func (v serverView) Experimental() bool { return v.Kind.Experimental() }

// ByCode reports whether people sign in without a password there.
func (v serverView) ByCode() bool {
	return v.Kind == mediaserver.Plex || v.Kind == mediaserver.Jellyfin
}

// ByPassword reports whether people sign in with a password there.
func (v serverView) ByPassword() bool { return v.Kind != mediaserver.Plex }

// Pending reports whether the login waits for a sign-in to be confirmed, or for a choice.
func (v serverView) Pending() bool { return v.SignIn != nil || v.Choices != nil }

// Waits reports whether the login was never complete.
func (v serverView) Waits() bool { return v.UserName == "" }

// Late reports whether the clock of the server is behind.
func (v serverView) Late() bool { return v.SkewMinutes < 0 }

// MinutesOff is by how many minutes the clock of the server is wrong, in whichever direction.
func (v serverView) MinutesOff() int { return max(v.SkewMinutes, -v.SkewMinutes) }

// CatchUpProblem is why the last catch-up ended early; zero when it did not, or when the login's problem says as much.
func (v serverView) CatchUpProblem() reason.Reason {
	if v.CatchUp == nil || v.CatchUp.Error.Text == v.Problem.Text {
		return reason.Reason{}
	}
	return v.CatchUp.Error
}

func serverViewOf(l watcher.Login, accounts []account.Account) serverView {
	v := serverView{
		Login: l, Display: serverDisplay(l), Path: serverPath(l.ID), SkewMinutes: l.SkewSeconds / 60,
		Records: withQuery("/records", map[string]string{"source": string(watch.Watcher), "user": l.MediaUserName}),
	}
	if len(l.Accounts) == 0 && l.MediaUserName != "" && !v.Waits() {
		v.Adds = accounts
	}
	return v
}

func (g Sources) servers(r *request) (content, error) {
	logins, err := g.Servers.Logins(r.Context())
	if err != nil {
		return content{}, err
	}
	accounts, err := g.Accounts.List(r.Context())
	if err != nil {
		return content{}, err
	}
	accounts = enabledOf(accounts)
	page := serversPage{Refresh: refreshIdle, Enabled: controls(g.Settings, "watcher")["enabled"]}
	runs, err := g.Tasks.Running(r.Context())
	if err != nil {
		return content{}, err
	}
	for _, l := range logins {
		view := serverViewOf(l, accounts)
		if view.Display.Tone == "busy" && !view.Waits() {
			page.Refresh = refreshBusy
		}
		page.Logins = append(page.Logins, view)
		if page.Running == 0 {
			i := slices.IndexFunc(runs, func(t task.Status) bool { return t.RecordID == l.ID && slices.Contains(loginTasks, t.Kind) })
			if i >= 0 {
				page.Running = runs[i].ID
			}
		}
	}
	return content{Data: page}, nil
}

// loginTasks are the kinds of tasks whose record id is that of a login.
var loginTasks = []string{watcher.SyncTask, watcher.SeedTask, watcher.UndoTask, importer.PreviewTask, importer.RunTask}

// serverPage shows one login.
type serverPage struct {
	serverView
	// Step is the step of the wizard: 2 to sign in, 3 for whose account it is; 0 when the person did not come from there.
	Step int
	// AllAccounts are the enabled accounts.
	AllAccounts []account.Account
	RunningTask int64
	Refresh     int
	// Preview is the expected outcome of an import of the history, Seeded that of a seed, whichever is newer; both nil when
	// there is none.
	Preview *previewTable
	Seeded  *seedTable
}

// seedTable is the result of a seed, of its preview or of its undoing.
type seedTable struct {
	task.Status
	Of      watcher.Seeding
	Account string
	resultRows[watcher.SeedRow]
	// Changes is how much was written or would be.
	Changes int
}

// The steps of the wizard that follow the address.
const (
	stepSignIn  = 2
	stepAccount = 3
)

func (g Sources) server(r *request) (content, error) {
	id, err := idOf(r)
	if err != nil {
		return content{}, err
	}
	added := r.URL.Query().Has("new")
	login, err := g.Servers.Login(r.Context(), id)
	switch {
	case added && reason.Of(err).Class() == reason.NotFound: // who signed in by a code was connected already: that login has the sign-in now
		return content{Instead: r.BasePath + serversPath}, nil
	case err != nil:
		return content{}, err
	}
	accounts, err := g.Accounts.List(r.Context())
	if err != nil {
		return content{}, err
	}
	accounts = enabledOf(accounts)
	page := serverPage{serverView: serverViewOf(login, accounts), AllAccounts: accounts, Refresh: refreshIdle}
	if page.RunningTask, err = g.Tasks.RunningOf(r.Context(), id, loginTasks...); err != nil {
		return content{}, err
	}
	if page.Pending() || page.Display.Tone == "busy" {
		page.Refresh = refreshBusy
	}
	if added {
		page.Step = stepAccount
		if page.Pending() || login.State == watcher.SignedOut {
			page.Step = stepSignIn
		}
	}
	last, err := newest(r.Context(), g.Tasks, id, importer.PreviewTask, watcher.SeedTask, watcher.UndoTask)
	if err != nil {
		return content{}, err
	}
	switch {
	case last.State == task.Running:
	case last.Kind == importer.PreviewTask:
		if result, is := task.ResultOf[importer.Preview](last); is && result.Table != nil {
			page.Preview = previewTableOf(r, last, result.Table)
			page.Preview.Known, page.Preview.Skipped, page.Preview.SkippedKey, page.Preview.Items = result.Known, result.Count, "preview.skipped", result.Some
		}
	default:
		if result, is := task.ResultOf[watcher.Seeding](last); is {
			page.Seeded = seedTableOf(r, last, result, accounts)
		}
	}
	return content{Heading: login.Name(), Data: page}, nil
}

// seedOrder is the order of the statuses of a seed.
var seedOrder = []watcher.SeedStatus{watcher.SeedMark, watcher.SeedUnmark, watcher.SeedFailed, watcher.SeedNotFound, watcher.SeedUnlisted, watcher.SeedPlayed}

var seedDisplays = map[watcher.SeedStatus]display{
	watcher.SeedMark:     {"good", "circle-check", "seed.is.mark"},
	watcher.SeedUnmark:   {"warn", "undo-2", "seed.is.unmark"},
	watcher.SeedPlayed:   {"quiet", "check", "seed.is.played"},
	watcher.SeedUnlisted: {"quiet", "circle-minus", "seed.is.unlisted"},
	watcher.SeedNotFound: {"warn", "circle-question-mark", "seed.is.not_found"},
	watcher.SeedFailed:   {"bad", "circle-x", "seed.is.failed"},
}

func seedTableOf(r *request, t task.Status, s watcher.Seeding, accounts []account.Account) *seedTable {
	view := &seedTable{Status: t, Of: s, Changes: s.Counts[watcher.SeedMark] + s.Counts[watcher.SeedUnmark]}
	for _, a := range accounts {
		if a.ID == s.AccountID {
			view.Account = a.Username
		}
	}
	view.resultRows = rowsOf(r, s.Rows, func(row watcher.SeedRow) watcher.SeedStatus { return row.Status }, s.Counts, seedOrder)
	return view
}

// newServerPage is the first step of connecting a server.
type newServerPage struct {
	Kinds   []mediaserver.Kind
	Example string // of an address
}

func (g Sources) newServer(*request) (content, error) {
	return content{Data: newServerPage{mediaserver.Kinds, importSources[len(importSources)-1].Example}}, nil
}

// serverDisplay shows the state of a login.
func serverDisplay(l watcher.Login) display {
	switch {
	case l.SignIn != nil && l.State == watcher.SignedOut:
		return display{"busy", "key-round", "servers.is.confirm"}
	case l.Choices != nil && l.State == watcher.SignedOut:
		return display{"warn", "key-round", "servers.is.choose"}
	case l.State == watcher.SignedOut:
		return display{"bad", "circle-x", "servers.is.signed_out"}
	case !l.Enabled:
		return display{"quiet", "power", "servers.is.off"}
	case l.State == watcher.Refused:
		return display{"bad", "circle-slash", "servers.is.refused"}
	case l.State == watcher.Unreachable:
		return display{"warn", "wifi-off", "servers.is.unreachable"}
	case l.Way == watcher.Live:
		return display{"good", "circle-check", "servers.is.live"}
	case l.Way == watcher.Polling:
		return display{"good", "circle-check", "servers.is.polling"}
	}
	return display{"busy", "loader", "servers.is.waiting"}
}

// fromServers is the source of all logins, for the page Sources and the dashboard. A server that does not answer is no
// problem by itself: many are off at night.
func (g Sources) fromServers(ctx context.Context) (polledSource, error) {
	logins, err := g.Servers.Logins(ctx)
	p := polledSource{Source: watch.Watcher, Path: serversPath, Icon: "server", Display: display{"quiet", "circle", "servers.is.nobody"}}
	following := g.Settings.Current().Watcher.Enabled
	order := []string{"bad", "warn", "busy", "good", "quiet"}
	for i, l := range logins {
		p.Enabled = p.Enabled || l.Enabled && following
		if l.UserName != "" {
			p.Names = append(p.Names, l.Name()+" · "+l.UserName)
		}
		if d := serverDisplay(l); i == 0 || slices.Index(order, d.Tone) < slices.Index(order, p.Display.Tone) { // the one that needs a person most
			p.Display, p.Problem = d, reason.Reason{}
			if d.Tone == "bad" {
				p.Problem = l.Problem
			}
		}
		p.Held += l.HeldCount()
	}
	if !following && len(logins) > 0 {
		p.Display, p.Problem = display{"quiet", "power", "servers.is.off"}, reason.Reason{}
	}
	return p, err
}
