package web

import (
	"slices"
	"strings"

	"watchmark/internal/source/device"
)

// devicePage shows the known TV boxes and where to search for them.
type devicePage struct {
	device.Status
	Display  display
	Settings map[string]control
	Boxes    []boxView
	// RunningTask is the task that asks all boxes; 0 when none runs.
	RunningTask int64
	Refresh     int
}

// boxView is a box as the page shows it.
type boxView struct {
	device.Device
	Accounts []string
	Display  display
	// Answered is set when a player answered at the address at least once.
	Answered bool
}

func (g Sources) device(r *request) (content, error) {
	accounts, err := g.accountsOf(r.Context())
	if err != nil {
		return content{}, err
	}
	status := g.Device()
	page := devicePage{
		Status: status, Display: g.deviceDisplay(status), Settings: controls(g.Settings, "device"),
		Refresh: refreshIdle,
	}
	if page.RunningTask, err = g.Tasks.RunningOf(r.Context(), 0, device.TaskKind); err != nil {
		return content{}, err
	}
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
	return content{Data: page}, nil
}

// boxRank sorts boxes: those that answer first, and addresses without a player last.
func boxRank(b boxView) int {
	switch {
	case b.Online:
		return 0
	case b.Answered:
		return 1
	}
	return 2
}

// deviceDisplay shows the state of all boxes.
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

// boxDisplay shows the state of a box.
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

// reading describes what was read of a playback. It uses the texts of the script, which describes the results of a
// scan in the same way.
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
