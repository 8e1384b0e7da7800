package match

import (
	"watchmark/internal/catalog"
	"watchmark/internal/platform/reason"
)

// Status is how a match came out.
type Status string

// The outcomes of a match; the strings are part of the API.
const (
	Matched         Status = "matched"           // one subject and episode are certain enough to mark
	Review          Status = "review"            // something fits, not well enough: left to a person
	NotFound        Status = "not_found"         // nothing in the catalog fits
	EpisodeNotFound Status = "episode_not_found" // the subject is certain, its chapter list lacks the episode
	Blocked         Status = "blocked"           // a blocked keyword stops the title
	NoAccount       Status = "no_account"        // nobody's account names this user
	Unreachable     Status = "unreachable"       // the catalog could not be asked; try again later
)

// Trace is the step-by-step account of how a match came out. It is stored with
// the record and shown to people; nothing in it is secret.
type Trace struct {
	Result    Result  `json:"result"`
	Steps     []Step  `json:"steps"`
	ElapsedMS float64 `json:"elapsed_ms"`
	// Err is what a look-up failed with; nil when none did.
	Err error `json:"-"`
	// Rule is the mapping that fits the event; nil when none does.
	Rule *Rule `json:"-"`

	archived bool
}

// UsedArchive reports whether the offline archive was asked.
func (t Trace) UsedArchive() bool { return t.archived }

// Result is the decision.
type Result struct {
	Status      Status            `json:"status"`
	SubjectID   catalog.SubjectID `json:"subject_id"`
	SubjectName string            `json:"subject_name"`
	// SubjectType is 0 when there is no subject.
	SubjectType catalog.SubjectType `json:"subject_type"`
	// Film is set when the subject or the event is a film. A matched film may have EpisodeID 0:
	// it has no episode list, and the subject itself is to be set done.
	Film bool `json:"film"`
	// Adult is set when the subject is known to be an adult title.
	Adult       bool              `json:"adult,omitempty"`
	EpisodeID   catalog.EpisodeID `json:"episode_id"`
	EpisodeSort *float64          `json:"episode_sort"`
	// Method names the layer whose candidate won: mapping, api, …
	Method string `json:"method"`
	// Confidence is a ratio 0..1.
	Confidence float64 `json:"confidence"`
	// Reason says why.
	Reason reason.Reason `json:"reason_value,omitzero"`
}

// MarshalJSON has the text of the reason beside it.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	return reason.MarshalBeside((*plain)(&r))
}

// UnmarshalJSON reads what MarshalJSON wrote, and results of before.
func (r *Result) UnmarshalJSON(data []byte) error {
	type plain Result
	return reason.UnmarshalBeside(data, (*plain)(r))
}

// Rule is a mapping as it was when it was looked up for an event.
type Rule struct {
	MappingID     int64
	SubjectID     catalog.SubjectID
	EpisodeOffset int
	// PassedOver says why the mapping was not obeyed; empty when it was.
	PassedOver reason.Reason
}

// Candidate is a subject that a layer proposes.
type Candidate struct {
	SubjectID catalog.SubjectID `json:"subject_id"`
	// StartID is the subject that the season begins with, where the episode was counted on into
	// SubjectID from there; 0 where they are the same. A mapping of the season leads to it.
	StartID catalog.SubjectID `json:"start_id,omitempty"`
	Name    string            `json:"name"`
	NameCN  string            `json:"name_cn"`
	// EpisodeSort is the number of the episode in the subject; nil when it was not found there.
	EpisodeSort *float64 `json:"episode_sort,omitempty"`
	// Score is a ratio 0..1: how sure the layer is.
	Score float64 `json:"score"`
	// Parts are the named pieces the score was made of (title, date, season, …), each a ratio 0..1.
	Parts    map[string]float64 `json:"parts,omitempty"`
	Source   string             `json:"source"`
	Reason   reason.Reason      `json:"reason_value,omitzero"`
	Date     string             `json:"date,omitempty"`
	Platform string             `json:"platform,omitempty"`
	// Eps is how many episodes the catalog says the subject has; 0 when it does not say.
	Eps int `json:"eps,omitempty"`
}

// MarshalJSON has the text of the reason beside it.
func (c Candidate) MarshalJSON() ([]byte, error) {
	type plain Candidate
	return reason.MarshalBeside((*plain)(&c))
}

// UnmarshalJSON reads what MarshalJSON wrote, and candidates of before.
func (c *Candidate) UnmarshalJSON(data []byte) error {
	type plain Candidate
	return reason.UnmarshalBeside(data, (*plain)(c))
}
