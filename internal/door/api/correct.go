package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/catalog"
	"watchmark/internal/engine/review"
	"watchmark/internal/match"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
)

// correctionInput is what a record should have led to.
type correctionInput struct {
	SubjectID     catalog.SubjectID `json:"subject_id" doc:"The right entry: the number in the address of Bangumi's page." example:"265"`
	EpisodeOffset int               `json:"episode_offset,omitempty" doc:"Added to the episode number of an event, such as -12 where the library goes on counting and Bangumi starts anew."`
	EverySeason   bool              `json:"every_season,omitempty" doc:"Whether the mapping is for every season of the title, not that of the record alone."`
	Personal      bool              `json:"personal,omitempty" doc:"Whether the mapping holds for the person alone whose record it is, and only their records are corrected. The mapping of a person always does."`
	Unmark        *bool             `json:"unmark,omitempty" doc:"Whether what was marked and is not right is taken back; true when left out."`
	Mark          *bool             `json:"mark,omitempty" doc:"Whether the records are run again, so that the right episode is marked; true when left out."`
	AllOfTitle    bool              `json:"all_of_title,omitempty" doc:"Whether all records that the mapping is for are corrected: the newest 500, without ignored ones. Those that came out right, and those that the mapping leads to no episode, stay as they are."`
}

// startedCorrection answers that a correction is on its way.
type startedCorrection struct {
	Mapping   mapping.Mapping `json:"mapping" doc:"The mapping that was written."`
	RecordIDs []int64         `json:"record_ids" doc:"The records that are corrected." example:"[42]"`
	TaskID    int64           `json:"task_id" doc:"The id of the task that takes back and marks anew." example:"7"`
}

// correctionPreview is what there is to correct, and what a correction would do.
type correctionPreview struct {
	Corrected    bool            `json:"corrected" doc:"Whether the record has a correction that can be undone."`
	Marks        []markedEntry   `json:"marks" doc:"What the record itself wrote to a list. What it found there is not among it."`
	Others       int             `json:"others" doc:"How many other records all_of_title would correct."`
	OthersMarked int             `json:"others_marked" doc:"How many of them wrote a mark."`
	OthersChange int             `json:"others_change" doc:"With all_of_title, how many of them would be run again."`
	OthersStay   int             `json:"others_stay" doc:"How many would stay as they are: they came out right, or the mapping leads them to no episode."`
	OthersUntold int             `json:"others_untold" doc:"How many it cannot be told of now: Bangumi cannot be asked, they are being worked on, or there are too many to look at."`
	Leads        *correctionGoal `json:"leads,omitempty" doc:"Where the record would come out; left out when the query names no entry."`
	Same         bool            `json:"same" doc:"Whether that is what the record marked already: then nothing is taken back."`
}

// markedEntry is a mark that a record wrote.
type markedEntry struct {
	AccountID int64             `json:"account_id"`
	SubjectID catalog.SubjectID `json:"subject_id"`
	EpisodeID catalog.EpisodeID `json:"episode_id" doc:"0 for an entry without episodes, which was set done, and for the entry of the list alone."`
	Completed bool              `json:"completed" doc:"Whether the entry was set done with it."`
	Created   bool              `json:"created" doc:"Whether it is the entry of the list, which was missing."`
}

// correctionGoal is where a record would come out.
type correctionGoal struct {
	Status      match.Status      `json:"status" enum:"matched,review,not_found,episode_not_found,blocked,no_account,unreachable"`
	SubjectID   catalog.SubjectID `json:"subject_id" doc:"The entry; a sequel of the one asked for when the episode is counted on into it."`
	SubjectName string            `json:"subject_name"`
	EpisodeID   catalog.EpisodeID `json:"episode_id"`
	EpisodeSort *float64          `json:"episode_sort"`
	EpisodeName string            `json:"episode_name" doc:"The title of the episode; may be empty."`
	Reason      string            `json:"reason"`
	ReasonValue reason.Reason     `json:"reason_value,omitzero"`
}

// Corrections put right what a record led to.
type Corrections struct{ Decisions *review.Service }

