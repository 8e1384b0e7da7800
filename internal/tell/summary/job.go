// Package summary tells what was watched: jobs turn the records of some days into a short
// text, written by a language model where one is set up and of plain figures otherwise; and
// once a day people are told which episodes of what they are watching air.
//
// What it promises: a job runs once at a time, whoever starts it, in this process or another;
// its result and the notice of it are one transaction, so that a crash neither loses nor
// doubles one; titles and names are data to the model, and what the model answers is only ever shown.
package summary

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
)

// The errors a caller branches on.
var (
// ErrNotFound is returned for a name that no job has.
// ErrTaken is returned for a name that another job has.
// ErrFull is returned when there are as many jobs as there may be.
// ErrRunning is returned while a run of the job is under way.
// ErrStopping is returned while the service stops, also for a run that it ended.
)

// MostRecords is how many records a job looks at in detail at most.
const MostRecords = 500

const (
	jobsMost = 50
	// What a person has at most, and how close the runs of one are.
	ownJobsMost = 5
	ownClosest  = time.Hour
	// resultsKept is how many results of a job are kept.
	resultsKept = 100
)

// Draft is a job as a person enters it.
type Draft struct {
	Name     string `json:"name" doc:"Its name, which is part of the paths: letters, digits, - and _." example:"daily"`
	Enabled  bool   `json:"enabled" doc:"Whether it runs by its schedule."`
	Cron     string `json:"cron" doc:"When it runs, as a cron expression of five fields in the local time." example:"0 21 * * *"`
	DaysBack int    `json:"days_back" doc:"How many days before a run it looks at." example:"1"`
	// User is the media-server user; empty is everybody.
	User string `json:"user" doc:"The media-server user, compared exactly; empty for everybody."`
	// Prompt is empty for the standard one.
	Prompt     string  `json:"prompt" doc:"What the model is told to do; empty for the standard prompt in the language of notifications."`
	MaxRecords int     `json:"max_records" doc:"How many records are told in detail at most, the newest; 0 for 500."`
	Channels   []int64 `json:"channels" doc:"The channels it is sent to; empty leaves that to the rules."`
	SkipEmpty  bool    `json:"skip_empty" doc:"Whether nothing is sent when nothing was watched."`
}

// Job is a stored job.
type Job struct {
	ID int64 `json:"id"`
	Draft
	Running   bool      `json:"running" doc:"Whether a run is under way, here or in another process."`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// NextRun is nil while nothing is planned.
	NextRun *time.Time `json:"next_run" doc:"When it runs next by its schedule; null while it is switched off."`
	// Last is nil before the first run.
	Last *Last `json:"last,omitempty" doc:"How the last run came out; not there before the first."`

	// person is whose it is, whose records alone it tells and who alone is told; 0 is the owner.
	person int64
	// plannedFrom is the time after which the next run of the schedule is looked for.
	plannedFrom time.Time
}

// Last is how the last run of a job came out.
type Last struct {
	At      time.Time     `json:"at"`
	Outcome Outcome       `json:"outcome" enum:"done,empty,failed"`
	Problem reason.Reason `json:"problem_value,omitzero" doc:"Why it failed, or why the model did not write the text; empty when it did."`
}

// MarshalJSON has the text of the problem beside it, as problem.
func (l Last) MarshalJSON() ([]byte, error) {
	type plain Last
	return reason.MarshalBeside((*plain)(&l))
}

// Outcome is how a run came out.
type Outcome string

// The outcomes.
const (
	Done   Outcome = "done"
	Empty  Outcome = "empty" // nothing was watched, and nothing sent
	Failed Outcome = "failed"
)

// Starter is who started a run.
type Starter string

// The starters.
const (
	ByCron   Starter = "cron"
	ByPerson Starter = "person"
)

// Result is what a run brought.
type Result struct {
	ID      int64     `json:"id" doc:"Its number; 0 of a test, which is not kept."`
	At      time.Time `json:"at" doc:"When the run ended."`
	Starter Starter   `json:"started_by" enum:"cron,person" doc:"The schedule or a person."`
	Outcome Outcome   `json:"outcome" enum:"done,empty,failed" doc:"empty: nothing was watched, so nothing was sent."`
	From    time.Time `json:"from" doc:"The beginning of the time it tells of."`
	To      time.Time `json:"to" doc:"The end of it."`
	Records int       `json:"records" doc:"How many records there are in that time."`
	Text    string    `json:"text" doc:"The summary: plain text, to be escaped like anything from outside."`
	// Model is empty for a text of figures.
	Model            string        `json:"model" doc:"The model that wrote the text; empty when it is made of figures."`
	PromptTokens     int           `json:"prompt_tokens"`
	CompletionTokens int           `json:"completion_tokens"`
	Problem          reason.Reason `json:"problem_value,omitzero" doc:"Why it failed, or why the model did not write the text; empty when it did."`
}

// MarshalJSON has the text of the problem beside it, as problem.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	return reason.MarshalBeside((*plain)(&r))
}

// checked is the draft of who asks in its normal form, or a *reason.FieldError.
func (d Draft) checked(ctx context.Context, next func(expression string, after time.Time) (time.Time, error)) (Draft, error) {
	const longestName, longestUser, longestPrompt, daysMost, channelsMost = 64, 500, 4000, 366, 100
	d.Cron, d.Prompt = strings.TrimSpace(d.Cron), strings.TrimSpace(d.Prompt)
	foreign := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' }
	slices.Sort(d.Channels)
	d.Channels = slices.Compact(d.Channels)
	switch {
	case d.Name == "" || utf8.RuneCountInString(d.Name) > longestName || strings.ContainsFunc(d.Name, foreign) || !utf8.ValidString(d.Name):
		return d, reason.At("name", badName.With(longestName))
	case d.DaysBack < 1 || d.DaysBack > daysMost:
		return d, reason.At("days_back", daysOutOfRange.With(d.DaysBack, daysMost))
	case len(d.User) > longestUser:
		return d, reason.At("user", userTooLong.With(longestUser))
	case utf8.RuneCountInString(d.Prompt) > longestPrompt:
		return d, reason.At("prompt", promptTooLong.With(longestPrompt))
	case d.MaxRecords < 0 || d.MaxRecords > MostRecords:
		return d, reason.At("max_records", recordsOutOfRange.With(d.MaxRecords, MostRecords))
	case len(d.Channels) > channelsMost || len(d.Channels) > 0 && d.Channels[0] < 1:
		return d, reason.At("channels", badChannels.With())
	}
	at, err := next(d.Cron, time.Now())
	if err != nil {
		return d, reason.At("cron", err)
	}
	if scope.From(ctx).Whole() {
		return d, nil
	}
	const looked = 50 // further a schedule of five fields that comes more often does not hide it
	for range looked {
		after, err := next(d.Cron, at)
		switch {
		case err != nil:
			return d, reason.At("cron", err)
		case after.IsZero():
			return d, nil
		case after.Sub(at) < ownClosest:
			return d, reason.At("cron", tooClose)
		}
		at = after
	}
	return d, nil
}

// as is ctx with the scope of whose the job is.
func (j Job) as(ctx context.Context) context.Context {
	if j.person == 0 {
		return ctx
	}
	return scope.In(ctx, scope.Of(j.person))
}
