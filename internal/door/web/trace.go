package web

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"watchmark/internal/match"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/reason"
)

// traceView is a trace as the pages show it.
type traceView struct {
	// Trace is nil without a trace.
	Trace *match.Trace
	Steps []stepView
	// Raw is the trace as indented JSON.
	Raw string
}

// stepView is a step of the trace with its values in a fixed order.
type stepView struct {
	match.Step
	Number     int
	Input      []fact
	Output     []fact
	Candidates []candidateView
}

type stepOutcome struct {
	name   match.StepName
	status match.StepStatus
}

// stepKeys are the words for the status of steps that the usual ones do not fit.
var stepKeys = map[stepOutcome]string{
	{match.StepMark, match.Hit}:      "step.status.done",
	{match.StepCorrect, match.Hit}:   "step.status.done",
	{match.StepBlock, match.Hit}:     "step.status.blocked",
	{match.StepBlock, match.Miss}:    "step.status.free",
	{match.StepDecision, match.Hit}:  "step.status.accepted",
	{match.StepDecision, match.Miss}: "step.status.unsure",
}

// Display is how the status of the step is shown.
func (v stepView) Display() display {
	l := displayOf(v.Status)
	if key := stepKeys[stepOutcome{v.Name, v.Status}]; key != "" {
		l.Key = key
	}
	return l
}

type candidateView struct {
	match.Candidate
	Parts []part
	// Best is set for the candidate of the result, Chosen when it was certain enough.
	Best   bool
	Chosen bool
}

// fact is a value by its name, in the reader's language.
type fact struct{ Name, Value string }

type part struct {
	Name  string
	Score float64
}

// traceViewOf makes the view of a stored trace in a language.
func traceViewOf(raw json.RawMessage, lang string) (traceView, error) {
	trace := traceView{Raw: indented(string(raw)), Trace: &match.Trace{}}
	if err := json.Unmarshal(raw, trace.Trace); err != nil {
		return traceView{}, err
	}
	for i, step := range trace.Trace.Steps {
		view := stepView{Step: step, Number: i + 1, Input: facts(step.Input, lang), Output: facts(step.Output, lang)}
		for _, c := range step.Candidates {
			best := c.SubjectID != 0 && c.SubjectID == trace.Trace.Result.SubjectID
			chosen := best && trace.Trace.Result.Status != match.Review
			view.Candidates = append(view.Candidates, candidateView{Candidate: c, Parts: parts(c.Parts), Best: best, Chosen: chosen})
		}
		trace.Steps = append(trace.Steps, view)
	}
	return trace, nil
}

// factOrder is the order of the values of a step. Others follow, sorted by name.
var factOrder = []string{"title", "titles", "original_title", "season_title", "season", "episode", "air_date", "user_name", "account", "accounts",
	"result", "best", "score", "next", "ahead", "accept", "review", "margin"}

// place is the index of a value in factOrder.
func place(name string) int {
	if i := slices.Index(factOrder, name); i >= 0 {
		return i
	}
	return len(factOrder)
}

// facts are the values of a step that have a text, in the order of factOrder.
func facts(values map[string]any, lang string) []fact {
	var all []fact
	for name, value := range values {
		if r, is := value.(reason.Reason); is {
			value = r.In(bilingual.Language(lang))
		}
		if text := factText(value); text != "" {
			all = append(all, fact{name, text})
		}
	}
	slices.SortFunc(all, func(a, b fact) int {
		return cmp.Or(cmp.Compare(place(a.Name), place(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// longestFact bounds the text of a value, in runes. The raw trace holds the whole value.
const longestFact = 300

// factText is a value as text; empty for null, false and empty objects.
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

// parts are the parts of a score, the highest first.
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
