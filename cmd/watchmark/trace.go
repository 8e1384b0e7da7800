package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"watchmark/internal/match"
)

// stepNames are the steps of a trace as a person reads them.
var stepNames = map[string]string{
	"block": "Blocked keywords", "mapping": "Your mappings", "payload_id": "IDs of the catalog", "dataset": "ID table", "archive": "Archive",
	"api": "Catalog", "live_action": "Live action", "arbiter": "Arbiter", "episode": "Episode", "decision": "Decision",
}

// printTrace writes the trace for a person: what was asked, what each layer found and why, and what came of it.
func printTrace(out io.Writer, t match.Trace) error {
	var b strings.Builder
	if len(t.Steps) > 0 {
		printInput(&b, t.Steps[0].Input)
	}
	for _, step := range t.Steps {
		fmt.Fprintf(&b, "%-18s %s\n", cmp.Or(stepNames[step.Name], step.Name), told(step))
		for _, c := range step.Candidates {
			printCandidate(&b, c)
		}
	}
	r := t.Result
	fmt.Fprintf(&b, "\n%s", r.Status)
	if r.SubjectID != 0 {
		fmt.Fprintf(&b, ": %d %s", r.SubjectID, r.SubjectName)
	}
	if r.EpisodeSort != nil {
		fmt.Fprintf(&b, ", episode %g (id %d)", *r.EpisodeSort, r.EpisodeID)
	}
	if r.Confidence > 0 {
		fmt.Fprintf(&b, ", by %s, confidence %.2f", r.Method, r.Confidence)
	}
	fmt.Fprintf(&b, "\n%s\n", r.Reason)
	_, err := io.WriteString(out, b.String())
	return err
}

// printInput writes what was asked for, which the first step has.
func printInput(b *strings.Builder, input map[string]any) {
	for _, key := range []string{"title", "original_title", "season_title", "season", "episode", "date"} {
		if value, is := input[key]; is {
			fmt.Fprintf(b, "%-18s %v\n", strings.ReplaceAll(strings.ToUpper(key[:1])+key[1:], "_", " "), value)
		}
	}
	b.WriteString("\n")
}

func printCandidate(b *strings.Builder, c match.Candidate) {
	fmt.Fprintf(b, "  %.2f  %d  %s", c.Score, c.SubjectID, c.Name)
	if c.NameCN != "" && c.NameCN != c.Name {
		fmt.Fprintf(b, " (%s)", c.NameCN)
	}
	for _, more := range []string{c.Date, c.Platform} {
		if more != "" {
			fmt.Fprintf(b, "  %s", more)
		}
	}
	if c.EpisodeSort != nil {
		fmt.Fprintf(b, "  episode %g", *c.EpisodeSort)
	}
	if len(c.Parts) > 0 {
		b.WriteString("\n        ")
		for i, part := range slices.Sorted(maps.Keys(c.Parts)) {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(b, "%s %.2f", part, c.Parts[part])
		}
	}
	if c.Reason != "" {
		fmt.Fprintf(b, "\n        %s", c.Reason)
	}
	b.WriteString("\n")
}

// told is what there is to say of a step in one line.
func told(step match.Step) string {
	said := func(key string) string {
		if text, is := step.Output[key]; is {
			return fmt.Sprint(text)
		}
		return ""
	}
	var words []string
	switch step.Name {
	case "block":
		words = append(words, map[bool]string{true: "stops it: " + said("keyword"), false: "none stops it"}[step.Status == "hit"])
	case "mapping", "payload_id":
		words = append(words, map[bool]string{true: "decides", false: "none"}[step.Status == "hit"])
	case "episode":
		words = append(words, said("how"))
	case "arbiter":
		words = append(words, said("verdict"))
	case "decision":
		words = append(words, fmt.Sprintf("certain from %v, asked from %v, lead %v", step.Input["accept"], step.Input["review"], step.Input["margin"]))
		if ahead := said("ahead"); ahead != "" {
			words = append(words, "ahead by "+ahead)
		}
	default:
		if because := said("because"); because != "" {
			return "not asked: " + because
		}
		words = append(words, map[bool]string{true: "1 candidate", false: fmt.Sprintf("%d candidates", len(step.Candidates))}[len(step.Candidates) == 1])
	}
	for _, key := range []string{"error", "passed_over"} {
		if text := said(key); text != "" {
			words = append(words, text)
		}
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	return fmt.Sprintf("%s (%.1f ms)", strings.Join(words, "; "), step.ElapsedMS)
}
