package watcher

import (
	"watchmark/internal/catalog"
	"watchmark/internal/platform/reason"
)

// The kinds of the tasks of a login. The record id of such a task is the id of the login. Those of its history are the
// importer's.
const (
	SyncTask = "server_sync" // its result is a CatchUp
	SeedTask = "server_seed" // its result is a Seeding
	UndoTask = "server_undo" // its result is a Seeding
)

// Seeding is what became of writing a list to a media server: of the preview, of the writing, and of undoing it.
type Seeding struct {
	LoginID   int64 `json:"login_id"`
	AccountID int64 `json:"account_id"`
	DryRun    bool  `json:"dry_run" doc:"Whether nothing was written."`
	Unmark    bool  `json:"unmark" doc:"Whether marks that the list does not have were taken away, too."`
	// Undoes is the task that this one undid; 0 for none.
	Undoes int64              `json:"undoes" doc:"The task that was undone; 0 for none."`
	Rows   []SeedRow          `json:"rows" doc:"For each season and film, in the order in which the server has them."`
	Counts map[SeedStatus]int `json:"counts" doc:"How many episodes and films have each status."`
	Undo   bool               `json:"undo" doc:"Whether there is something that can be undone."`
	More   int                `json:"more" doc:"Episodes and films that are counted and have no row, because there are too many."`
}

// SeedStatus is what became, or would become, of an episode or a film on the media server.
type SeedStatus string

// What may become of it.
const (
	SeedMark     SeedStatus = "mark"      // it is marked as played there
	SeedUnmark   SeedStatus = "unmark"    // its mark is taken away there
	SeedPlayed   SeedStatus = "played"    // it was played there already
	SeedUnlisted SeedStatus = "unlisted"  // the list does not have it as watched
	SeedNotFound SeedStatus = "not_found" // it could not be matched for sure
	SeedFailed   SeedStatus = "failed"    // the server did not take it
)

// SeedRow is a film, or those episodes of a season that came out alike.
type SeedRow struct {
	Title       string            `json:"title" doc:"As the media server has it."`
	Season      *int              `json:"season" doc:"0 is specials; null when it is not known, and for films."`
	Film        bool              `json:"film"`
	Episodes    []float64         `json:"episodes" doc:"In ascending order; empty for films."`
	Status      SeedStatus        `json:"status" enum:"mark,unmark,played,unlisted,not_found,failed"`
	SubjectID   catalog.SubjectID `json:"subject_id" doc:"Bangumi's entry; 0 for none."`
	SubjectName string            `json:"subject_name"`
	Reason      reason.Reason     `json:"reason_value,omitzero" doc:"Why, where there is more to say."`
}

// MarshalJSON has the text of the reason beside it, as reason.
func (r SeedRow) MarshalJSON() ([]byte, error) {
	type plain SeedRow
	return reason.MarshalBeside((*plain)(&r))
}
