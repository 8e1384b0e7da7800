package watch

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Date is a calendar date that may be known to the year or the month only.
// The zero Date is unknown.
type Date struct {
	Year  int // 0 = unknown
	Month int // 0 = only the year is known
	Day   int // 0 = only year and month are known
}

var dateForms = regexp.MustCompile(`^(\d{4})(?:\s*[-/.年]\s*(\d{1,2})(?:\s*[-/.月]\s*(\d{1,2})\s*日?)?)?`)

// ParseDate reads the date at the start of text leniently: 2024-05-19, 2024-5-9,
// 2024/05/19, 2024.5.19, 2024年5月19日, 2024-05, 2024, or any of these followed by a
// time. What cannot be read gives the zero Date; an impossible day or month is
// dropped and leaves the coarser date.
func ParseDate(text string) Date {
	if d, ok := plainDate(text); ok {
		return d
	}
	m := dateForms.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return Date{}
	}
	var d Date
	d.Year, _ = strconv.Atoi(m[1])
	if d.Year < 1900 || d.Year > 2200 {
		return Date{}
	}
	d.Month, _ = strconv.Atoi(m[2])
	if d.Month < 1 || d.Month > 12 {
		return Date{Year: d.Year}
	}
	d.Day, _ = strconv.Atoi(m[3])
	if d.Day == 0 || time.Date(d.Year, time.Month(d.Month), d.Day, 0, 0, 0, 0, time.UTC).Day() != d.Day {
		d.Day = 0
	}
	return d
}

// plainDate reads 2024-05-19, which nearly all dates are, without the expression; ok is
// false for everything that needs a closer look.
func plainDate(text string) (d Date, ok bool) {
	if len(text) != len(time.DateOnly) || text[4] != '-' || text[7] != '-' {
		return Date{}, false
	}
	d = Date{digits(text[:4]), digits(text[5:7]), digits(text[8:])}
	return d, d.Year >= 1900 && d.Year <= 2200 && d.Month >= 1 && d.Month <= 12 && d.Day >= 1 && d.Day <= 28
}

// digits is the number that text writes; -1 when there is anything but digits.
func digits(text string) int {
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// DateOf is the calendar date of t in t's own location.
func DateOf(t time.Time) Date {
	return Date{t.Year(), int(t.Month()), t.Day()}
}

// DayStart is when the day began that is days after that of t, in t's own location: its midnight, or where clocks
// skip midnight the moment they do.
func DayStart(t time.Time, days int) time.Time {
	year, month, day := t.Date()
	at, noon := time.Date(year, month, day+days, 0, 0, 0, 0, t.Location()), time.Date(year, month, day+days, 12, 0, 0, 0, t.Location())
	if at.Day() != noon.Day() { // the hour before the gap
		_, at = at.ZoneBounds()
	}
	return at
}

// IsZero reports whether nothing is known.
func (d Date) IsZero() bool { return d.Year == 0 }

// IsFull reports whether the day is known.
func (d Date) IsFull() bool { return d.Day != 0 }

// Time is midnight UTC of the date, or of the first day of what is known of it.
// The zero Date gives the zero time.
func (d Date) Time() time.Time {
	if d.IsZero() {
		return time.Time{}
	}
	return time.Date(d.Year, time.Month(max(d.Month, 1)), max(d.Day, 1), 0, 0, 0, 0, time.UTC)
}

// DaysFrom is the number of days from other to d; ok is false unless both are full dates.
func (d Date) DaysFrom(other Date) (days int, ok bool) {
	if !d.IsFull() || !other.IsFull() {
		return 0, false
	}
	return int(d.Time().Sub(other.Time()) / (24 * time.Hour)), true
}

// String is 2024-05-19, 2024-05, 2024 or the empty text.
func (d Date) String() string {
	switch {
	case d.IsZero():
		return ""
	case d.Month == 0:
		return fmt.Sprintf("%04d", d.Year)
	case d.Day == 0:
		return fmt.Sprintf("%04d-%02d", d.Year, d.Month)
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
}

// MarshalText writes String.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what ParseDate reads; it never fails.
func (d *Date) UnmarshalText(text []byte) error {
	*d = ParseDate(string(text))
	return nil
}
