package web

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/settings"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source/device"
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

// newest is the newest task of these kinds; its id is 0 when there is none.
func newest(tasks *task.Registry, kinds ...string) task.Status {
	for _, t := range tasks.List() {
		if slices.Contains(kinds, t.Kind) {
			return t
		}
	}
	return task.Status{}
}

// sourcePath is the page of a polled source.
func sourcePath(source watch.Source) string { return "/" + string(source) }

// polledSource is a source that the service asks, in contrast to those that send webhooks.
type polledSource struct {
	Source  watch.Source
	Path    string
	Display display
	Enabled bool
	// Problem is why no event comes from it; zero while it works. A TV box that is off is no problem.
	Problem reason.Reason
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
	boxes, problem := g.Device(), reason.Reason{}
	for _, user := range history.Users {
		if user.State == tracker.Dead || user.State == tracker.Refused {
			problem = user.Trouble()
		}
	}
	return []polledSource{
		{watch.NAS, sourcePath(watch.NAS), nasDisplay(library), library.Enabled, library.LastError},
		{watch.Device, sourcePath(watch.Device), g.deviceDisplay(boxes), boxes.Enabled, reason.Reason{}},
		{watch.Tracker, sourcePath(watch.Tracker), trackerDisplay(history), history.Enabled, problem},
	}, nil
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
