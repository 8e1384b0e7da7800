package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/door/access"
	"watchmark/internal/engine/review"
	"watchmark/internal/match/mapping"
)

// confirmInput is the subject that a person confirms.
type confirmInput struct {
	SubjectID     catalog.SubjectID `json:"subject_id" minimum:"1" doc:"One of the candidates, or any other entry: the number in the address of Bangumi's page." example:"265"`
	EpisodeOffset *int              `json:"episode_offset,omitempty" nullable:"true" doc:"Added to the episode number of an event. Left out, a candidate that its season was counted on to stands for the entry which the season begins with, and one of a special is led to by the offset from its number; given, also as 0, the mapping leads to subject_id itself."`
}

// AnsweredFor is whom an answer holds for.
type AnsweredFor struct {
	Person int64 `query:"person_id" minimum:"0" doc:"Of the owner: the person whom the answer holds for alone, one of those who wait; 0 is everybody. The answer of a person is always theirs."`
}

// AnsweredCandidate is what every answer to a question tells.
type AnsweredCandidate struct {
	Candidate review.Question `json:"pending_candidate"`
	Rerun
}

// Rerun is what runs again because of a decision.
type Rerun struct {
	RecordIDs []int64 `json:"record_ids" doc:"The records that are run again." example:"[42]"`
	TaskID    int64   `json:"task_id" doc:"The id of the task that follows them; 0 when there are none." example:"7"`
}

// confirmedCandidate is what confirming did.
type confirmedCandidate struct {
	AnsweredCandidate
	Mapping mapping.Mapping `json:"mapping"`
}

// rejectedCandidate is what rejecting did.
type rejectedCandidate struct {
	AnsweredCandidate
	Blocked mapping.Blocked `json:"blocked_keyword"`
}

// undoneCandidate is what undoing did.
type undoneCandidate struct {
	AnsweredCandidate
	Undone
}

// Undone is what taking a decision back did.
type Undone struct {
	UnmarkedIDs []int64 `json:"unmarked_record_ids" doc:"The records whose marks were taken back: what they themselves had written to a list."`
	Left        int     `json:"marks_left" doc:"How many marks stay: a record of another title relies on them, or they are older than those of the newest 500 records."`
	Kept        bool    `json:"rule_kept" doc:"Whether the mapping or blocked keyword was left alone, because somebody changed or made it otherwise."`
}

// Candidates are the titles that wait for a person to say what they are.
type Candidates struct {
	Store     *review.Store
	Decisions *review.Service
	Catalog   Catalog
}

func (c Candidates) register(s *server) {
	const tag = "Candidates"
	s.owned[access.Question] = func(ctx context.Context, id int64) error {
		_, err := c.Store.Reached(ctx, id)
		return err
	}
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/pending-candidates", OperationID: "list-pending-candidates", Tags: []string{tag},
		Summary:     "List the titles that wait for a person",
		Description: "A title and season that was matched too weakly to mark is one question, however many records wait for it; of specials (season 0) each number is one. Newest first. A pending question that no record waits for any more is not listed. A person sees what records of theirs wait for, and these alone; the owner sees all, and whose records wait, or with person_id what that person sees and answered.",
	}, func(ctx context.Context, in *struct {
		PageQuery
		Status string `query:"status" enum:"pending,confirmed,rejected" default:"pending" doc:"Questions in this state."`
		Person int64  `query:"person_id" minimum:"0" doc:"Of the owner: the person whose questions and answers these are; 0 is everybody's questions, with the answers that hold for all. A person always gets their own."`
	}) (*JSON[Page[review.Question]], error) {
		questions, next, err := c.Store.List(ctx, review.Filter{Person: in.Person, Statuses: []review.Status{review.Status(in.Status)}, Before: in.seen, Limit: in.Limit})
		return answer(Page[review.Question]{questions, cursorOf(next)}, err)
	})
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/pending-candidates/{id}", OperationID: "get-pending-candidate", Tags: []string{tag},
		Summary: "Get a question", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, in *ByID) (*JSON[review.Question], error) {
		return answer(c.Store.Get(ctx, in.ID))
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/pending-candidates/{id}/confirm", OperationID: "confirm-pending-candidate", Tags: []string{tag},
		Summary:       "Confirm an entry",
		Description:   "Writes a mapping of the title, for films or shows as the question is, for the season where the event told one, and of a special for its number alone, in the place of one that is there, and runs the records that wait again. An entry that is no candidate is looked up first. A mapping of events that tell no season holds for these and for season 1. The mapping of a person holds for them, and their records alone run again; the question stays for others who wait.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway, http.StatusServiceUnavailable},
	}, c.confirmCandidate)
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/pending-candidates/{id}/reject", OperationID: "reject-pending-candidate", Tags: []string{tag},
		Summary:       "Reject a title",
		Description:   "Blocks exactly this title, and nothing that only has it inside, and runs the records that wait again, which ignores them. Other seasons of the title are blocked with it.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, in *struct {
		ByID
		AnsweredFor
	}) (*JSON[rejectedCandidate], error) {
		a, err := c.Decisions.Reject(ctx, in.ID, in.Person)
		return answer(rejectedCandidate{answerView(a), a.Blocked}, err)
	})
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/pending-candidates/{id}/undo", OperationID: "undo-pending-candidate", Tags: []string{tag},
		Summary:       "Undo an answer",
		Description:   "Takes back all that the answer caused. First the marks: those of the records that waited, and of the newest 500 that its mapping led later, as far as the service itself wrote them. Then it removes the mapping or blocked keyword, unless somebody changed it since, brings back what that replaced, and runs these records again, so that they ask anew. When Bangumi cannot be reached the answer stays: undo it again later. A question that was deleted comes back, too.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway, http.StatusServiceUnavailable},
	}, c.undoCandidate)
	registerOther(s, huma.Operation{
		Method: http.MethodDelete, Path: "/api/pending-candidates/{id}", OperationID: "delete-pending-candidate", Tags: []string{tag},
		Summary: "Put a question off", Errors: []int{http.StatusNotFound, http.StatusConflict},
		Description: "The question is gone until the next event of its title comes in. The records that waited for it stay uncertain; they are part of the question when it is asked again.",
	}, func(ctx context.Context, in *ByID) (*none, error) {
		return nil, c.Decisions.PutOff(ctx, in.ID, "")
	})
}

