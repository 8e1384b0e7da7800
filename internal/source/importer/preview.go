package importer

import (
	"context"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/task"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/preview"
)

// Preview is what an import would bring.
type Preview struct {
	Server string         `json:"server"`
	User   string         `json:"user"`
	Table  *preview.Table `json:"table"`
	Known  int            `json:"known" doc:"Items that were imported before: they are not taken in again."`
	Skipped
}

// Skipped are items that cannot become records.
type Skipped struct {
	Count int         `json:"skipped" doc:"Items that cannot be marked, such as episodes without a number."`
	Some  []SkippedBy `json:"skipped_items" doc:"The first 50 of them."`
}

// SkippedBy is an item that cannot become a record.
type SkippedBy struct {
	Title  string        `json:"title"`
	Reason reason.Reason `json:"reason_value"`
}

// MarshalJSON has the text of the reason beside it, as reason.
func (s SkippedBy) MarshalJSON() ([]byte, error) {
	type plain SkippedBy
	return reason.MarshalBeside((*plain)(&s))
}

const skippedShown = 50

// add counts an item that is skipped.
func (s *Skipped) add(i watched) {
	s.Count++
	if len(s.Some) < skippedShown {
		s.Some = append(s.Some, SkippedBy{i.title, i.why})
	}
}

// preview looks up everything that an import would take in.
func (h *history) preview(ctx context.Context, t *task.Task) error {
	p := Preview{Server: h.serverName, User: h.userName, Table: preview.NewTable(h.Forecast()), Skipped: Skipped{Some: []SkippedBy{}}}
	defer func() { t.SetResult(p) }()
	done := 0
	return h.read(ctx, func([]mediaserver.Show) error { return nil }, func(library string, items []watched, left int) error {
		known, err := h.known(ctx, items)
		if err != nil {
			return err
		}
		for i, item := range items {
			switch {
			case known[item.id]:
				p.Known++
				continue
			case len(item.events) == 0:
				p.add(item)
			}
			for _, event := range item.events {
				if err := p.Table.Add(ctx, event); err != nil {
					return err
				}
			}
			t.Progress(done+i+1, done+len(items)+left, lookedUp.With(library, p.Table.Items))
		}
		done += len(items)
		return nil
	})
}
