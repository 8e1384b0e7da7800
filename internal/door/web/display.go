package web

import (
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/match"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source/preview"
	"watchmark/internal/source/watcher"
	"watchmark/internal/upkeep/diagnose"
	"watchmark/internal/upkeep/replicas"
)

// display is how a state is shown: a colour, an icon and the key of a text. The colour never stands alone.
type display struct {
	Tone string // good, warn, bad, busy or quiet
	Icon string
	Key  string
}

var recordDisplays = map[record.Status]display{
	record.Received:   {"busy", "inbox", "status.received"},
	record.Processing: {"busy", "loader", "status.processing"},
	record.Success:    {"good", "circle-check", "status.success"},
	record.Ignored:    {"quiet", "circle-slash", "status.ignored"},
	record.Review:     {"warn", "circle-question-mark", "status.review"},
	record.Queued:     {"warn", "hourglass", "status.queued"},
	record.Failed:     {"bad", "circle-x", "status.error"},
}

var stepDisplays = map[match.StepStatus]display{
	match.Hit:     {"good", "circle-check", "step.status.hit"},
	match.Miss:    {"quiet", "circle-minus", "step.status.miss"},
	match.Skipped: {"quiet", "skip-forward", "step.status.skipped"},
	match.Failed:  {"bad", "circle-x", "step.status.error"},
}

var healthDisplays = map[health]display{
	healthy:   {"good", "circle-check", "account.health.ok"},
	unchecked: {"quiet", "circle", "account.health.unchecked"},
	expiring:  {"warn", "hourglass", "account.health.expiring"},
	expired:   {"bad", "circle-x", "account.health.expired"},
	broken:    {"bad", "circle-x", "account.health.broken"},
	tokenless: {"bad", "circle-x", "account.health.tokenless"},
}

// displayOf shows the status of a record or of a step, the health of an account, the answer to a webhook, the result
// of a diagnosis, or the outcome that a preview expects or a seed had.
func displayOf(state any) display {
	switch state := state.(type) {
	case record.Status:
		if l, known := recordDisplays[state]; known {
			return l
		}
	case health:
		return healthDisplays[state]
	case webhooklog.Entry:
		return answerDisplay(state.Status)
	case diagnose.Result:
		return targetDisplay(state)
	case replicas.Replica:
		return replicaDisplay(state)
	case preview.Status:
		return previewDisplays[state]
	case watcher.SeedStatus:
		return seedDisplays[state]
	case match.StepStatus:
		if l, known := stepDisplays[state]; known {
			return l
		}
	}
	return display{"quiet", "circle", "status.unknown"}
}

// answerDisplay shows the HTTP status that a webhook was answered with.
func answerDisplay(status int) display {
	switch {
	case status == 202:
		return display{"good", "circle-check", "answer.accepted"}
	case status < 300:
		return display{"quiet", "circle-slash", "answer.ignored"}
	case status == 401 || status == 403:
		return display{"bad", "circle-x", "answer.key"}
	case status < 500:
		return display{"bad", "circle-x", "answer.refused"}
	}
	return display{"bad", "triangle-alert", "answer.failed"}
}

// sourceDisplay shows a source by the answer to its newest request. A source that was understood works, even if that
// request, such as a pause, was ignored.
func sourceDisplay(status int) display {
	if status < 300 {
		return display{"good", "circle-check", "source.works"}
	}
	return answerDisplay(status)
}

// health is the state of an account's token.
type health int

const (
	// From expired on, nothing can be marked.
	healthy health = iota
	unchecked
	expiring
	expired
	broken
	tokenless
)

// expiresSoon is how long before its end a token that is not renewed counts as expiring.
const expiresSoon = 5 * 24 * time.Hour

// healthOf is the state of an account's token. Tokens from OAuth are renewed by the service, so they are never
// expiring.
func healthOf(a account.Account, now time.Time) health {
	switch {
	case !a.HasToken:
		return tokenless
	case a.ExpiresAt != nil && a.ExpiresAt.Before(now):
		return expired
	case !a.Problem.IsZero():
		return broken
	case a.ExpiresAt != nil && a.Method == account.ByToken && a.ExpiresAt.Before(now.Add(expiresSoon)):
		return expiring
	case a.CheckedAt == nil:
		return unchecked
	}
	return healthy
}
