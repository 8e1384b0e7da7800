// Package preview tells, before anything is marked, what would become of much that was
// watched: a table that a person reads before importing a history.
package preview

import (
	"context"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
)

// Status is what would become of an event.
type Status string

// What may become of an event.
const (
	Mark            Status = "mark"              // it would be marked
	Marked          Status = "marked"            // it is on the list already: nothing would be written
	DryRun          Status = "dry_run"           // found, and the account only tells what it would mark
	Review          Status = "review"            // a person would be asked
	NotFound        Status = "not_found"         // nothing in the catalog fits
	EpisodeNotFound Status = "episode_not_found" // the entry is certain, it lacks the episode
	Blocked         Status = "blocked"           // a blocked keyword stops the title, or the account skips adult titles
	NoAccount       Status = "no_account"        // no account names this user
	Refused         Status = "refused"           // the list cannot be read: the token wants attention
	Unreachable     Status = "unreachable"       // the catalog cannot be asked now
)

// Verdict is what would become of one event.
type Verdict struct {
	Status      Status
	SubjectID   catalog.SubjectID // 0 for none
	SubjectName string
	// Reason is why, in one sentence.
	Reason reason.Reason
	// Since is when the list got what is Marked, as far as it tells; zero otherwise.
	Since time.Time
	// Accounts are those that it holds for, where the ones that the event goes to come out differently; empty where it holds for all.
	Accounts []string
}

// Of tells what would become of an event on the lists that it goes to, and changes nothing: one verdict, or one for each that comes out
// differently. Its error ends the whole forecast.
type Of func(ctx context.Context, event watch.Event) ([]Verdict, error)

// OfList is Of for one list.
type OfList func(ctx context.Context, event watch.Event) (Verdict, error)

// Row is what would become of a film, or of those episodes of a season that come out alike.
type Row struct {
	Title       string            `json:"title"`
	Season      *int              `json:"season" doc:"0 is specials; null when it is not known, and for films."`
	Film        bool              `json:"film"`
	Episodes    []float64         `json:"episodes" doc:"In ascending order; empty for films."`
	Status      Status            `json:"status" enum:"mark,marked,dry_run,review,not_found,episode_not_found,blocked,no_account,refused,unreachable" doc:"marked is on the list already."`
	SubjectID   catalog.SubjectID `json:"subject_id" doc:"Bangumi's entry; 0 for none."`
	SubjectName string            `json:"subject_name"`
	Accounts    []string          `json:"accounts" doc:"The accounts that this holds for, where those that name the user come out differently, each by the mappings and blocked titles of its person; empty where it holds for all of them."`
	Reason      reason.Reason     `json:"reason_value" doc:"Why, in one sentence; that of the first episode."`
}

// MarshalJSON has the text of the reason beside it, as reason.
func (r Row) MarshalJSON() ([]byte, error) {
	type plain Row
	return reason.MarshalBeside((*plain)(&r))
}

// most is how many episodes and films a table looks up.
const most = 20000

// Table gathers what would become of events. The zero value is not ready: see NewTable.
type Table struct {
	Rows   []Row          `json:"rows" doc:"In the order in which they were first seen."`
	Counts map[Status]int `json:"counts" doc:"How many episodes and films have each status."`
	Items  int            `json:"items" doc:"Episodes and films in the rows; one that comes out differently for several accounts is counted for each."`
	More   int            `json:"more" doc:"Reports beyond the bound of 20,000 episodes and films, which were not looked up."`

	of   Of
	seen map[string]bool
	at   map[string]int
}

// NewTable is an empty table of what of tells.
func NewTable(of Of) *Table {
	return &Table{Rows: []Row{}, Counts: map[Status]int{}, of: of, seen: map[string]bool{}, at: map[string]int{}}
}

// Add looks an event up, unless its episode or film is in the table. The error is that of its Of.
func (t *Table) Add(ctx context.Context, event watch.Event) error {
	item := of(event)
	if !event.IsFilm() {
		item = fmt.Sprintf("%s %v", item, *event.Episode)
	}
	switch {
	case t.seen[item]:
		return nil
	case t.Items >= most:
		t.More++
		return nil
	}
	verdicts, err := t.of(ctx, event)
	if err != nil {
		return err
	}
	t.seen[item] = true
	for _, v := range verdicts {
		t.Put(event, v)
	}
	return nil
}

// Put adds what becomes of an event, unless the table says so already.
func (t *Table) Put(event watch.Event, v Verdict) {
	key := keyOf(event, v)
	i, known := t.at[key]
	if !known {
		i = len(t.Rows)
		t.at[key] = i
		t.Rows = append(t.Rows, Row{
			Title: event.Title, Season: event.Season, Film: event.IsFilm(), Episodes: []float64{},
			Status: v.Status, SubjectID: v.SubjectID, SubjectName: v.SubjectName, Accounts: append([]string{}, v.Accounts...), Reason: v.Reason,
		})
	} else if event.IsFilm() {
		return
	}
	if event.Episode != nil {
		row := &t.Rows[i]
		place, known := slices.BinarySearch(row.Episodes, *event.Episode)
		if known {
			return
		}
		row.Episodes = slices.Insert(row.Episodes, place, *event.Episode)
	}
	t.Items++
	t.Counts[v.Status]++
}

// Take takes out what Put added, because it came out otherwise.
func (t *Table) Take(event watch.Event, v Verdict) {
	key := keyOf(event, v)
	i, known := t.at[key]
	if !known {
		return
	}
	row := &t.Rows[i]
	if event.Episode != nil {
		place, known := slices.BinarySearch(row.Episodes, *event.Episode)
		if !known {
			return
		}
		row.Episodes = slices.Delete(row.Episodes, place, place+1)
	}
	t.Items--
	t.Counts[v.Status]--
	if len(row.Episodes) == 0 {
		t.Rows = slices.Delete(t.Rows, i, i+1)
		delete(t.at, key)
		for other, at := range t.at {
			if at > i {
				t.at[other] = at - 1
			}
		}
	}
}

// keyOf is which row a verdict of an event belongs to.
func keyOf(event watch.Event, v Verdict) string {
	return fmt.Sprintf("%s %s %d %q", of(event), v.Status, v.SubjectID, v.Accounts)
}

// of is what an event is about: a film, or a season of a show. Remakes and films of one name differ by their ids, or by the year.
func of(event watch.Event) string {
	if event.IsFilm() {
		return fmt.Sprintf("%q %q %v %d", event.UserName, event.Title, event.ItemIDs, event.AirDate.Year)
	}
	season := -1 // not told
	if event.Season != nil {
		season = *event.Season
	}
	return fmt.Sprintf("%q %q %v %d", event.UserName, event.Title, event.SeriesIDs, season)
}
