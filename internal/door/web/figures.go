package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"watchmark/internal/record"
)

// trendDays is how many days the trend shows and the rate of success is about.
const trendDays = 30

// firstDay is where the year of the heatmap begins: a Monday, 52 weeks before that of this week.
func firstDay(now time.Time) time.Time {
	return now.AddDate(0, 0, -weekday(now)-52*7)
}

// weekday counts from Monday, which is 0.
func weekday(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }

// figures are what the dashboard tells of a longer time.
type figures struct {
	Trend trend
	Year  heatmap
}

// bars is a drawing of days, 100 units in height: a slot for each, in which its counts stand on each other from
// the bottom. Each kind is one path, for browsers lay out a page of few shapes sooner.
type bars struct {
	First time.Time
	Width int
	Most  int // the top of the scale
	Slots string
	Parts []barPart
	Days  [][]int
}

// barPart is what the days have of one kind.
type barPart struct{ Tone, Path string }

// barStep is the distance of two bars, barWidth the width of one; assets/js/figures.js knows both.
const (
	barStep  = 10
	barWidth = 7
)

// barsOf draws the counts of days, the oldest first, of as many kinds as there are tones.
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

// trend is what became of what came in the last days.
type trend struct {
	bars
	// Marked, Failed and Review are sums, Decided all of them, Rate is Marked of Decided, a ratio 0..1.
	Marked, Failed, Review, Decided int
	Rate                            float64
}

// heatmap is a year of days, a column for each week.
type heatmap struct {
	Width, Height int
	// Levels draw the days in one path each: those on which nothing was marked, then four from few to many.
	Levels [5]string
	Days   [][]int
	Months []monthLabel
	// First is the oldest day, a Monday. Marks is the sum, Active on how many days there were some, Best the day with most.
	First         time.Time
	Marks, Active int
	Best          record.Day
}

type monthLabel struct {
	X     int
	Month time.Time
}

// A cell of the heatmap is cellSize wide and high, its rounded edge included, and cellStep from the next;
// assets/js/figures.js knows these.
const (
	cellSize  = 10
	cellEdge  = 1
	cellStep  = 13
	labelTop  = 18 // the room of the labels
	labelRoom = 3  // weeks that the name of a month takes
)

// figuresOf are the figures of days, which begin with a Monday and end today.
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
		// The month stands above the week that has its first day, where there is room.
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

// levels tells how dark a count of marks is, 0 to 4: by quarters of the days that have some, so that
// one day of very many leaves the others their differences.
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
