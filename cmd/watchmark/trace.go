package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"watchmark/internal/match"
)

// printTrace writes the trace for a person: what was asked, what each layer found and why, and what came of it.
func printTrace(out io.Writer, t match.Trace) error {
	var b strings.Builder
	if len(t.Steps) > 0 {
		printInput(&b, t.Steps[0].Input)
	}
	for _, step := range t.Steps {
		fmt.Fprintf(&b, "%-18s %s (%.1f ms)\n", step.Title().Text, summaryOf(step), step.ElapsedMS)
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
	if !c.Reason.IsZero() {
		fmt.Fprintf(b, "\n        %s", c.Reason)
	}
	b.WriteString("\n")
}

// summaryOf is what there is to say of a step; of the decision it is by what it was made, for its reason stands at the end.
func summaryOf(step match.Step) string {
	if step.Name != match.StepDecision {
		return step.Summary().Text
	}
	words := fmt.Sprintf("certain from %v, asked from %v, lead %v", step.Input["accept"], step.Input["review"], step.Input["margin"])
	if ahead, is := step.Output["ahead"]; is {
		words += fmt.Sprintf("; ahead by %v", ahead)
	}
	return words
}
