package web

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"watchmark/internal/catalog/account"
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

// NAS is what the pages read of the library of a NAS; *nas.Keeper is one.
type NAS interface {
	Status(ctx context.Context) (nas.Status, error)
	Users(ctx context.Context) ([]nas.User, error)
}

// Tracker is what the pages read of the tracker; *tracker.Keeper is one.
type Tracker interface {
	Status(ctx context.Context) (tracker.Status, error)
	SyncStatus(ctx context.Context) (tracker.SyncStatus, error)
}

// While something is under way a room is fetched anew after so many seconds, else after more.
const (
	roomBusy = 2
	roomCalm = 20
)

// control is a setting that a form of a room changes.
type control struct {
	settings.Key
	Value any
}

// Lines are the values of a list, one a line.
func (c control) Lines() string {
	list, _ := c.Value.([]string)
	return strings.Join(list, "\n")
}

// controls are the settings of a section by name.
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

// leads tells to which accounts a user name of a source leads.
func (g Sources) leads(ctx context.Context) (func(name string) []string, error) {
	accounts, err := g.Accounts.List(ctx)
	if err != nil {
		return nil, err
	}
	return func(name string) (names []string) {
		for _, a := range accounts {
			if a.Enabled && slices.Contains(a.MediaUserNames, name) {
				names = append(names, cmp.Or(a.Nickname, a.Username))
			}
		}
		return names
	}, nil
}

// newest is the newest task of some kinds; it has no id when there is none.
func newest(tasks *task.Registry, kinds ...string) task.Status {
	for _, t := range tasks.List() {
		if slices.Contains(kinds, t.Kind) {
			return t
		}
	}
	return task.Status{}
}

// roomPath is the room of a source that is asked.
func roomPath(source watch.Source) string { return "/" + string(source) }

// askedSource is a source that is asked, as the page Connect lists it.
type askedSource struct {
	Source watch.Source
	Path   string
	Look   look
}

// askedSources are the sources that are asked.
func (g Sources) askedSources(ctx context.Context) ([]askedSource, error) {
	library, err := g.NAS.Status(ctx)
	if err != nil {
		return nil, err
	}
	history, err := g.Tracker.Status(ctx)
	if err != nil {
		return nil, err
	}
	boxes := g.Device()
	return []askedSource{
		{watch.NAS, roomPath(watch.NAS), nasLook(library)},
		{watch.Device, roomPath(watch.Device), g.deviceLook(boxes)},
		{watch.Tracker, roomPath(watch.Tracker), trackerLook(history)},
	}, nil
}

// polledSource is a source that is asked and switched on.
type polledSource struct {
	Source watch.Source
	// Problem is why nothing comes from it, in plain words; empty while all is well.
	Problem string
}

// polled are the sources that are asked and switched on. That boxes are off is nothing unusual.
func (g Sources) polled(ctx context.Context) ([]polledSource, error) {
	var on []polledSource
	library, err := g.NAS.Status(ctx)
	if err != nil {
		return nil, err
	}
	if library.Enabled {
		on = append(on, polledSource{watch.NAS, library.LastError})
	}
	if g.Device().Enabled {
		on = append(on, polledSource{Source: watch.Device})
	}
	history, err := g.Tracker.Status(ctx)
	if err != nil {
		return nil, err
	}
	if history.Enabled {
		source := polledSource{Source: watch.Tracker}
		for _, user := range history.Users {
			if user.State == tracker.Dead || user.State == tracker.Refused {
				source.Problem = strings.TrimPrefix(user.Name+": "+user.Problem, ": ")
			}
		}
		on = append(on, source)
	}
	return on, nil
}

// boxesOnline is how many players answer.
func boxesOnline(s device.Status) (online int) {
	for _, d := range s.Devices {
		if d.Online {
			online++
		}
	}
	return online
}
