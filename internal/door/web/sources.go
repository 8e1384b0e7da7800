package web

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/door/auth"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/settings"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source"
	"watchmark/internal/source/device"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/nas"
	"watchmark/internal/source/tracker"
	"watchmark/internal/watch"
)

// Sources are the pages of where events come from.
type Sources struct {
	Records  *record.Store
	Requests *webhooklog.Log
	Accounts *account.Store
	Settings *settings.Manager
	Tasks    *task.Registry
	NAS      NAS
	Device   func() device.Status
	Tracker  Tracker
	Servers  Servers
	Person   func(ctx context.Context, id int64) (auth.Person, error)
}

// NAS is what the pages read of the library of a NAS; *nas.Reader is one.
type NAS interface {
	Status(ctx context.Context) (nas.Status, error)
	Users(ctx context.Context) ([]nas.User, error)
}

// Tracker is what the pages read of the tracker; *tracker.Service is one.
type Tracker interface {
	Status(ctx context.Context) (tracker.Status, error)
	SyncStatus(ctx context.Context) (tracker.SyncStatus, error)
}

// The pages of sources are fetched anew after so many seconds: while something runs, and otherwise.
const (
	refreshBusy = 2
	refreshIdle = 20
)

// control is a setting that a form of a source changes.
type control struct {
	settings.Key
	Value any
}

// Lines are the items of a list, one a line.
func (c control) Lines() string {
	list, _ := c.Value.([]string)
	return strings.Join(list, "\n")
}

// controls returns the settings of a section by name.
func controls(manager *settings.Manager, section string) map[string]control {
	values, all := manager.View()[section], map[string]control{}
	for _, described := range manager.Schema() {
		if described.Name != section {
			continue
		}
		for _, key := range described.Keys {
			name := strings.TrimPrefix(key.Path, section+".")
			all[name] = control{key, values[name]}
		}
	}
	return all
}

// accountsOf returns a function that names the accounts which list a user name.
func (g Sources) accountsOf(ctx context.Context) (func(user string) []string, error) {
	accounts, err := g.Accounts.List(ctx)
	if err != nil {
		return nil, err
	}
	return func(user string) (names []string) {
		for _, a := range accounts {
			if a.Enabled && slices.Contains(a.MediaUserNames, user) {
				names = append(names, cmp.Or(a.Nickname, a.Username))
			}
		}
		return names
	}, nil
}

// newest is the newest task of these kinds about a record (0 = none), or whatever its kinds are about; its id is 0 when there is none.
func newest(ctx context.Context, tasks *task.Registry, recordID int64, kinds ...string) (task.Status, error) {
	t, err := tasks.Newest(ctx, recordID, kinds...)
	if errors.Is(err, task.ErrNotFound) {
		return task.Status{}, nil
	}
	return t, err
}

// sourcePath is the page of a polled source.
func sourcePath(source watch.Source) string { return "/sources/" + string(source) }

// polledSource is a source that the service asks, in contrast to those that send webhooks.
type polledSource struct {
	Source  watch.Source
	Path    string
	Icon    string
	Display display
	Enabled bool
	// Names are the people or boxes that are connected.
	Names []string
	// Problem is why no event comes from it; zero while it works. A TV box that is off is no problem.
	Problem reason.Reason
	// Held is how many plays of it wait for a person's word.
	Held int
}

// polled are the polled sources.
func (g Sources) polled(ctx context.Context) ([]polledSource, error) {
	library, err := g.NAS.Status(ctx)
	if err != nil {
		return nil, err
	}
	history, err := g.Tracker.Status(ctx)
	if err != nil {
		return nil, err
	}
	boxes := g.Device()
	fromNAS := polledSource{Source: watch.NAS, Icon: "hard-drive", Display: nasDisplay(library), Enabled: library.Enabled, Problem: library.LastError}
	fromBoxes := polledSource{Source: watch.Device, Icon: "tv", Display: g.deviceDisplay(boxes), Enabled: boxes.Enabled}
	for _, box := range boxes.Devices {
		if box.Name != "" {
			fromBoxes.Names = append(fromBoxes.Names, box.Name)
		}
	}
	fromTracker := polledSource{Source: watch.Tracker, Icon: "list-video", Display: trackerDisplay(history), Enabled: history.Enabled}
	for _, user := range history.Users {
		if user.State == tracker.Dead || user.State == tracker.Refused {
			fromTracker.Problem = user.Trouble()
		}
		if user.State != tracker.Disconnected && user.Name != "" {
			fromTracker.Names = append(fromTracker.Names, user.Name)
		}
	}
	polled := []polledSource{fromNAS, fromBoxes, fromTracker}
	for i := range polled {
		polled[i].Path = sourcePath(polled[i].Source)
	}
	servers, err := g.fromServers(ctx)
	return append([]polledSource{servers}, polled...), err
}

// sourcesPage shows a card for each kind of source.
type sourcesPage struct {
	// Heard are the push sources that something came from, Unheard the others.
	Heard, Unheard []sourceLine
	Polled         []sourceCard
	// Imported is the newest import that ended since the start; nil when there is none.
	Imported  *importView
	Importing bool
	Refresh   int
}

// sourceCard is a polled source with the time of its last event.
type sourceCard struct {
	sourceLine
	Icon  string
	Names []string
	// SetUp is set once it was used. Before, the card says what the source is for.
	SetUp bool
}

func (g Sources) list(r *request) (content, error) {
	polled, err := g.polled(r.Context())
	if err != nil {
		return content{}, err
	}
	lines, err := g.lines(r.Context(), time.Now(), polled)
	if err != nil {
		return content{}, err
	}
	run, err := newest(r.Context(), g.Tasks, 0, importer.RunTask)
	if err != nil {
		return content{}, err
	}
	page := sourcesPage{Refresh: refreshIdle, Importing: run.State == task.Running}
	if result, is := task.ResultOf[importer.Result](run); is && !page.Importing {
		page.Imported = importViewOf(r, run, result)
	}
	for _, line := range lines[:len(source.Push)] {
		if line.Seen != nil {
			page.Heard = append(page.Heard, line)
		} else {
			page.Unheard = append(page.Unheard, line)
		}
	}
	for i, p := range polled {
		card := sourceCard{lines[len(source.Push)+i], p.Icon, p.Names, p.Enabled || len(p.Names) > 0}
		card.SetUp = card.SetUp || card.Seen != nil
		if !p.Enabled {
			card.Silent, card.Problem = 0, reason.Reason{}
		}
		if card.Silent == 0 {
			card.Display = p.Display
		}
		page.Polled = append(page.Polled, card)
	}
	return content{Data: page}, nil
}

// boxesOnline is how many boxes are online.
func boxesOnline(s device.Status) (online int) {
	for _, d := range s.Devices {
		if d.Online {
			online++
		}
	}
	return online
}
