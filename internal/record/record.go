package record

import (
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
)

// Status is the state of a record.
type Status string

// The states. Received and Processing are on their way; Queued waits for the
// catalog; the others are final until somebody retries.
const (
	Received   Status = "received"
	Processing Status = "processing"
	Success    Status = "success"
	Ignored    Status = "ignored"
	Review     Status = "review"
	Queued     Status = "queued"
	Failed     Status = "error"
)

// IsOnTheWay reports whether the engine has the record still to work on, or works on it.
func (s Status) IsOnTheWay() bool { return s == Received || s == Processing }

// Statuses lists every state in the order people see them.
var Statuses = []Status{Received, Processing, Success, Ignored, Review, Queued, Failed}

// ErrorKind says why a record failed, so that a page can tell what to do about it.
type ErrorKind string

// The kinds of failure; empty for a record that did not fail.
const (
	UserNameMissing ErrorKind = "user_name_missing"
	NoAccount       ErrorKind = "no_account"
	UserIgnored     ErrorKind = "user_ignored" // of an ignored record
	NotMatched      ErrorKind = "not_matched"
	EpisodeNotFound ErrorKind = "episode_not_found"
	Unauthorized    ErrorKind = "unauthorized"
	Forbidden       ErrorKind = "forbidden"
	Refused         ErrorKind = "refused"
	Unreachable     ErrorKind = "unreachable"
	Abandoned       ErrorKind = "abandoned"
	Internal        ErrorKind = "internal"
)

// Record is what became of one event for one account.
type Record struct {
	ID            int64        `json:"id"`
	Status        Status       `json:"status"`
	Test          bool         `json:"test"`
	Source        watch.Source `json:"source"`
	SourceLabel   string       `json:"source_label"`
	Action        watch.Action `json:"action"`
	MediaType     watch.Media  `json:"media_type"`
	UserName      string       `json:"user_name"`
	Title         string       `json:"title"`
	OriginalTitle string       `json:"original_title"`
	Season        *int         `json:"season"`
	Episode       *float64     `json:"episode"`
	ReleaseDate   string       `json:"release_date"`
	// AccountID is 0 until the record was routed, and after its account was deleted.
	AccountID   int64             `json:"account_id"`
	AccountName string            `json:"account_name"`
	SubjectID   catalog.SubjectID `json:"subject_id"`
	SubjectName string            `json:"subject_name"`
	EpisodeID   catalog.EpisodeID `json:"episode_id"`
	EpisodeSort *float64          `json:"episode_sort"`
	// Method names the layer that found the subject.
	Method string `json:"method"`
	// Confidence is a ratio 0..1.
	Confidence float64       `json:"confidence"`
	Message    reason.Reason `json:"message_value,omitzero"`
	ErrorKind  ErrorKind     `json:"error_kind"`
	Attempts   int           `json:"attempts"`
	// Marked is set while a list holds a mark that this very record wrote.
	Marked bool `json:"marked"`
	// Rewatch is set for an episode that was marked before and was watched once more.
	Rewatch   bool      `json:"rewatch"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// MarshalJSON adds the text of the message.
func (r Record) MarshalJSON() ([]byte, error) {
	type plain Record
	return reason.MarshalBeside((*plain)(&r))
}

// Work is a claimed record with everything its event carried.
type Work struct {
	Record
	Event watch.Event
	// Owner is the incarnation that has it in hand.
	Owner int64
	// Background: it came by a task, ran before, or came with many others of its user, so that nobody waits for it at this moment.
	Background bool
}

// Outcome is how the engine leaves a record.
type Outcome struct {
	RecordID int64
	// Owner is the incarnation that has the record in hand; 0 for one that nobody has.
	Owner       int64
	Status      Status
	AccountID   int64 // 0 = none
	AccountName string
	SubjectID   catalog.SubjectID
	SubjectName string
	EpisodeID   catalog.EpisodeID
	EpisodeSort *float64
	Method      string
	Confidence  float64
	Message     reason.Reason
	ErrorKind   ErrorKind
	// Mark is what was newly written to the list of AccountID: the episode, or without one
	// the subject itself; nil when nothing was.
	Mark *Written
	// Answered: what else was intended for the subject was not written.
	Answered bool
	// Rewatch: it was marked before and was watched once more.
	Rewatch bool
	// Trace is the JSON of the match trace; nil leaves the stored one, and the rule.
	Trace []byte
	// Rule is the mapping that led the record; nil when none did.
	Rule *Rule
}

// Written says that a mark of an outcome was written, not found.
type Written struct {
	// Completed: the subject was set done with it.
	Completed bool
	// EntryAlone: the entry of the list was written, the episode was marked before or is not marked at all.
	EntryAlone bool
	// Created: that entry was missing.
	Created bool
	// Changed: the state of the entry was changed with it, and was Was before; 0 = it was missing, or this service had left it.
	Changed bool
	Was     catalog.CollectionType
}

// Filter selects records for List; zero fields do not restrict.
type Filter struct {
	Status Status
	Source watch.Source
	User   string
	// Text is looked for in titles, subject and user names.
	Text string
	// Since and Until bound when the record came in: not before Since, and before Until.
	Since, Until time.Time
	// Routed leaves out the records of users that no account names, ignored ones among them.
	Routed bool
	// Rewatch leaves out all that is no re-watch.
	Rewatch bool
	// Before is the cursor: only records with a smaller id.
	Before int64
	// Limit is 1..200; 0 means 50.
	Limit int
}

// Stats are the counts the dashboard shows.
type Stats struct {
	Today map[Status]int `json:"today"`
	Week  map[Status]int `json:"week"`
	Total map[Status]int `json:"total"`
}
