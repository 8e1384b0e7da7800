package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"watchmark/internal/catalog/account"
	"watchmark/internal/match"
	"watchmark/internal/record"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source"
	"watchmark/internal/watch"
)

type recordPage struct {
	Record record.Record
	// The trace is nil while the record has none.
	traceView
	// Question is the path of the question that the record waits for, and QuestionID its id; empty and 0 when there is
	// none.
	Question   string
	QuestionID int64
	// Event is the event of the record as indented JSON.
	Event string
	// Server is what its media server calls itself; empty when the source does not tell.
	Server string
	// Request is the webhook request it came by; nil when it is not kept.
	Request *webhooklog.Entry
	// Polled is set when its source is polled and sends no requests.
	Polled bool
	// RunningTask is the task that retries or corrects the record; 0 when none runs.
	RunningTask int64
	// Search finds the right subject for a correction.
	Search subjectSearch
	// Corrected is set when the record has a correction that can be undone.
	Corrected bool
	// Correctable is set when a correction of the match solves the problem of the record.
	Correctable bool
	// Unrouted is its user when no account lists them; nil otherwise.
	Unrouted *unroutedUser
	// Personal is set when a correction may hold for the person alone whose record it is, or for all.
	Personal bool
	// Advice is the path of the page that solves its problem; empty when there is none.
	Advice string
}

// Retryable reports whether the record can be retried: it is not being processed.
func (p recordPage) Retryable() bool {
	return !p.Record.Status.IsOnTheWay()
}

// RetryFirst reports whether a retry is the first thing to try: no other page or form solves the problem.
func (p recordPage) RetryFirst() bool {
	return (p.Record.Status == record.Failed || p.Record.Status == record.Queued) && !p.Correctable && p.Advice == "" && p.Unrouted == nil
}

// Blockable reports whether blocking the title would change anything.
func (p recordPage) Blockable() bool {
	return p.Retryable() && (p.Trace == nil || p.Trace.Result.Status != match.Blocked)
}

// RunsAgain reports whether the record is run again after its title was blocked.
func (p recordPage) RunsAgain() bool {
	return p.Record.Status == record.Failed || p.Record.Status == record.Queued || p.Record.Status == record.Review
}

// advice is the page that solves a problem, by its kind.
var advice = map[record.ErrorKind]string{
	record.UserNameMissing: "/sources/webhooks",
	record.NoAccount:       "/people",
	record.UserIgnored:     "/people",
	record.Unauthorized:    "/people",
	record.Forbidden:       "/people",
	record.Unreachable:     "/records/queue",
	record.Abandoned:       "/records/queue",
}

// needsCorrection reports whether a record lacks the right subject and no question asks for it. question is 0 for a
// record in review whose question was put off.
func needsCorrection(r record.Record, question int64) bool {
	return r.ErrorKind == record.NotMatched || r.ErrorKind == record.EpisodeNotFound || r.Status == record.Review && question == 0
}

// record shows a record with its trace.
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
		Polled: !slices.Contains(source.Push, rec.Source),
	}
	if page.RunningTask, err = g.Tasks.RunningOf(r.Context(), id, retryKind, correctKind); err != nil {
		return content{}, err
	}
	if page.Corrected, err = g.Questions.IsCorrected(r.Context(), id); err != nil {
		return content{}, err
	}
	if rec.ErrorKind == record.NoAccount && rec.Status == record.Failed && rec.Source != watch.Scrobble {
		offered, err := offersFor(r.Context(), g.Accounts, g.WhoAre, []string{rec.UserName})
		if err != nil {
			return content{}, err
		}
		page.Unrouted, page.Advice = offered.of(rec.UserName), ""
	}
	if page.Advice != "" && !r.may(page.Advice) {
		page.Advice = ""
		if advice[rec.ErrorKind] == "/people" {
			page.Advice = "/mine/account"
		}
	}
	if page.Personal, err = g.isPersonal(r, rec); err != nil {
		return content{}, err
	}
	event, err := json.MarshalIndent(work.Event, "", "  ")
	if err != nil {
		return content{}, err
	}
	page.Event, page.Server = string(event), work.Event.ServerName
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
		if page.traceView, err = traceViewOf(raw, r.lang); err != nil {
			return content{}, fmt.Errorf("decode the trace of record %d: %w", id, err)
		}
	}
	return content{Heading: rec.Title, Data: page}, nil
}

// isPersonal reports whether whoever reads the page of a record may choose whom a correction holds for.
func (g Records) isPersonal(r *request, rec record.Record) (bool, error) {
	if rec.AccountID == 0 || !r.can("share-mapping") {
		return false, nil
	}
	a, err := g.Accounts.Get(r.Context(), rec.AccountID)
	if errors.Is(err, account.ErrNotFound) {
		return false, nil
	}
	return a.PersonID != 0, err
}

// indented indents JSON. A text that is not valid JSON, such as one that was cut, stays as it is.
func indented(text string) string {
	var out bytes.Buffer
	if json.Indent(&out, []byte(text), "", "  ") != nil {
		return text
	}
	return out.String()
}
