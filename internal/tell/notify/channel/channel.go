// Package channel sends messages out: to the services of adapter.go, by mail, or to a webhook.
// A channel is sent to by one caller at a time and keeps nothing between messages.
// The protocols are those of upstreams/channels.md and docs/design/channels.md.
package channel

import (
	"context"
	"time"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/reason"
)

// Message is what a channel sends.
type Message struct {
	// ID names the message. It is the same at every try, so that a receiver can tell a repeat.
	ID string
	// Kind is the kind of its notices; empty when they are of several.
	Kind string
	// Title is one line.
	Title string
	// Text is plain text of one or several lines, without the title.
	Text string
	// Link leads to the page that shows more; empty when the service does not know its address.
	Link string
	// At is when the newest of its notices happened.
	At time.Time
	// Page is the path of that page, without the address and the base path of the service.
	Page string
	// Language is the one that title and text are in.
	Language bilingual.Language
	// Actions are what may be answered with one tap, for channels whose config has Answers.
	Actions []Action
	// Count is how many notices it tells of, at least 1.
	Count int
	// Facts are the further placeholders (anime, season, user, …), of the first of the most
	// urgent notices, all of them from outside.
	Facts map[string]string
}

// Action is an answer with one tap: its label, and the token that stands for it, which is a secret.
type Action struct{ Label, Token string }

// Sender is a channel that is ready to send.
type Sender interface {
	// Send sends m and returns nil only when the receiver has taken it; otherwise a *Failure,
	// or the error of ctx.
	Send(ctx context.Context, m Message) error
}

// Blame is what a failure says of what comes next.
type Blame int

// Temporary is worth another try. OfMessage is this message's own fault: others may pass.
// OfChannel is the channel's fault: nothing passes until a person mends its settings.
// Unsure is a message that was sent and whose answer was lost: a further try could show it twice.
// Gone is said of a receiver that is no more and never comes back: its channel is removed.
const (
	Temporary Blame = iota
	OfMessage
	OfChannel
	Unsure
	Gone
)

// Failure is why a message was not taken. It holds no secret.
type Failure struct {
	Blame Blame
	// Problem is what happened, Advice what to do about it; Advice may be empty.
	Problem, Advice reason.Reason
	// RetryAfter is how long the receiver wants to be left alone; 0 when it did not say.
	RetryAfter time.Duration
}

// Reason is problem and advice.
func (f *Failure) Reason() reason.Reason {
	if f.Advice.IsZero() {
		return f.Problem
	}
	return problemAndAdvice.With(f.Problem, f.Advice)
}

func (f *Failure) Error() string { return f.Reason().Text }
