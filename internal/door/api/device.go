package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/engine"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/source/device"
)

// The times in which the calls for testing end.
const (
	deviceScanTime = 20 * time.Second
	deviceSyncTime = 30 * time.Second
)

// deviceChoice names one TV box.
type deviceChoice struct {
	Address string `json:"address,omitempty" maxLength:"260" doc:"Host, or host:port, of a box that is known." example:"192.168.1.5:9978"`
	UUID    string `json:"uuid,omitempty" maxLength:"64" doc:"Or its uuid."`
}

// Device is the TV boxes.
type Device struct {
	Watcher *device.Watcher
	Engine  *engine.Engine
	Records *record.Store
}

func (d Device) register(s *server) {
	const tag = "TV boxes"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/device/status", OperationID: "get-device-status", Tags: []string{tag},
		Summary:     "Get the state of the TV boxes",
		Description: "Asks no box.",
	}, func(context.Context, *none) (*JSON[device.Status], error) {
		return answer(d.Watcher.Status(), nil)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/device/sync/manual", OperationID: "sync-devices", Tags: []string{tag},
		Summary:       "Look for TV boxes and ask all of them now",
		Description:   "Starts a task. What was watched is taken in.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, _ *none) (*JSON[startedTask], error) {
		return started(d.Watcher.SyncAll(ctx))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/device/debug/scan", OperationID: "scan-devices", Tags: []string{tag},
		Summary:     "Look for TV boxes and show what they play",
		Description: "Takes 20 s at most. Nothing is taken in: it shows the boxes and how what they play is read. It also works while device.enabled is off.",
		Errors:      []int{http.StatusConflict},
	}, func(ctx context.Context, _ *none) (*JSON[device.Scanned], error) {
		ctx, cancel := context.WithTimeout(ctx, deviceScanTime)
		defer cancel()
		return answer(d.Watcher.DebugScan(ctx))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/device/debug/sync", OperationID: "sync-device", Tags: []string{tag},
		Summary: "Ask one TV box now",
		Description: "Takes 30 s at most. What the box plays or has paused is marked, if it is at device.min_percent or further, whether or not it was seen to play until there. " +
			"The answer has the box before and after it and what became of the mark, or else the reason in one line, also when the box does not answer.",
		Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity},
	}, d.syncDevice)
}

// deviceMark is what became of a mark, before and after a sync.
type deviceMark struct {
	RecordID    int64             `json:"record_id"`
	Status      record.Status     `json:"status" enum:"received,processing,success,ignored,review,queued,error" doc:"How the record came out; received or processing when the time ended before."`
	Account     string            `json:"account" doc:"Whose list; empty when no account was found."`
	SubjectID   catalog.SubjectID `json:"subject_id"`
	SubjectName string            `json:"subject_name"`
	EpisodeSort *float64          `json:"episode_sort"`
	Before      bool              `json:"marked_before" doc:"Whether the list had the mark already."`
	After       bool              `json:"marked_after" doc:"Whether the list has it now."`
	Message     string            `json:"message" doc:"What happened, in plain words."`
	// Value is Message with its code.
	Value reason.Reason `json:"message_value,omitzero"`
}

// deviceSynced is what a sync of one box did.
type deviceSynced struct {
	device.Synced
	Marks []deviceMark `json:"marks" doc:"What became of the records of what plays: of this call, or of an earlier look that took it in."`
}

func (d Device) syncDevice(ctx context.Context, in *JSON[deviceChoice]) (*JSON[deviceSynced], error) {
	if (in.Body.Address == "") == (in.Body.UUID == "") {
		return nil, fieldProblem("body.address", boxChoice)
	}
	bounded, cancel := context.WithTimeout(ctx, deviceSyncTime)
	defer cancel()
	synced, err := d.Watcher.DebugSync(bounded, in.Body.Address, in.Body.UUID)
	if err != nil {
		return nil, err
	}
	told := deviceSynced{synced, []deviceMark{}}
	counted := synced.Event
	if now := synced.After.Now; counted == nil && now != nil && now.Settled { // by an earlier look
		counted = synced.After.LastEvent
	}
	if counted == nil {
		return answer(told, nil)
	}
	for _, id := range counted.RecordIDs {
		r, err := d.Engine.Settled(bounded, id)
		if bounded.Err() != nil { // as it stands
			r, err = d.Records.Get(ctx, id)
		}
		if errors.Is(err, record.ErrNotFound) { // it was of an earlier look, and is removed
			continue
		}
		if err != nil {
			return nil, err
		}
		after := r.Status == record.Success
		before := after && (!r.Marked || synced.Event == nil)
		told.Marks = append(told.Marks, deviceMark{r.ID, r.Status, r.AccountName, r.SubjectID, r.SubjectName, r.EpisodeSort, before, after, r.Message.Text, r.Message})
	}
	return answer(told, nil)
}
