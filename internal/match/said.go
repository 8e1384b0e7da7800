package match

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// stepNames are the steps of a trace as a person reads them.
var stepNames = map[string]string{
	"route": "Account", "block": "Blocked keywords", "mapping": "Your mappings", "payload_id": "IDs of the catalog", "dataset": "ID table", "archive": "Archive",
	"api": "Catalog", "live_action": "Live action", "adult": "Adult titles", "arbiter": "Arbiter", "episode": "Episode", "decision": "Decision", "mark": "Mark", "correct": "Correction",
}

// Title is the name of the step as a person reads it.
func (s Step) Title() string { return cmp.Or(stepNames[s.Name], s.Name) }

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
	case "route":
		words = append(words, map[bool]string{true: "goes to " + said("accounts"), false: "no account names the user"}[s.Status == "hit"])
	case "block":
		words = append(words, map[bool]string{true: "stops it: " + said("keyword"), false: "none stops it"}[s.Status == "hit"])
	case "mapping", "payload_id":
		words = append(words, map[bool]string{true: "decides", false: "none"}[s.Status == "hit"])
	case "episode":
		words = append(words, said("how"))
	case "arbiter":
		words = append(words, said("verdict"))
	case "decision":
		words = append(words, cmp.Or(said("reason"), said("because")))
	case "mark", "correct":
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
	return cmp.Or(strings.Join(words, "; "), s.Status)
}
