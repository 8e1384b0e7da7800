package web

import (
	"net/url"
	"time"

	"watchmark/internal/tell/llm"
)

// llmPage shows the language model and its use.
type llmPage struct {
	Display  display
	Settings map[string]control
	// Host is the host of the model; empty when none is set up.
	Host  string
	Model string
	Usage llm.Report
	Rows  []usageRow
	Chart bars
}

// usageRow is the use by a job on a day; Each is the average time of an answer in milliseconds.
type usageRow struct {
	llm.Used
	Each float64
}

// usageDays is how many days of use are shown.
const usageDays = 30

func (g Summaries) llm(r *request) (content, error) {
	now := time.Now()
	usage, err := g.Usage(r.Context(), now, usageDays)
	if err != nil {
		return content{}, err
	}
	page := llmPage{Settings: controls(g.Settings, "llm"), Usage: usage, Chart: usageOf(usage.Days, now), Display: display{"quiet", "power", "llm.is.off"}}
	for _, u := range usage.Days {
		page.Rows = append(page.Rows, usageRow{u, float64(u.LatencyMS) / float64(max(1, u.Requests))})
	}
	model := g.Settings.Current().LLM
	page.Model = model.Model
	if model.BaseURL != "" {
		page.Display = display{"good", "circle-check", "llm.is.on"}
		if usage.LastErrorAt != nil {
			page.Display = display{"quiet", "sparkles", "llm.is.on"}
		}
		if address, err := url.Parse(model.BaseURL); err == nil {
			page.Host = address.Host
		}
	}
	return content{Data: page}, nil
}

// usageOf draws the requests of the last days, answered and failed.
func usageOf(used []llm.Used, now time.Time) bars {
	first := now.AddDate(0, 0, 1-usageDays)
	days := make([][]int, usageDays)
	at := map[string][]int{}
	for i := range days {
		days[i] = make([]int, 2)
		at[first.AddDate(0, 0, i).Format(time.DateOnly)] = days[i]
	}
	for _, u := range used {
		if counts := at[u.Day]; counts != nil {
			counts[0], counts[1] = counts[0]+u.Requests-u.Failed, counts[1]+u.Failed
		}
	}
	return barsOf(first, days, "good", "bad")
}