func (c Corrections) register(s *server) {
	const tag = "Records"
	register(s, huma.Operation{
		Method: http.MethodGet, Path: "/api/records/{id}/correction", OperationID: "preview-correction", Tags: []string{tag},
		Summary:     "Preview a correction",
		Description: "What the record marked, and with a subject_id what a correction would lead to. Nothing is written.",
		Errors:      []int{http.StatusNotFound, http.StatusBadGateway},
	}, c.previewCorrection)
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/records/{id}/correct", OperationID: "correct-record", Tags: []string{tag},
		Summary: "Correct the match of a record",
		Description: "Writes the mapping of the title and season to the right entry in the place of the one there is, then starts a task that takes back what the record marked where the mapping does not lead, and runs it again. " +
			"Taken back is only what the record itself wrote: its episode, and \"done\" of the entry where this service set that; the entry stays on the list. " +
			"A record whose mark cannot be taken back keeps it, and the task fails; correct it again later.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway},
	}, c.correctRecord)
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/records/{id}/correction/undo", OperationID: "undo-correction", Tags: []string{tag},
		Summary: "Undo the correction of a record",
		Description: "Takes the newest correction of the record back. First the marks that its mapping led to: those of the records that it changed, and of the newest 500 that the mapping led later, as far as the service itself wrote them. " +
			"Then it removes the mapping, unless somebody changed it since, brings back what that replaced, and runs these records again, so that they come out as before. When Bangumi cannot be reached the correction stays: undo it again later. " +
			"409 when there is nothing to undo.",
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway, http.StatusServiceUnavailable},
	}, c.undoCorrection)
	register(s, huma.Operation{
		Method: http.MethodPost, Path: "/api/records/{id}/unmark", OperationID: "unmark-record", Tags: []string{tag},
		Summary:     "Take back what a record marked",
		Description: "Removes the mark that the record itself wrote; the record becomes ignored, and a retry marks again. 409 when it wrote nothing.",
		Errors:      []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway},
	}, func(ctx context.Context, in *ByID) (*JSON[record.Record], error) {
		return answer(c.Decisions.Unmark(ctx, in.ID, takenBack.With()))
	})
}

func (c Corrections) correctRecord(ctx context.Context, in *struct {
	ByID
	JSON[correctionInput]
}) (*JSON[startedCorrection], error) {
	b := in.Body
	started, err := c.Decisions.Correct(ctx, in.ID, review.Correction{
		SubjectID: b.SubjectID, EpisodeOffset: b.EpisodeOffset, EverySeason: b.EverySeason,
		Unmark: orTrue(b.Unmark), Mark: orTrue(b.Mark), AllOfTitle: b.AllOfTitle, Personal: b.Personal,
	})
	if err != nil {
		return nil, err
	}
	return answer(startedCorrection{started.Mapping, started.RecordIDs, started.Task.Status().ID}, nil)
}

// undoneCorrection is what undoing a correction did.
type undoneCorrection struct {
	Rerun
	Undone
}

func (c Corrections) undoCorrection(ctx context.Context, in *ByID) (*JSON[undoneCorrection], error) {
	a, err := c.Decisions.UndoCorrection(ctx, in.ID)
	if errors.Is(err, catalog.ErrUnreachable) {
		return nil, later(undoLater)
	}
	return answer(undoneCorrection{rerunOf(a), undoneOf(a)}, err)
}

func (c Corrections) previewCorrection(ctx context.Context, in *struct {
	ByID
	SubjectID     int  `query:"subject_id" minimum:"0" doc:"The right entry; left out, only what there is to correct is told."`
	EpisodeOffset int  `query:"episode_offset" doc:"As in the correction."`
	EverySeason   bool `query:"every_season" doc:"As in the correction."`
	Personal      bool `query:"personal" doc:"As in the correction."`
	AllOfTitle    bool `query:"all_of_title" doc:"As in the correction: tells what would become of the other records."`
}) (*JSON[correctionPreview], error) {
	p, err := c.Decisions.PreviewCorrection(ctx, in.ID, review.Correction{
		SubjectID: catalog.SubjectID(in.SubjectID), EpisodeOffset: in.EpisodeOffset, EverySeason: in.EverySeason, AllOfTitle: in.AllOfTitle, Personal: in.Personal,
	})
	var field *reason.FieldError
	if errors.As(err, &field) {
		return nil, fieldProblem("query."+field.Field, field.What)
	}
	if err != nil {
		return nil, err
	}
	preview := correctionPreview{Corrected: p.Corrected, Marks: []markedEntry{}, Others: p.Others, OthersMarked: p.OthersMarked, OthersChange: p.OthersChange, OthersStay: p.OthersStay, OthersUntold: p.OthersUntold, Same: p.Same}
	for _, m := range p.Marks {
		preview.Marks = append(preview.Marks, markedEntry{m.AccountID, m.SubjectID, m.EpisodeID, m.Completed, m.Created})
	}
	if p.Leads != nil {
		goal := goalOf(*p.Leads, p.EpisodeName)
		preview.Leads = &goal
	}
	return answer(preview, nil)
}

func goalOf(r match.Result, episodeName string) correctionGoal {
	return correctionGoal{r.Status, r.SubjectID, r.SubjectName, r.EpisodeID, r.EpisodeSort, episodeName, r.Reason.Text, r.Reason}
}