func answerView(a review.Answered) AnsweredCandidate {
	return AnsweredCandidate{a.Question, rerunOf(a)}
}

func rerunOf(a review.Answered) Rerun {
	again := Rerun{RecordIDs: append([]int64{}, a.RecordIDs...)}
	if a.Task != nil {
		again.TaskID = a.Task.Status().ID
	}
	return again
}

func undoneOf(a review.Answered) Undone {
	return Undone{append([]int64{}, a.Unmarked...), a.Shared + a.Left, a.Kept}
}

func (c Candidates) confirmCandidate(ctx context.Context, in *struct {
	ByID
	AnsweredFor
	JSON[confirmInput]
}) (*JSON[confirmedCandidate], error) {
	q, err := c.Store.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if q.Status != review.Pending {
		return nil, review.ErrAnswered
	}
	choice, err := c.choose(ctx, q, in.Body)
	if err != nil {
		return nil, err
	}
	a, err := c.Decisions.Confirm(ctx, in.ID, in.Person, choice)
	return answer(confirmedCandidate{answerView(a), a.Mapping}, err)
}

// choose is the choice that an input means. A subject that is no candidate must exist and be
// an anime or live action.
func (c Candidates) choose(ctx context.Context, q review.Question, in confirmInput) (review.Choice, error) {
	if one, known := q.Candidate(in.SubjectID); known {
		if in.EpisodeOffset != nil {
			return review.Choice{SubjectID: one.SubjectID, Name: review.Choose(one).Name, EpisodeOffset: *in.EpisodeOffset}, nil
		}
		choice, err := q.Choose(one)
		if err != nil {
			return review.Choice{}, err
		}
		if choice.SubjectID != one.SubjectID {
			// Only its name is missing, and the candidate's tells enough where it cannot be had.
			if first, err := c.Catalog.Subject(ctx, choice.SubjectID); err == nil {
				choice.Name = first.DisplayName()
			}
		}
		return choice, nil
	}
	subject, err := c.Decisions.Chosen(ctx, in.SubjectID)
	if err != nil {
		return review.Choice{}, notAsked(err)
	}
	choice := review.Choice{SubjectID: subject.ID, Name: cmp.Or(subject.DisplayName(), fmt.Sprint(subject.ID))}
	if in.EpisodeOffset != nil {
		choice.EpisodeOffset = *in.EpisodeOffset
	}
	return choice, nil
}

func (c Candidates) undoCandidate(ctx context.Context, in *struct {
	ByID
	AnsweredFor
}) (*JSON[undoneCandidate], error) {
	a, err := c.Decisions.Undo(ctx, in.ID, in.Person)
	if errors.Is(err, catalog.ErrUnreachable) {
		return nil, later(undoLater)
	}
	return answer(undoneCandidate{answerView(a), undoneOf(a)}, err)
}
