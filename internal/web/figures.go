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

// trend is the last days as bars, in a drawing of 100 units in height.
type trend struct {
	// Marked, Failed and Review are sums, Decided all of them, Rate is Marked of Decided, a ratio 0..1.
	Marked, Failed, Review, Decided int
	Rate                            float64

	Width int
	Bars  []bar
	Most  int // the top of the scale
}

// bar is a day: its parts stand on each other from the bottom.
type bar struct {
	record.Day
	X     int
	Parts []barPart
}

type barPart struct {
	Tone      string
	Y, Height float64
}

// barStep is the distance of two bars, barWidth the width of one.
const (
	barStep  = 10
	barWidth = 7
)

// heatmap is a year of days, a column for each week.
type heatmap struct {
	Width, Height int
	// Empty draws the days on which nothing was marked, in one path.
	Empty  string
	Cells  []cell
	Months []monthLabel
	// Marks is the sum, Active on how many days there were some, Best the day with most.
	Marks, Active int
	Best          record.Day
}

type cell struct {
	record.Day
	X, Y  int
	Level int // 1 to 4
}

type monthLabel struct {
	X     int
	Month time.Time
}

// A cell of the heatmap, its distance to the next, and the room for the labels.
const (
	cellSize  = 10
	cellStep  = 13
	labelTop  = 18
	labelRoom = 3 // weeks that the name of a month takes
)

// figuresOf are the figures of days, which begin with a Monday and end today.
func figuresOf(days []record.Day) figures {
	return figures{trendOf(days[max(0, len(days)-trendDays):]), heatmapOf(days)}
}

func trendOf(days []record.Day) trend {
	t := trend{Width: barStep*len(days) - (barStep - barWidth), Most: 1}
	for _, day := range days {
		t.Marked, t.Failed, t.Review = t.Marked+day.Marked, t.Failed+day.Failed, t.Review+day.Review
		t.Most = max(t.Most, day.Marked+day.Failed+day.Review)
	}
	if t.Decided = t.Marked + t.Failed + t.Review; t.Decided > 0 {
		t.Rate = float64(t.Marked) / float64(t.Decided)
	}
	for i, day := range days {
		b := bar{Day: day, X: barStep * i}
		y := 100.0
		for _, part := range []struct {
			tone  string
			count int
		}{{"good", day.Marked}, {"warn", day.Review}, {"bad", day.Failed}} {
			if part.count > 0 {
				height := 100 * float64(part.count) / float64(t.Most)
				y -= height
				b.Parts = append(b.Parts, barPart{part.tone, y, height})
			}
		}
		t.Bars = append(t.Bars, b)
	}
	return t
}

func heatmapOf(days []record.Day) heatmap {
	weeks := (len(days) + 6) / 7
	h := heatmap{Width: cellStep * weeks, Height: labelTop + cellStep*7}
	level := levels(days)
	var empty strings.Builder
	labelled := -labelRoom
	for i, day := range days {
		week := i / 7
		x, y := cellStep*week, labelTop+cellStep*(i%7)
		// The month stands above the week that has its first day, where there is room.
		if day.Start.Day() == 1 && week-labelled >= labelRoom && week <= weeks-labelRoom {
			h.Months, labelled = append(h.Months, monthLabel{x, day.Start}), week
		}
		if day.Marked == 0 {
			fmt.Fprintf(&empty, "M%d %dh%dv%dh-%dz", x, y, cellSize, cellSize, cellSize)
			continue
		}
		h.Cells = append(h.Cells, cell{day, x, y, level(day.Marked)})
		h.Marks, h.Active = h.Marks+day.Marked, h.Active+1
		if day.Marked > h.Best.Marked {
			h.Best = day
		}
	}
	h.Empty = empty.String()
	return h
}

// levels tells how dark a count of marks is: by quarters of the days that have some, so that
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
		below, _ := slices.BinarySearch(counts, count)
		return 1 + min(3, 4*below/len(counts))
	}
}
