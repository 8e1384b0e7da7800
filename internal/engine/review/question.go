package review

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
)

// InWorkError is returned by Undo while a record that the answer set going, or that its mapping may lead, is on its way.
type InWorkError struct{ RecordID int64 }

// Error is that of ErrInWork.
func (e *InWorkError) Error() string { return ErrInWork.Error() }

// Unwrap is ErrInWork.
func (e *InWorkError) Unwrap() error { return ErrInWork }

// MarkedError is returned by Undo while records hold marks that the answer led to.
type MarkedError struct{ RecordIDs []int64 }

// Error says what is to be done first.
func (e *MarkedError) Error() string { return e.Reason().Text }

// Reason says what is to be done first.
func (e *MarkedError) Reason() reason.Reason { return answerMarked.With(len(e.RecordIDs)) }

// Status is the state of a question.
type Status string

// The states. A Deferred question was deleted by a person: it is not shown, and waits for
// the next event of its title.
const (
	Pending   Status = "pending"
	Confirmed Status = "confirmed"
	Rejected  Status = "rejected"
	Deferred  Status = "deferred"
)

// Question asks which subject a title is.
type Question struct {
	ID     int64  `json:"id"`
	Status Status `json:"status"`
	// Title is as the newest event spelled it, and so are the original title and the kind.
	Title         string `json:"title"`
	OriginalTitle string `json:"original_title"`
	// Season is nil for films and where the events told none.
	Season    *int        `json:"season"`
	MediaType watch.Media `json:"media_type"`
	// Episode is the number that the newest event tells, which of a special is the question's; nil for films.
	Episode *float64 `json:"episode"`
	// Candidates are of the newest event, the best first.
	Candidates []match.Candidate `json:"candidates"`
	// Reason is why the newest event was not marked, in one sentence.
	Reason reason.Reason `json:"reason_value,omitzero"`
	// Waiting is how many records wait for the answer, Episodes the numbers of the first 50 of
	// them in order, RecordID the newest one (0 when none waits) and Source where it came from.
	Waiting  int          `json:"waiting"`
	Episodes []float64    `json:"episodes"`
	RecordID int64        `json:"record_id"`
	Source   watch.Source `json:"source"`
	// People are those whose records wait, for the owner alone; records of the owner's accounts add nobody.
	People []int64 `json:"people"`
	// SubjectID, SubjectName and EpisodeOffset are what was confirmed; 0 and empty otherwise.
	SubjectID     catalog.SubjectID `json:"subject_id"`
	SubjectName   string            `json:"subject_name"`
	EpisodeOffset int               `json:"episode_offset"`
	// MappingID and BlockedID are what the answer wrote; 0 when it wrote none.
	MappingID int64 `json:"mapping_id"`
	BlockedID int64 `json:"blocked_id"`
	// AnsweredBy is the person whose answer it is; 0 is the one for all.
	AnsweredBy int64     `json:"-"`
	CreatedAt  time.Time `json:"created_at"`
	// UpdatedAt is when it last was asked, answered or taken back.
	UpdatedAt time.Time `json:"updated_at"`

	since time.Time // when the first record that waits came in
}

// Answer is what was asked and answered, without what others who wait for it, or did last, told of themselves.
func (q Question) Answer() Question {
	q.Episode, q.Candidates, q.Reason = nil, []match.Candidate{}, reason.Reason{}
	q.Waiting, q.Episodes, q.RecordID, q.Source = 0, []float64{}, 0, ""
	return q
}

// MarshalJSON adds the text of the reason.
func (q Question) MarshalJSON() ([]byte, error) {
	type plain Question
	return reason.MarshalBeside((*plain)(&q))
}

// IsFilm reports whether the question is about a film.
func (q Question) IsFilm() bool { return q.MediaType == watch.Movie }

// isSpecial reports whether the question is about one special.
func (q Question) isSpecial() bool { return q.Season != nil && *q.Season == 0 && !q.IsFilm() }

// Candidate is the stored candidate with the subject id.
func (q Question) Candidate(id catalog.SubjectID) (match.Candidate, bool) {
	i := slices.IndexFunc(q.Candidates, func(c match.Candidate) bool { return c.SubjectID == id })
	if i < 0 {
		return match.Candidate{}, false
	}
	return q.Candidates[i], true
}

