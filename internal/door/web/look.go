package web

import (
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/match"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/upkeep/diagnose"
)

// look is how a state is shown: a tone, an icon, and a key of its word. The tone never
// stands alone.
type look struct {
	Tone string // good, warn, bad, busy or quiet
	Icon string
	Key  string
}

var recordLooks = map[record.Status]look{
	record.Received:   {"busy", "inbox", "status.received"},
	record.Processing: {"busy", "loader", "status.processing"},
	record.Success:    {"good", "circle-check", "status.success"},
	record.Ignored:    {"quiet", "circle-slash", "status.ignored"},
	record.Review:     {"warn", "circle-question-mark", "status.review"},
	record.Queued:     {"warn", "hourglass", "status.queued"},
	record.Failed:     {"bad", "circle-x", "status.error"},
}

var stepLooks = map[match.StepStatus]look{
	match.Hit:     {"good", "circle-check", "step.status.hit"},
	match.Miss:    {"quiet", "circle-minus", "step.status.miss"},
	match.Skipped: {"quiet", "skip-forward", "step.status.skipped"},
	match.Failed:  {"bad", "circle-x", "step.status.error"},
}

var healthLooks = map[health]look{
	healthy:   {"good", "circle-check", "account.health.ok"},
	unchecked: {"quiet", "circle", "account.health.unchecked"},
	expiring:  {"warn", "hourglass", "account.health.expiring"},
	expired:   {"bad", "circle-x", "account.health.expired"},
	broken:    {"bad", "circle-x", "account.health.broken"},
	tokenless: {"bad", "circle-x", "account.health.tokenless"},
}

// lookOf is the look of a record's status, a step's status, an account's health, a
// webhook's answer, or of how a service outside was found.
func lookOf(state any) look {
	switch state := state.(type) {
	case record.Status:
		if l, known := recordLooks[state]; known {
			return l
		}
	case health:
		return healthLooks[state]
	case webhooklog.Entry:
		return answerLook(state.Status)
	case diagnose.Result:
		return targetLook(state)
	case match.StepStatus:
		if l, known := stepLooks[state]; known {
			return l
		}
	}
	return look{"quiet", "circle", "status.unknown"}
}

// answerLook is the look of what a webhook was answered.
func answerLook(status int) look {
	switch {
	case status == 202:
		return look{"good", "circle-check", "answer.accepted"}
	case status < 300:
		return look{"quiet", "circle-slash", "answer.ignored"}
	case status == 401 || status == 403:
		return look{"bad", "circle-x", "answer.key"}
	case status < 500:
		return look{"bad", "circle-x", "answer.refused"}
	}
	return look{"bad", "triangle-alert", "answer.failed"}
}

// heardLook is the look of a source by what its newest request was answered: one that is heard and
// understood works, whether what it told was worth a mark or, as a pause, was not.
func heardLook(status int) look {
	if status < 300 {
		return look{"good", "circle-check", "source.works"}
	}
	return answerLook(status)
}

// health is the state of an account's token.
type health int

const (
	healthy health = iota
	unchecked
	expiring
	expired
	broken
	tokenless
)

// soon is how long before its end a token that does not renew itself is worth a word.
const soon = 5 * 24 * time.Hour

// healthOf judges an account's token. Tokens from OAuth are renewed by the service, so
// only their problems and their end count.
func healthOf(a account.Account, now time.Time) health {
	switch {
	case !a.HasToken:
		return tokenless
	case a.ExpiresAt != nil && a.ExpiresAt.Before(now):
		return expired
	case a.Problem != "":
		return broken
	case a.ExpiresAt != nil && a.Method == account.ByToken && a.ExpiresAt.Before(now.Add(soon)):
		return expiring
	case a.CheckedAt == nil:
		return unchecked
	}
	return healthy
}
