package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"watchmark/internal/match"
	"watchmark/internal/record"
	"watchmark/internal/watch"
	"watchmark/internal/webhook"
)

type recordPage struct {
	Record record.Record
	// Trace is nil when the record has none yet.
	Trace *match.Trace
	Steps []stepView
	// Raw is the trace as indented JSON.
	Raw string
	// Question is where the question stands that the record waits for, and QuestionID its id;
	// empty and 0 when there is none.
	Question   string
	QuestionID int64
	// Event is what the record was made of, as indented JSON.
	Event string
	// Request is what brought it; nil when that is not kept.
	Request *webhook.Entry
	// Polled is set for a source that is asked and sends nothing.
	Polled bool
	// Following is the task that runs the record again now; 0 when none does.
	Following int64
	// Search finds the entry of a correction.
	Search subjectSearch
	// Correctable is set when correcting the match is what there is to do.
	Correctable bool
	// Advice is where to do something about it; empty when nothing is to be done.
	Advice string
}

// stepView is a step of the trace with its facts in a fixed order.
type stepView struct {
	match.Step
	Number     int
	Input      []fact
	Output     []fact
	Candidates []candidateView
}

// stepKeys are the words for the status of steps that the usual ones do not fit.
var stepKeys = map[[2]string]string{
	{"mark", "hit"}:      "step.status.done",
	{"correct", "hit"}:   "step.status.done",
	{"block", "hit"}:     "step.status.blocked",
	{"block", "miss"}:    "step.status.free",
	{"decision", "hit"}:  "step.status.accepted",
	{"decision", "miss"}: "step.status.unsure",
}

// Look is how the status of the step is shown.
func (v stepView) Look() look {
	l := lookOf(v.Status)
	if key := stepKeys[[2]string{v.Name, v.Status}]; key != "" {
		l.Key = key
	}
	return l
}

type candidateView struct {
	match.Candidate
	Parts []part
	// Best marks the candidate the result names, Chosen the one that was certain enough.
	Best   bool
	Chosen bool
}

type fact struct{ Name, Value string }

type part struct {
	Name  string
	Score float64
}

// Retryable reports whether the record has come to an end that a retry could change.
func (p recordPage) Retryable() bool {
	return !p.Record.Status.IsOnTheWay()
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
func (s *site) record(r *http.Request) (content, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return content{}, errNoPage
	}
	work, err := s.Records.Work(r.Context(), id)
	if err != nil {
		return content{}, err
	}
	rec := work.Record
	question, err := s.Questions.OfRecord(r.Context(), id)
	if err != nil {
		return content{}, err
	}
	page := recordPage{
		Record: rec, Advice: advice[rec.ErrorKind], Question: questionPath(question), Correctable: needsCorrection(rec, question),
		Search: subjectSearch{ID: "correct-subject", Pick: "find.choose"}, QuestionID: question,
		Polled: !slices.Contains(watch.PushSources, rec.Source), Following: s.following(id, "retry", "correct"),
	}
	event, err := json.MarshalIndent(work.Event, "", "  ")
	if err != nil {
		return content{}, err
	}
	page.Event = string(event)
	request, err := s.WebhookLog.OfRecord(r.Context(), id, rec.CreatedAt)
	switch {
	case err == nil:
		request.Body = indented(request.Body)
		page.Request = &request
	case !errors.Is(err, webhook.ErrNotFound):
		return content{}, err
	}
	raw, err := s.Records.Trace(r.Context(), id)
	if err != nil && !errors.Is(err, record.ErrNotFound) {
		return content{}, err
	}
	if err == nil {
		if err := page.addTrace(raw); err != nil {
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

func (p *recordPage) addTrace(raw json.RawMessage) error {
	p.Raw, p.Trace = indented(string(raw)), &match.Trace{}
	if err := json.Unmarshal(raw, p.Trace); err != nil {
		return err
	}
	for i, step := range p.Trace.Steps {
		view := stepView{Step: step, Number: i + 1, Input: facts(step.Input), Output: facts(step.Output)}
		for _, c := range step.Candidates {
			best := c.SubjectID != 0 && c.SubjectID == p.Trace.Result.SubjectID
			chosen := best && p.Trace.Result.Status != match.Review
			view.Candidates = append(view.Candidates, candidateView{Candidate: c, Parts: parts(c.Parts), Best: best, Chosen: chosen})
		}
		p.Steps = append(p.Steps, view)
	}
	return nil
}

// factOrder puts what a person looks for first; other facts follow by name.
var factOrder = []string{"title", "titles", "original_title", "season_title", "season", "episode", "air_date", "user_name", "account", "accounts",
	"result", "best", "score", "next", "ahead", "accept", "review", "margin"}

// place is where a fact stands among the others.
func place(name string) int {
	if i := slices.Index(factOrder, name); i >= 0 {
		return i
	}
	return len(factOrder)
}

// facts are the values of a step worth a line, in the order people look for them.
func facts(values map[string]any) []fact {
	var all []fact
	for name, value := range values {
		if text := factText(value); text != "" {
			all = append(all, fact{name, text})
		}
	}
	slices.SortFunc(all, func(a, b fact) int {
		return cmp.Or(cmp.Compare(place(a.Name), place(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// longestFact bounds what one value may take of the page, in runes; the raw trace has it whole.
const longestFact = 300

// factText is a value as a person reads it; empty for nothing.
func factText(value any) string {
	var text string
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		text = v
	case bool:
		if !v {
			return ""
		}
		text = "✓"
	case float64:
		text = number(v)
	case []any:
		items := make([]string, 0, len(v))
		for _, item := range v {
			items = append(items, factText(item))
		}
		text = strings.Join(items, ", ")
	default:
		encoded, err := json.Marshal(v)
		if err != nil || string(encoded) == "{}" {
			return ""
		}
		text = string(encoded)
	}
	if runes := []rune(text); len(runes) > longestFact {
		return string(runes[:longestFact]) + "…"
	}
	return text
}

// parts are the pieces of a score, the strongest first.
func parts(scores map[string]float64) []part {
	all := make([]part, 0, len(scores))
	for name, score := range scores {
		all = append(all, part{name, score})
	}
	slices.SortFunc(all, func(a, b part) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Name, b.Name))
	})
	return all
}
