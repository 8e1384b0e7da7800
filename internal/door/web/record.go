package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"watchmark/internal/match"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source"
)

type recordPage struct {
	Record record.Record
	// The story has no trace when the record has none yet.
	traceView
	// Question is where the question stands that the record waits for, and QuestionID its id;
	// empty and 0 when there is none.
	Question   string
	QuestionID int64
	// Event is what the record was made of, as indented JSON.
	Event string
	// Request is what brought it; nil when that is not kept.
	Request *webhooklog.Entry
	// Polled is set for a source that is asked and sends nothing.
	Polled bool
	// RunningTask is the task that runs the record again now; 0 when none does.
	RunningTask int64
	// Search finds the entry of a correction.
	Search subjectSearch
	// Correctable is set when correcting the match is what there is to do.
	Correctable bool
	// Unrouted is what can be done about a user without an account; nil for any other.
	Unrouted *unroutedUser
	// Advice is where to do something about it; empty when nothing is to be done.
	Advice string
}

// Retryable reports whether the record has come to an end that a retry could change.
func (p recordPage) Retryable() bool {
	return !p.Record.Status.IsOnTheWay()
}

// RetryFirst reports that a retry may be what there is to do: what keeps the record back is not mended elsewhere.
func (p recordPage) RetryFirst() bool {
	return (p.Record.Status == record.Failed || p.Record.Status == record.Queued) && !p.Correctable && p.Advice == "" && p.Unrouted == nil
}

// Blockable reports whether blocking the title would change anything.
func (p recordPage) Blockable() bool {
	return p.Retryable() && (p.Trace == nil || p.Trace.Result.Status != match.Blocked)
}

// RunsAgain reports whether a block of the title is to reach the record itself.
func (p recordPage) RunsAgain() bool {
	return p.Record.Status == record.Failed || p.Record.Status == record.Queued || p.Record.Status == record.Review
}

// advice leads from what went wrong to where it is mended.
var advice = map[record.ErrorKind]string{
	record.UserNameMissing: "/connect",
	record.NoAccount:       "/accounts",
	record.UserIgnored:     "/accounts",
	record.Unauthorized:    "/accounts",
	record.Forbidden:       "/accounts",
	record.Unreachable:     "/queue",
	record.Abandoned:       "/queue",
}

// needsCorrection reports whether a record is mended by the right entry. Of one that waits
// for an answer that is asked, unless the question was put off.
func needsCorrection(r record.Record, question int64) bool {
	return r.ErrorKind == record.NotMatched || r.ErrorKind == record.EpisodeNotFound || r.Status == record.Review && question == 0
}

// record shows one record and why it came out so.
func (g Records) record(r *request) (content, error) {
	id, err := idOf(r)
	if err != nil {
		return content{}, err
	}
	work, err := g.Records.Work(r.Context(), id)
	if err != nil {
		return content{}, err
	}
	rec := work.Record
	question, err := g.Questions.OfRecord(r.Context(), id)
	if err != nil {
		return content{}, err
	}
	page := recordPage{
		Record: rec, Advice: advice[rec.ErrorKind], Question: questionPath(question), Correctable: needsCorrection(rec, question),
		Search: subjectSearch{ID: "correct-subject", Pick: "find.choose"}, QuestionID: question,
		Polled: !slices.Contains(source.Push, rec.Source), RunningTask: running(g.Tasks, id, retryKind, correctKind),
	}
	if rec.ErrorKind == record.NoAccount && rec.Status == record.Failed {
		accounts, err := g.Accounts.List(r.Context())
		if err != nil {
			return content{}, err
		}
		page.Unrouted, page.Advice = unroutedOf(rec.UserName, accounts), ""
	}
	event, err := json.MarshalIndent(work.Event, "", "  ")
	if err != nil {
		return content{}, err
	}
	page.Event = string(event)
	request, err := g.Requests.OfRecord(r.Context(), id, rec.CreatedAt)
	switch {
	case err == nil:
		request.Body = indented(request.Body)
		page.Request = &request
	case !errors.Is(err, webhooklog.ErrNotFound):
		return content{}, err
	}
	raw, err := g.Records.Trace(r.Context(), id)
	if err != nil && !errors.Is(err, record.ErrNotFound) {
		return content{}, err
	}
	if err == nil {
		if page.traceView, err = traceViewOf(raw); err != nil {
			return content{}, fmt.Errorf("decode the trace of record %d: %w", id, err)
		}
	}
	return content{Heading: rec.Title, Data: page}, nil
}

// indented is text as indented JSON, or as it is when it is none, or was cut.
func indented(text string) string {
	var out bytes.Buffer
	if json.Indent(&out, []byte(text), "", "  ") != nil {
		return text
	}
	return out.String()
}
