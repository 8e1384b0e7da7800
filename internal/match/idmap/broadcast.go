package idmap

import (
	"strconv"
	"strings"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/watch"
)

// Broadcast says when a show is on television in Japan.
type Broadcast struct {
	// First is when it is on for the first time by this rule, to the minute.
	First time.Time
	// Days or Months are after how long it is on again; both 0 when it is on once.
	Days, Months int
}

const (
	// longestPeriod bounds the number in a period.
	longestPeriod = 366
	// lastMinute bounds packed minutes: the end of 2200.
	lastMinute = 301 * 366 * 24 * 60
	// lateNight is the hour until which television in Japan counts the night to the day before: 1:30 is 25:30 of that day.
	lateNight = 6
)

// zeroMinute is when packed minutes are counted from, in unix seconds: the beginning of 1900.
const zeroMinute = -2208988800

// parseBroadcast reads the field broadcast of an item, such as R/2020-01-01T13:00:00.000Z/P7D: a repeating interval of ISO 8601 with
// its beginning and a number of days or months; P0D is once. What is written otherwise is no broadcast.
func parseBroadcast(text string) (Broadcast, bool) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 || parts[0] != "R" {
		return Broadcast{}, false
	}
	first, err := time.Parse(time.RFC3339, parts[1])
	if err != nil || first.Year() < 1901 || first.Year() > 2200 {
		return Broadcast{}, false
	}
	period, ok := strings.CutPrefix(parts[2], "P")
	if !ok || len(period) < 2 {
		return Broadcast{}, false
	}
	n, err := strconv.ParseUint(period[:len(period)-1], 10, 16)
	if err != nil || n > longestPeriod {
		return Broadcast{}, false
	}
	b := Broadcast{First: first.UTC().Truncate(time.Minute)}
	switch period[len(period)-1] {
	case 'D':
		b.Days = int(n)
	case 'M':
		b.Months = int(n)
	default:
		return Broadcast{}, false
	}
	return b, true
}

// packBroadcast is a broadcast as two numbers: the minute of its first time, 0 for the zero Broadcast, and its period.
func packBroadcast(b Broadcast) (minute, period uint32) {
	if b.First.IsZero() {
		return 0, 0
	}
	return uint32((b.First.Unix() - zeroMinute) / 60), uint32(b.Days*2 + b.Months*2 + min(b.Months, 1))
}

func unpackBroadcast(minute, period uint32) (b Broadcast, ok bool) {
	if minute == 0 {
		return Broadcast{}, false
	}
	b.First = time.Unix(zeroMinute+60*int64(minute), 0).UTC()
	if period%2 == 1 {
		b.Months = int(period / 2)
	} else {
		b.Days = int(period / 2)
	}
	return b, true
}

// Broadcast is when a subject is on television; false where the table does not say so.
func (t *Table) Broadcast(subject catalog.SubjectID) (Broadcast, bool) {
	at, found := t.place(subject)
	if !found {
		return Broadcast{}, false
	}
	return unpackBroadcast(t.entries[at].minute, uint32(t.entries[at].period))
}

// On is when an episode is on that the catalog gives a day to, which is one in Japan: the rule says the time, the catalog the day. What is on
// after midnight, the catalog gives to its own day or to the evening before. It is false where rule and day contradict each other, such as
// for an episode that was moved to another day of the week, and where both nights fit: then the day alone is known.
func (b Broadcast) On(day watch.Date) (time.Time, bool) {
	if !day.IsFull() || b.First.IsZero() {
		return time.Time{}, false
	}
	first := b.First.In(japan)
	next := watch.DateOf(day.Time().AddDate(0, 0, 1))
	same, after := b.repeatsOn(first, day), first.Hour() < lateNight && b.repeatsOn(first, next)
	switch {
	case same && after:
		return time.Time{}, false
	case after:
		day = next
	case !same:
		return time.Time{}, false
	}
	return time.Date(day.Year, time.Month(day.Month), day.Day, first.Hour(), first.Minute(), 0, 0, japan).UTC(), true
}

// repeatsOn reports whether the rule has a time on a day in Japan.
func (b Broadcast) repeatsOn(first time.Time, day watch.Date) bool {
	days, _ := day.DaysFrom(watch.DateOf(first))
	switch {
	case days < 0:
		return false
	case b.Months > 0:
		return day.Day == first.Day() && ((day.Year-first.Year())*12+day.Month-int(first.Month()))%b.Months == 0
	case b.Days > 0:
		return days%b.Days == 0
	}
	return days == 0
}
