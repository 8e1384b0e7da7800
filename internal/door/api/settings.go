package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/settings"
)

// settingsBody is section → key → value.
type settingsBody map[string]map[string]any

// settingsSchema describes every key.
type settingsSchema struct {
	Sections []settings.Section `json:"sections"`
}

// schedule is when something is due next.
type schedule struct {
	Next []time.Time `json:"next" doc:"The next three times; none when it never comes by itself."`
}

// runsShown is how many of the next runs of a schedule are told.
const runsShown = 3

// Settings are what the settings page shows and changes.
type Settings struct{ Manager *settings.Manager }

func (set Settings) register(s *server) {
	const tag = "Settings"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/settings", OperationID: "get-settings", Tags: []string{tag},
		Summary:     "Get the settings",
		Description: "Every value, by section and key. Secrets that are set are shown as " + settings.Mask + ".",
	}, func(context.Context, *none) (*JSON[settingsBody], error) {
		return answer(settingsBody(set.Manager.View()), nil)
	})
	register(s, huma.Operation{
		Method: http.MethodPatch, Path: "/api/settings", OperationID: "change-settings", Tags: []string{tag},
		Summary: "Change settings",
		Description: "All or nothing. null brings the default back; " + settings.Mask + " leaves a secret as it is. " +
			"Keys that the file, the environment or the command line set are locked: change them there.",
	}, func(ctx context.Context, in *JSON[settingsBody]) (*JSON[settingsBody], error) {
		if err := set.Manager.Patch(ctx, in.Body); err != nil {
			return nil, err
		}
		return answer(settingsBody(set.Manager.View()), nil)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/settings/schema", OperationID: "get-settings-schema", Tags: []string{tag},
		Summary:     "Describe the settings",
		Description: "For every key: type, default, bounds, help in English and Chinese, where its value comes from, whether it is locked and whether it waits for a restart.",
	}, func(context.Context, *none) (*JSON[settingsSchema], error) {
		return answer(settingsSchema{set.Manager.Schema()}, nil)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/settings/schedule", OperationID: "preview-schedule", Tags: []string{tag},
		Summary: "Ask when a schedule is due", Description: "What a cron expression would mean for a key that holds one, in the time zone of that key, or for a job in the local time. It changes nothing.",
	}, func(_ context.Context, in *struct {
		Key  string `query:"key" doc:"The path of the key; left out for a schedule that is no setting, such as that of a summary job." example:"nas.cron"`
		Cron string `query:"cron" doc:"The expression; empty for one that never comes, where the key allows that." example:"*/5 * * * *"`
	}) (*JSON[schedule], error) {
		next, err := settings.NextRuns(in.Key, in.Cron, time.Now(), runsShown)
		var wrong *reason.FieldError
		if errors.As(err, &wrong) {
			location := "query.cron"
			if wrong.Field == "" && in.Key != "" {
				location = "query.key"
			}
			return nil, fieldProblem(location, wrong.What)
		}
		return answer(schedule{next}, err)
	})
}
