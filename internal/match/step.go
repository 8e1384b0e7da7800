package match

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
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
	// Input and Output are facts by name, for people.
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

// stepTitles are the steps as a person reads them.
var stepTitles = map[StepName]string{
	StepRoute: "Account", StepBlock: "Blocked keywords", StepMapping: "Your mappings", StepPayload: "IDs of the catalog", StepDataset: "ID table",
	StepArchive: "Archive", StepAPI: "Catalog", StepLive: "Live action", StepAdult: "Adult titles", StepArbiter: "Arbiter", StepEpisode: "Episode",
	StepDecision: "Decision", StepMark: "Mark", StepCorrect: "Correction",
}

// Title is the name of the step as a person reads it.
func (s Step) Title() string { return cmp.Or(stepTitles[s.Name], string(s.Name)) }

// Said is what there is to say of the step in one line.
func (s Step) Said() string {
	said := func(key string) string {
		switch value := s.Output[key].(type) {
		case nil:
			return ""
		case []string:
			return strings.Join(value, ", ")
		default:
			return fmt.Sprint(value)
		}
	}
	var words []string
	switch s.Name {
	case StepRoute:
		words = append(words, map[bool]string{true: "goes to " + said("accounts"), false: "no account names the user"}[s.Status == Hit])
	case StepBlock:
		words = append(words, map[bool]string{true: "stops it: " + said("keyword"), false: "none stops it"}[s.Status == Hit])
	case StepMapping, StepPayload:
		words = append(words, map[bool]string{true: "decides", false: "none"}[s.Status == Hit])
	case StepEpisode:
		words = append(words, said("how"))
	case StepArbiter:
		words = append(words, said("verdict"))
	case StepDecision:
		words = append(words, cmp.Or(said("reason"), said("because")))
	case StepMark, StepCorrect:
		words = append(words, said("result"), said("because"))
	default:
		if because := said("because"); because != "" {
			return "not asked: " + because
		}
		words = append(words, map[bool]string{true: "1 candidate", false: fmt.Sprintf("%d candidates", len(s.Candidates))}[len(s.Candidates) == 1])
	}
	for _, key := range []string{"error", "passed_over"} {
		words = append(words, said(key))
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	return cmp.Or(strings.Join(words, "; "), string(s.Status))
}
