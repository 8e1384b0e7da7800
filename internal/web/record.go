package web

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"watchmark/internal/record"
)

type recordPage struct {
	Record record.Record
	// The story has no trace when the record has none yet.
	story
	// Question is where the question stands that the record waits for; empty when there is none.
	Question string
	// Search finds the entry of a correction.
	Search subjectSearch
	// Correctable is set when correcting the match is what there is to do.
	Correctable bool
	// Advice is where to do something about it; empty when nothing is to be done.
	Advice string
}

// Retryable reports whether the record has come to an end that a retry could change.
func (p recordPage) Retryable() bool {
	return !p.Record.Status.IsOnTheWay()
}

// advice leads from what went wrong to where it is mended.
var advice = map[record.ErrorKind]string{
	record.UserNameMissing: "/connect",
	record.NoAccount:       "/accounts",
	record.Unauthorized:    "/accounts",
	record.Forbidden:       "/accounts",
}

// needsCorrection reports whether a record is mended by the right entry. Of one that waits
// for an answer that is asked, unless the question was put off.
func needsCorrection(r record.Record, question int64) bool {
	return r.ErrorKind == record.NotMatched || r.ErrorKind == record.EpisodeNotFound || r.Status == record.Review && question == 0
}

// record shows one record and why it came out so.
func (s *site) record(r *http.Request) (content, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return content{}, errNoPage
	}
	rec, err := s.Records.Get(r.Context(), id)
	if err != nil {
		return content{}, err
	}
	question, err := s.Questions.OfRecord(r.Context(), id)
	if err != nil {
		return content{}, err
	}
	page := recordPage{
		Record: rec, Advice: advice[rec.ErrorKind], Question: questionPath(question), Correctable: needsCorrection(rec, question),
		Search: subjectSearch{"correct-subject", "find.choose"},
	}
	raw, err := s.Records.Trace(r.Context(), id)
	if err != nil && !errors.Is(err, record.ErrNotFound) {
		return content{}, err
	}
	if err == nil {
		if page.story, err = storyOf(raw); err != nil {
			return content{}, fmt.Errorf("decode the trace of record %d: %w", id, err)
		}
	}
	return content{Heading: rec.Title, Data: page}, nil
}
