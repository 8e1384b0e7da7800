package web

import (
	"net/http"
	"net/url"
	"time"

	"watchmark/internal/llm"
)

// llmPage is the language model: whether there is one, and what it was used for.
type llmPage struct {
	Look     look
	Settings map[string]control
	// Host is where it is asked; empty while there is none.
	Host  string
	Model string
	Usage llm.Report
	Rows  []usageRow
	Chart usageChart
}

// usageRow is what a job used on a day; Each is how long an answer took on average, in milliseconds.
type usageRow struct {
	llm.Used
	Each float64
}

// usageDays is how many days the use is told of.
const usageDays = 30

func (s *site) llm(r *http.Request) (content, error) {
	now := time.Now()
	usage, err := s.ModelUsage(r.Context(), now, usageDays)
	if err != nil {
		return content{}, err
	}
	page := llmPage{Settings: s.controls("llm"), Usage: usage, Chart: usageChartOf(usage.Days, now), Look: look{"quiet", "power", "llm.is.off"}}
	for _, u := range usage.Days {
		page.Rows = append(page.Rows, usageRow{u, float64(u.LatencyMS) / float64(max(1, u.Requests))})
	}
	page.Model, _ = page.Settings["model"].Value.(string)
	if s.hasModel() {
		page.Look = look{"good", "circle-check", "llm.is.on"}
		if usage.LastErrorAt != nil {
			page.Look = look{"quiet", "sparkles", "llm.is.on"}
		}
		base, _ := page.Settings["base_url"].Value.(string)
		if address, err := url.Parse(base); err == nil {
			page.Host = address.Host
		}
	}
	return content{Title: "llm.title", Data: page}, nil
}

// usageChart is the requests of the last days as bars, in a drawing of 100 units in height.
type usageChart struct {
	Width, Most int
	Bars        []usageBar
}

// usageBar is a day: what was answered stands below what failed.
type usageBar struct {
	Day              time.Time
	X                int
	Answered, Failed int
	Parts            []barPart
}

func usageChartOf(used []llm.Used, now time.Time) usageChart {
	c := usageChart{Width: barStep*usageDays - (barStep - barWidth), Most: 1}
	at := map[string]int{}
	for i := range usageDays {
		day := now.AddDate(0, 0, i-usageDays+1)
		at[day.Format(time.DateOnly)] = i
		c.Bars = append(c.Bars, usageBar{Day: day, X: barStep * i})
	}
	for _, u := range used {
		if i, shown := at[u.Day]; shown {
			b := &c.Bars[i]
			b.Answered, b.Failed = b.Answered+u.Requests-u.Failed, b.Failed+u.Failed
			c.Most = max(c.Most, b.Answered+b.Failed)
		}
	}
	for i := range c.Bars {
		b := &c.Bars[i]
		answered, failed := 100*float64(b.Answered)/float64(c.Most), 100*float64(b.Failed)/float64(c.Most)
		if b.Answered > 0 {
			b.Parts = append(b.Parts, barPart{"good", 100 - answered, answered})
		}
		if b.Failed > 0 {
			b.Parts = append(b.Parts, barPart{"bad", 100 - answered - failed, failed})
		}
	}
	return c
}
