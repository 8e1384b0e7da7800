package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

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

func (s *server) registerDevice() {
	const tag = "TV boxes"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/device/status", OperationID: "get-device-status", Tags: []string{tag},
		Summary:     "Get the state of the TV boxes",
		Description: "Asks no box.",
	}, func(context.Context, *none) (*JSON[device.Status], error) {
		return answer(s.Device.Status(), nil)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/device/sync/manual", OperationID: "sync-devices", Tags: []string{tag},
		Summary:       "Look for TV boxes and ask all of them now",
		Description:   "Starts a task. What was watched is taken in.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusConflict},
	}, func(context.Context, *none) (*JSON[startedTask], error) {
		return started(s.Device.SyncAll())
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/device/debug/scan", OperationID: "scan-devices", Tags: []string{tag},
		Summary:     "Look for TV boxes and show what they play",
		Description: "Takes 20 s at most. Nothing is taken in: it shows the boxes and how what they play is read. It also works while device.enabled is off.",
		Errors:      []int{http.StatusConflict},
	}, func(ctx context.Context, _ *none) (*JSON[device.Scanned], error) {
		ctx, cancel := context.WithTimeout(ctx, deviceScanTime)
		defer cancel()
		return answer(s.Device.DebugScan(ctx))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/device/debug/sync", OperationID: "sync-device", Tags: []string{tag},
		Summary:     "Ask one TV box now",
		Description: "Takes 30 s at most. What was watched is taken in. The answer has the state before and after it, also when the box does not answer.",
		Errors:      []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity},
	}, func(ctx context.Context, in *struct{ Body deviceChoice }) (*JSON[device.Synced], error) {
		if (in.Body.Address == "") == (in.Body.UUID == "") {
			return nil, fieldProblem("body.address", "name the box by its address or by its uuid, and by one of them only")
		}
		ctx, cancel := context.WithTimeout(ctx, deviceSyncTime)
		defer cancel()
		return answer(s.Device.DebugSync(ctx, in.Body.Address, in.Body.UUID))
	})
}
