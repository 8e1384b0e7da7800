package web

import (
	"slices"
	"strings"

	"watchmark/internal/source/device"
)

// devicePage is the TV boxes that are known, and where they are looked for.
type devicePage struct {
	device.Status
	Display  display
	Settings map[string]control
	Boxes    []boxView
	// RunningTask is the task that asks all boxes; 0 while none does.
	RunningTask int64
	Refresh     int
}

// boxView is a box as people see it.
type boxView struct {
	device.Device
	Accounts []string
	Display  display
	// Answered is set for what is a player; otherwise it is an address at which none was met yet.
	Answered bool
}

func (g Sources) device(r *request) (content, error) {
	accounts, err := g.accountsOf(r.Context())
	if err != nil {
		return content{}, err
	}
	status := g.Device()
	page := devicePage{Status: status, Display: g.deviceDisplay(status), Settings: controls(g.Settings, "device"), RunningTask: running(g.Tasks, 0, device.TaskKind), Refresh: refreshIdle}
	if status.Scanning {
		page.Refresh = refreshBusy
	}
	for _, d := range status.Devices {
		view := boxView{Device: d, Display: boxDisplay(d), Answered: d.Name != ""}
		if view.Answered {
			view.Accounts = accounts(d.Name)
		}
		page.Boxes = append(page.Boxes, view)
	}
	slices.SortStableFunc(page.Boxes, func(a, b boxView) int { return boxRank(a) - boxRank(b) })
	return content{Title: "device.title", Data: page}, nil
}

// boxRank has boxes that answer stand first, and addresses without a player last.
func boxRank(b boxView) int {
	switch {
	case b.Online:
		return 0
	case b.Answered:
		return 1
	}
	return 2
}

// deviceDisplay is how the boxes stand, in one word.
func (g Sources) deviceDisplay(status device.Status) display {
	places := g.Settings.Current().Device
	switch {
	case !status.Enabled:
		return display{"quiet", "power", "device.is.off"}
	case len(places.Addresses) == 0 && len(places.Subnets) == 0:
		return display{"warn", "triangle-alert", "device.is.nowhere"}
	case boxesOnline(status) > 0:
		return display{"good", "circle-check", "device.is.good"}
	case status.Scanning:
		return display{"busy", "loader", "device.is.looking"}
	case len(status.Devices) == 0:
		return display{"warn", "circle-question-mark", "device.is.none"}
	}
	return display{"quiet", "moon", "device.is.asleep"}
}

// boxDisplay is how a box stands.
func boxDisplay(d device.Device) display {
	switch {
	case d.Online && d.Now != nil && d.Now.State == device.Playing:
		return display{"good", "play", "device.box.playing"}
	case d.Online:
		return display{"good", "circle-check", "device.box.online"}
	case d.LastSeen == nil && d.OfflineSince == nil:
		return display{"quiet", "circle", "device.box.unasked"}
	case d.LastSeen == nil:
		return display{"warn", "wifi-off", "device.box.never"}
	}
	return display{"quiet", "moon", "device.box.offline"}
}

// reading tells what was read of a playback. The words are those of the script, which tells
// it of what a scan finds.
func (w words) reading(r device.Reading) string {
	fill := func(key, value string) string {
		return strings.ReplaceAll(w.word("script.device", key), "{n}", value)
	}
	parts := []string{r.Base}
	if r.Base == "" {
		parts[0] = r.Title
	}
	switch {
	case r.Season != nil && *r.Season == 0:
		parts = append(parts, fill("specials", ""))
	case r.Season != nil:
		parts = append(parts, fill("season", number(float64(*r.Season))))
	}
	if len(r.Episodes) > 0 {
		parts = append(parts, fill("episode", spans(r.Episodes)))
	}
	if r.Kind != device.Episode {
		parts = append(parts, w.word("script.device.kind", string(r.Kind)))
	}
	return strings.Join(parts, " · ")
}
