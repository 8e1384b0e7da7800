package match

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"watchmark/internal/platform/reason"
)

// StepName names a step of a trace. The strings are stored and part of the API.
type StepName string

// The steps, in the order they are taken: the account, the match, and what became of it.
const (
	StepRoute    StepName = "route"
	StepBlock    StepName = "block"
	StepMapping  StepName = "mapping"
	StepPayload  StepName = "payload_id"
	StepDataset  StepName = "dataset"
	StepArchive  StepName = "archive"
	StepAPI      StepName = "api"
	StepLive     StepName = "live_action"
	StepAdult    StepName = "adult"
	StepArbiter  StepName = "arbiter"
	StepEpisode  StepName = "episode"
	StepDecision StepName = "decision"
	StepMark     StepName = "mark"
	// StepCorrect is added by a person's correction, and kept by later runs.
	StepCorrect StepName = "correct"
)

// StepStatus is how a step came out. The strings are stored and part of the API.
type StepStatus string

// How steps come out.
const (
	Hit     StepStatus = "hit"
	Miss    StepStatus = "miss"
	Skipped StepStatus = "skipped"
	Failed  StepStatus = "error"
)

// Step is what one layer or stage did.
type Step struct {
	Name StepName `json:"name"`
	// Status is hit, miss, skipped or error.
	Status StepStatus `json:"status"`
	// Input and Output are facts by name, for people. Those of Output that are sentences are reasons.
	Input      map[string]any `json:"input"`
	Output     map[string]any `json:"output"`
	Candidates []Candidate    `json:"candidates"`
	ElapsedMS  float64        `json:"elapsed_ms"`
}

// Ended is the step as it is stored, with the time since start.
func (s Step) Ended(start time.Time) Step {
	if s.Input == nil {
		s.Input = map[string]any{}
	}
	if s.Output == nil {
		s.Output = map[string]any{}
	}
	if s.Candidates == nil {
		s.Candidates = []Candidate{}
	}
	s.ElapsedMS = milliseconds(time.Since(start))
	return s
}

// milliseconds is d as the API writes it.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// MarshalJSON has the texts of reasons among the output, each with its value beside it.
func (s Step) MarshalJSON() ([]byte, error) {
	type plain Step
	output := make(map[string]any, len(s.Output))
	for key, value := range s.Output {
		if r, is := value.(reason.Reason); is {
			output[key] = r.Text
			if r.Code == "" {
				continue
			}
			key += reason.ValueSuffix
		}
		output[key] = value
	}
	s.Output = output
	return json.Marshal(plain(s))
}

// UnmarshalJSON reads what MarshalJSON wrote, and steps of before.
func (s *Step) UnmarshalJSON(data []byte) error {
	type plain Step
	var values struct {
		Output map[string]json.RawMessage `json:"output"`
	}
	if err := errors.Join(json.Unmarshal(data, (*plain)(s)), json.Unmarshal(data, &values)); err != nil {
		return err
	}
	for key, value := range values.Output {
		if name, is := strings.CutSuffix(key, reason.ValueSuffix); is {
			var r reason.Reason
			if json.Unmarshal(value, &r) == nil {
				s.Output[name] = r
				delete(s.Output, key)
			}
		}
	}
	return nil
}

// Title is the name of the step as a person reads it.
func (s Step) Title() reason.Reason {
	if title := stepTitles[s.Name]; title != nil {
		return title.With()
	}
	return reason.Text(string(s.Name))
}

// Summary is what there is to say of the step in one line.
func (s Step) Summary() reason.Reason {
	hit := s.Status == Hit
	var all []reason.Reason
	switch s.Name {
	case StepRoute:
		all = append(all, choose(hit, stepGoesTo.With(s.fact("accounts")), stepNobody))
	case StepBlock:
		all = append(all, choose(hit, stepStops.With(s.fact("keyword")), stepFree))
	case StepMapping, StepPayload:
		all = append(all, choose(hit, stepDecides.With(), stepFindsNothing))
	case StepEpisode:
		all = append(all, s.fact("how"))
	case StepArbiter:
		all = append(all, s.fact("verdict"))
	case StepDecision:
		why := s.fact("reason")
		if why.IsZero() {
			why = s.fact("because")
		}
		all = append(all, why)
	case StepMark, StepCorrect:
		all = append(all, s.fact("result"), s.fact("because"))
	default:
		if because := s.fact("because"); !because.IsZero() {
			return stepNotAsked.With(because)
		}
		all = append(all, choose(len(s.Candidates) != 1, stepCandidates.With(len(s.Candidates)), stepOne))
	}
	all = append(all, s.fact("error"), s.fact("passed_over"))
	var whole reason.Reason
	for _, one := range all {
		switch {
		case whole.IsZero():
			whole = one
		case !one.IsZero():
			whole = stepAnd.With(whole, one)
		}
	}
	if whole.IsZero() {
		return reason.Text(string(s.Status))
	}
	return whole
}

// choose is a when the condition holds, and otherwise b.
func choose(condition bool, a reason.Reason, b *reason.Kind) reason.Reason {
	if condition {
		return a
	}
	return b.With()
}

// fact is a value of the output as a reason; empty when there is no such value.
func (s Step) fact(key string) reason.Reason {
	switch value := s.Output[key].(type) {
	case nil:
		return reason.Reason{}
	case reason.Reason:
		return value
	case []string:
		return reason.Text(strings.Join(value, ", "))
	default:
		return reason.Text(fmt.Sprint(value))
	}
}
