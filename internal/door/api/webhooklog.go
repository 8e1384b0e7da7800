package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/settings"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/watch"
)

// webhookKey is the key that media servers send.
type webhookKey struct {
	Key string `json:"key" doc:"The key; empty when there is none." example:"q3Jr0vXk2mZs8tYb"`
	// AuthEnabled is false where every webhook is taken.
	AuthEnabled bool `json:"auth_enabled" doc:"Whether webhooks must carry the key."`
	// LockedBy is where the key is set, when it cannot be rotated here.
	LockedBy string `json:"locked_by" doc:"Where the key is set, when it cannot be rotated here; else empty."`
}

// rotatedKey is a new webhook key.
type rotatedKey struct {
	Key string `json:"key" doc:"The new key; put it into the webhook addresses of your media servers." example:"q3Jr0vXk2mZs8tYb"`
}

// WebhookLog is the log of what came to the webhooks, and their key.
type WebhookLog struct {
	Log      *webhooklog.Log
	Settings *settings.Manager
	Masker   *secret.Masker
}

func (l WebhookLog) register(s *server) {
	const tag = "Webhooks"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/webhook-log", OperationID: "list-webhook-log", Tags: []string{tag},
		Summary:     "List the requests that arrived",
		Description: "Every request that came to a webhook, newest first, ignored and refused ones included, with what became of it. Secrets in bodies are masked.",
	}, l.listWebhookLog)
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/webhook-key", OperationID: "get-webhook-key", Tags: []string{tag},
		Summary: "Get the webhook key",
	}, func(context.Context, *none) (*JSON[webhookKey], error) {
		current := l.Settings.Current().Auth
		return answer(webhookKey{current.WebhookKey.Reveal(), current.WebhookAuthEnabled, l.keyLockedBy()}, nil)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/webhook-key/rotate", OperationID: "rotate-webhook-key", Tags: []string{tag},
		Summary:     "Make a new webhook key",
		Description: "The old one ends at once: every media server needs its new address.",
		Errors:      []int{http.StatusConflict},
	}, l.rotateWebhookKey)
}

func (l WebhookLog) listWebhookLog(ctx context.Context, in *struct {
	PageQuery
	Source  pushSource `query:"source" doc:"Only requests of this source."`
	Outcome string     `query:"outcome" enum:"accepted,ignored,refused" doc:"Only requests that became records, that were no watch, or that were answered as an error."`
	Text    string     `query:"q" maxLength:"200" doc:"Only requests with this text in the title, the user name, the reason or the body."`
}) (*JSON[Page[webhooklog.Entry]], error) {
	entries, next, err := l.Log.List(ctx, webhooklog.Filter{Source: watch.Source(in.Source), Outcome: webhooklog.Outcome(in.Outcome), Text: in.Text, Before: in.seen, Limit: in.Limit})
	return answer(Page[webhooklog.Entry]{entries, cursorOf(next)}, err)
}

func (l WebhookLog) rotateWebhookKey(ctx context.Context, _ *none) (*JSON[rotatedKey], error) {
	if by := l.keyLockedBy(); by != "" {
		return nil, keyLocked.With(by)
	}
	key := settings.NewWebhookKey()
	l.Masker.Add(key)
	if err := l.Settings.Patch(ctx, map[string]map[string]any{"auth": {"webhook_key": key}}); err != nil {
		return nil, err
	}
	return answer(rotatedKey{key}, nil)
}

// keyLockedBy is the file or variable that sets the webhook key; empty when it can be changed here.
func (l WebhookLog) keyLockedBy() string {
	for _, section := range l.Settings.Schema() {
		for _, key := range section.Keys {
			if key.Path == "auth.webhook_key" {
				return key.LockedBy
			}
		}
	}
	return ""
}
