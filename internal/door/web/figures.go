package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"watchmark/internal/record"
)

// trendDays is how many days the trend and the rate of success cover.
const trendDays = 30

// firstDay is the first day of the heatmap: the Monday 52 weeks before the Monday of this week.
func firstDay(now time.Time) time.Time {
	return now.AddDate(0, 0, -weekday(now)-52*7)
}

// weekday is the day of the week; Monday is 0.
func weekday(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }

// figures are the charts of the dashboard.
type figures struct {
	Trend trend
	Year  heatmap
}

// bars is a stacked bar chart of days, 100 units high, with one bar a day. Each kind of count is one path of all days,
// because browsers lay out few shapes faster.
type bars struct {
	First time.Time
	Width int
	Most  int // the top of the scale
	Slots string
	Parts []barPart
	Days  [][]int
}

// barPart are the counts of one kind.
type barPart struct{ Tone, Path string }

// barStep is the distance between two bars, barWidth the width of one. assets/js/figures.js holds the same values.
const (
	barStep  = 10
	barWidth = 7
)

// barsOf draws the counts of days, the oldest first. Each day has one count for each tone.
func barsOf(first time.Time, days [][]int, tones ...string) bars {
	b := bars{First: first, Days: days, Width: barStep*len(days) - (barStep - barWidth), Most: 1}
	for _, counts := range days {
		sum := 0
		for _, count := range counts {
			sum += count
		}
		b.Most = max(b.Most, sum)
	}
	var slots strings.Builder
	paths := make([]strings.Builder, len(tones))
	for i, counts := range days {
		fmt.Fprintf(&slots, "M%d 0h%dv100h-%dz", barStep*i, barWidth, barWidth)
		top := 100.0
		for kind, count := range counts {
			if count > 0 {
				height := 100 * float64(count) / float64(b.Most)
				top -= height
				fmt.Fprintf(&paths[kind], "M%d %.5gh%dv%.5gh-%dz", barStep*i, top, barWidth, height, barWidth)
			}
		}
	}
	b.Slots = slots.String()
	for kind, tone := range tones {
		b.Parts = append(b.Parts, barPart{tone, paths[kind].String()})
	}
	return b
}

// trend is the outcome of the records of the last days.
type trend struct {
	bars
	// Marked, Failed and Review are sums, Decided is their sum, and Rate is Marked / Decided.
	Marked, Failed, Review, Decided int
	Rate                            float64
}

// heatmap is a chart of the days of a year with a column for each week.
type heatmap struct {
	Width, Height int
	// Levels are paths, one for each shade: days without a mark, then four from few to many marks.
	Levels [5]string
	Days   [][]int
	Months []monthLabel
	// First is the oldest day. Marks is the sum, Active the number of days with marks, Best the day with most marks.
	First         time.Time
	Marks, Active int
	Best          record.Day
}

type monthLabel struct {
	X     int
	Month time.Time
}

// The measures of the heatmap. A cell is cellSize wide and high, its rounded edge included, and begins cellStep after
// the one before. assets/js/figures.js holds the same values.
const (
	cellSize  = 10
	cellEdge  = 1
	cellStep  = 13
	labelTop  = 18 // height of the labels
	labelRoom = 3  // width of the name of a month, in weeks
)

// figuresOf draws days, which begin with a Monday and end today.
func figuresOf(days []record.Day) figures {
	return figures{trendOf(days[max(0, len(days)-trendDays):]), heatmapOf(days)}
}

func trendOf(days []record.Day) trend {
	var t trend
	var counts [][]int
	for _, day := range days {
		t.Marked, t.Failed, t.Review = t.Marked+day.Marked, t.Failed+day.Failed, t.Review+day.Review
		counts = append(counts, []int{day.Marked, day.Review, day.Failed})
	}
	if t.Decided = t.Marked + t.Failed + t.Review; t.Decided > 0 {
		t.Rate = float64(t.Marked) / float64(t.Decided)
	}
	t.bars = barsOf(days[0].Start, counts, "good", "warn", "bad")
	return t
}

func heatmapOf(days []record.Day) heatmap {
	weeks := (len(days) + 6) / 7
	h := heatmap{Width: cellStep * weeks, Height: labelTop + cellStep*7, First: days[0].Start}
	level := levels(days)
	var paths [len(h.Levels)]strings.Builder
	labelled := -labelRoom
	for i, day := range days {
		week := i / 7
		x, y := cellStep*week, labelTop+cellStep*(i%7)
		// The name of a month stands above the week of its first day, unless it would overlap another one.
		if day.Start.Day() == 1 && week-labelled >= labelRoom && week <= weeks-labelRoom {
			h.Months, labelled = append(h.Months, monthLabel{x, day.Start}), week
		}
		const side = cellSize - 2*cellEdge
		fmt.Fprintf(&paths[level(day.Marked)], "M%d %dh%dv%dh-%dz", x+cellEdge, y+cellEdge, side, side, side)
		h.Days = append(h.Days, []int{day.Marked})
		h.Marks += day.Marked
		if day.Marked > 0 {
			h.Active++
		}
		if day.Marked > h.Best.Marked {
			h.Best = day
		}
	}
	for i := range paths {
		h.Levels[i] = paths[i].String()
	}
	return h
}

// levels returns a function from a count of marks to its shade, 0 to 4. The shades are the quarters of the days with
// marks, so that one day of very many marks does not make all others equal.
func levels(days []record.Day) func(count int) int {
	var counts []int
	for _, day := range days {
		if day.Marked > 0 {
			counts = append(counts, day.Marked)
		}
	}
	slices.Sort(counts)
	return func(count int) int {
		if count == 0 {
			return 0
		}
		below, _ := slices.BinarySearch(counts, count)
		return 1 + min(3, 4*below/len(counts))
	}
}
