package app

import (
	"context"
	"strings"

	"watchmark/internal/tracker"
	"watchmark/internal/watch"
	"watchmark/internal/web"
)

// polled are the sources that are switched on and asked by the service, with what keeps
// anything from coming. That boxes are off is nothing unusual.
func (a *App) polled(ctx context.Context) ([]web.Polled, error) {
	var on []web.Polled
	nas, err := a.nas.Status(ctx)
	if err != nil {
		return nil, err
	}
	if nas.Enabled {
		on = append(on, web.Polled{Source: watch.NAS, Problem: nas.LastError})
	}
	if a.Settings.Current().Device.Enabled {
		on = append(on, web.Polled{Source: watch.Device})
	}
	tracked, err := a.tracker.Status(ctx)
	if err != nil {
		return nil, err
	}
	if tracked.Enabled {
		source := web.Polled{Source: watch.Tracker}
		for _, user := range tracked.Users {
			if user.State == tracker.Dead {
				source.Problem = strings.TrimPrefix(user.Name+": "+user.Problem, ": ")
			}
		}
		on = append(on, source)
	}
	return on, nil
}