// Choice is the subject that a person confirms.
type Choice struct {
	SubjectID catalog.SubjectID
	// Name is the subject's, for people.
	Name string
	// EpisodeOffset is added to the episode numbers of events.
	EpisodeOffset int
	// Seen is how the question looked when it was chosen (Question.seen): it is not answered when it looks otherwise by then. Empty takes it
	// as it is.
	Seen string
}

// Choose is the choice of a stored candidate without an offset: the subject that its
// season begins with, from where the episode is counted on.
func Choose(c match.Candidate) Choice {
	choice := Choice{SubjectID: c.SubjectID, Name: cmp.Or(c.NameCN, c.Name)}
	if c.StartID != 0 {
		choice.SubjectID = c.StartID
	}
	return choice
}

// Choose is the choice of a stored candidate without an offset. The numbers of a media
// server's specials are its own: one is chosen for the number that asked alone, by the offset
// that leads from there to the candidate's episode. It returns a *reason.FieldError when no
// whole offset does.
func (q Question) Choose(c match.Candidate) (Choice, error) {
	choice := Choose(c)
	if !q.isSpecial() || q.Episode == nil || c.EpisodeSort == nil {
		return choice, nil
	}
	offset := *c.EpisodeSort - *q.Episode
	if offset != math.Trunc(offset) {
		return Choice{}, reason.At("episode_offset", noOffset.With(*q.Episode, *c.EpisodeSort))
	}
	choice.SubjectID, choice.EpisodeOffset = c.SubjectID, int(offset)
	return choice, nil
}

// Answer is what an answer, or taking it back, did.
type Answer struct {
	Question Question
	// Mapping is what Confirm wrote, Blocked what Reject wrote or found blocked already.
	Mapping mapping.Mapping
	Blocked mapping.Blocked
	// RecordIDs are the records that are run again.
	RecordIDs []int64
	// Left is how many older records Undo left with a mark that the answer led to.
	Left int
	// Kept is set when Undo left the mapping or the keyword alone, because somebody changed it since.
	Kept bool
}

// decision is what an answer or a correction did, as it is stored for its undo.
type decision struct {
	SubjectID     catalog.SubjectID `json:"subject_id,omitempty"`
	SubjectName   string            `json:"subject_name,omitempty"`
	EpisodeOffset int               `json:"episode_offset,omitempty"`
	Mapping       *mapping.Mapping  `json:"mapping,omitempty"`
	Replaced      []mapping.Mapping `json:"replaced,omitempty"`
	Blocked       *mapping.Blocked  `json:"blocked,omitempty"`
	RecordIDs     []int64           `json:"record_ids,omitempty"`
}

// person is whose decision it is; 0 holds for all.
func (d decision) person() int64 {
	switch {
	case d.Mapping != nil:
		return d.Mapping.PersonID
	case d.Blocked != nil:
		return d.Blocked.PersonID
	}
	return 0
}

// decisionOf reads what is stored of a decision; empty before there is one.
func decisionOf(stored string) (d decision, err error) {
	if stored == "" {
		return d, nil
	}
	if err := json.Unmarshal([]byte(stored), &d); err != nil {
		return decision{}, fmt.Errorf("decode a decision: %w", err)
	}
	return d, nil
}

// stored is d as decisionOf reads it.
func (d decision) stored() (string, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return "", fmt.Errorf("encode a decision: %w", err)
	}
	return string(text), nil
}

// most is how many candidates a question keeps.
const most = 10

// of is the best candidates of a trace. What a later layer says of a subject, or found from
// the same start, goes before what an earlier one said: the catalog is never older than the archive.
func of(t match.Trace) []match.Candidate {
	best := []match.Candidate{}
	for _, step := range t.Steps {
		for _, c := range step.Candidates {
			if c.SubjectID == 0 {
				continue
			}
			begins := Choose(c).SubjectID
			i := slices.IndexFunc(best, func(b match.Candidate) bool { return Choose(b).SubjectID == begins })
			if i < 0 {
				best = append(best, c)
			} else {
				best[i] = c
			}
		}
	}
	slices.SortStableFunc(best, func(a, b match.Candidate) int { return cmp.Compare(b.Score, a.Score) })
	return best[:min(len(best), most)]
}
