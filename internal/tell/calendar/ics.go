package calendar

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/watch"
)

const (
	// daysBack and daysAhead are how many days around today the file tells of.
	daysBack, daysAhead = 14, 45
	// lasts is how long an episode is shown to last: nobody tells how long it does.
	lasts = 30 * time.Minute
	// FetchEvery is how often programs are asked to fetch the file.
	FetchEvery = 2 * time.Hour
	// eventsMost bounds the file, some megabytes at most: names in the archive are bounded. What is furthest ahead is left out.
	eventsMost = 2000
	// lineMost is the most bytes of a line, its end left out (RFC 5545 section 3.1).
	lineMost = 75
)

// File is a calendar for calendar programs: iCalendar, RFC 5545.
type File struct {
	Text []byte
	// Tag is that of HTTP for the text, in quotes: the same text has the same tag.
	Tag string
}

// File is what the accounts follow of whom a secret address belongs to, or ErrNoAddress. What has a time is at that moment, in UTC; what has
// a day alone is on that day. While the archive is not there yet, it is ErrNoArchive: an empty file would take away what programs have.
func (s *Service) File(ctx context.Context, secret string, now time.Time) (File, error) {
	ctx, err := s.whose(ctx, secret)
	if err != nil {
		return File{}, err
	}
	today := watch.DateOf(now.UTC())
	found, err := s.Find(ctx, Query{From: dayAfter(today, -daysBack), To: dayAfter(today, daysAhead), Zone: time.UTC, Mine: true})
	if err != nil {
		return File{}, err
	}
	if found.Missing == ArchiveMissing {
		return File{}, ErrNoArchive
	}
	text := []byte(s.write(found))
	sum := sha256.Sum256(text)
	return File{text, `"` + hex.EncodeToString(sum[:16]) + `"`}, nil
}

// write is the text of a calendar. The same result gives the same text: DTSTAMP is when the newest of what it was made of was read.
func (s *Service) write(found Result) string {
	stamp := time.Unix(0, 0)
	if guide, missing := s.Guide(); missing == "" && guide.Made().After(stamp) {
		stamp = guide.Made()
	}
	for _, l := range found.Lists {
		if l.ReadAt.After(stamp) {
			stamp = l.ReadAt
		}
	}
	chinese := s.Language() == bilingual.Chinese
	name := "Watchmark: what airs"
	if chinese {
		name = "Watchmark 放送日历"
	}
	var b strings.Builder
	line := func(name, value string) { b.WriteString(folded(name + ":" + value)) }
	line("BEGIN", "VCALENDAR")
	line("VERSION", "2.0")
	line("PRODID", "-//Watchmark//Calendar//EN")
	line("CALSCALE", "GREGORIAN")
	line("NAME", escaped(name)) // RFC 7986
	line("X-WR-CALNAME", escaped(name))
	every := fmt.Sprintf("PT%dH", int(FetchEvery.Hours()))
	line("REFRESH-INTERVAL;VALUE=DURATION", every) // RFC 7986
	line("X-PUBLISHED-TTL", every)
	for _, i := range found.Items[:min(len(found.Items), eventsMost)] {
		line("BEGIN", "VEVENT")
		line("UID", fmt.Sprintf("episode-%d@watchmark", i.Episode.ID))
		line("DTSTAMP", moment(stamp))
		if i.At.IsZero() {
			line("DTSTART;VALUE=DATE", dateOf(i.Day))
			line("DTEND;VALUE=DATE", dateOf(dayAfter(i.Day, 1)))
		} else {
			line("DTSTART", moment(i.At))
			line("DURATION", fmt.Sprintf("PT%dM", int(lasts.Minutes())))
		}
		line("SUMMARY", escaped(i.summary(chinese)))
		if about := i.about(); about != "" {
			line("DESCRIPTION", escaped(about))
		}
		if address := s.SubjectURL(i.Subject.ID); address != "" {
			line("URL", address)
		}
		line("TRANSP", "TRANSPARENT")
		line("END", "VEVENT")
	}
	line("END", "VCALENDAR")
	return b.String()
}

// summary is an item in one line.
func (i Item) summary(chinese bool) string {
	text := i.Subject.DisplayName() + " " + i.label(chinese)
	if i.Watched() {
		text = "✓ " + text
	}
	return text
}

// label is the number of an episode.
func (i Item) label(chinese bool) string {
	n := strconv.FormatFloat(i.Episode.Sort, 'f', -1, 64)
	switch {
	case i.Episode.Type == catalog.Special:
		return "SP " + n
	case chinese:
		return "第 " + n + " 集"
	}
	return "E" + n
}

// about are the name of an episode and the title of its subject in the original language, a line each.
func (i Item) about() string {
	var lines []string
	if name := cmp.Or(i.Episode.NameCN, i.Episode.Name); name != "" {
		lines = append(lines, name)
	}
	if i.Subject.Name != i.Subject.DisplayName() {
		lines = append(lines, i.Subject.Name)
	}
	return strings.Join(lines, "\n")
}

func moment(t time.Time) string { return t.UTC().Format("20060102T150405Z") }

func dateOf(d watch.Date) string { return d.Time().Format("20060102") }

// escaped is text as a value of the type TEXT (RFC 5545 section 3.3.11). Characters that may not stand there are left out. What Unicode calls an
// end of a line is written as one: some programs cut lines there.
func escaped(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\u0085' || r == '\u2028' || r == '\u2029':
			return '\n'
		case r < ' ' && r != '\n' && r != '\t' || r == 0x7f:
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), ""))
	return strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\n", `\n`).Replace(text)
}

// folded is a line with its end, cut into lines of at most lineMost bytes of which each but the first begins with a space (RFC 5545 section
// 3.1). No character is cut.
func folded(line string) string {
	var b strings.Builder
	room := lineMost
	for line != "" {
		_, size := utf8.DecodeRuneInString(line)
		if size > room {
			b.WriteString("\r\n ")
			room = lineMost - 1
		}
		b.WriteString(line[:size])
		room -= size
		line = line[size:]
	}
	b.WriteString("\r\n")
	return b.String()
}
