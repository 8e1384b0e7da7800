package web

import (
	"context"
	"encoding/json"
	"slices"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/tell/notify"
)

// recipients are the channels that a notice is sent to by the rules of now, or why there are none.
type recipients struct {
	// Names are those of the channels.
	Names []string
	// Why is the text key of why no channel gets it. Rule is the request body that makes a rule for it, and empty
	// where a rule does not help.
	Why, Rule string
}

// recipientsOf are the recipients of notices of one kind about several people. channels are all that exist.
func (g Summaries) recipientsOf(ctx context.Context, w words, channels []notify.Channel, notices ...notify.Notice) (recipients, error) {
	var reached []int64
	for _, notice := range notices {
		reached = append(reached, g.Notices.Reaches(ctx, notice)...)
	}
	var found recipients
	on := false
	for _, c := range channels {
		on = on || c.Enabled
		if slices.Contains(reached, c.ID) {
			found.Names = append(found.Names, c.Name)
		}
	}
	switch {
	case len(found.Names) > 0 || len(notices) == 0:
		return found, nil
	case len(notices[0].Channels) > 0:
		found.Why = "recipients.own_off"
		return found, nil
	case !on:
		found.Why = "recipients.no_channel"
		return found, nil
	}
	found.Why = "recipients.no_rule"
	kind := notices[0].Kind
	rule, err := json.Marshal(map[string]any{"name": notify.InfoOf(kind).Name(bilingual.Language(w.lang)), "kinds": []notify.Kind{kind}})
	found.Rule = string(rule)
	return found, err
}
