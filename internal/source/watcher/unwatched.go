package watcher

import (
	"context"

	"watchmark/internal/source/mediaserver"
	"watchmark/internal/watch"
)

// unwatched takes in which of the items that a push named a person has set back to unwatched: those that were known as played and have
// nothing left of it. An item that is being played again is unplayed too on some servers, but with a new date and number; what the server
// lost, and what a library lost, is not pushed (upstreams/watchers.md sections 2.3 and 2.6).
func (w *look) unwatched(ctx context.Context, items []mediaserver.Item) error {
	if w.l.Kind != mediaserver.Jellyfin && w.l.Kind != mediaserver.Emby {
		return nil
	}
	var fresh []mediaserver.Item // nothing is left of a play of them
	var wanted []play
	for _, i := range items {
		if s := i.State; !s.Played && s.Count == 0 && s.At.IsZero() && s.Position == 0 && usable(i) {
			fresh, wanted = append(fresh, i), append(wanted, playOf(i))
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	of, err := find(ctx, w.s.DB.Read(), w.l.ID, wanted)
	if err != nil {
		return err
	}
	var events []watch.Event
	for _, i := range fresh {
		if of.byItem[i.Report.Event.ItemID] == nil {
			continue
		}
		w.l.sign(&i, w.how)
		if d, err := i.Report.Deliver(watch.Unwatched); err == nil {
			events = append(events, d.Events...)
		}
	}
	if len(events) == 0 {
		return nil
	}
	return w.s.Intake.Unwatch(ctx, events)
}
