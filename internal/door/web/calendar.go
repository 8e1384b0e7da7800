package web

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/reason"
	"watchmark/internal/tell/calendar"
	"watchmark/internal/watch"
)

// calendarPath is the path of the calendar; its files are below it.
const calendarPath = "/calendar"

// Calendar is the page of what airs, and the file of it for calendar programs.
type Calendar struct{ Service *calendar.Service }

// daySpans are how many days the page may show.
var daySpans = []int{1, 7, 14, 30}

const (
	// usualSpan is how many days it shows unless it is asked for others.
	usualSpan = 7
	// airingShown is how many episodes a page has.
	airingShown = 150
)

type calendarPage struct {
	Missing calendar.Missing
	// Spans and Whose are tabs: how many days, and what the reader follows or everything.
	Spans, Whose []tab
	All          bool
	Span         int
	// From is the first day, empty for today.
	From string
	Days []airingDay
	// Lists are those of the reader's accounts; More is set when there are too many for one page. Account is the one that is looked at, 0
	// for all.
	Lists   []calendar.ListState
	More    bool
	Account int64
	// Zone is the name of the zone whose days and times are shown; Asked is set when the reader's browser named it.
	Zone  string
	Asked bool
	// Earlier and Later lead to the days before and after, Now to today; empty while that is shown.
	Earlier, Later, Now string
	Address             *calendarAddress
	// Previous and Further are paths of the pages of the same days; empty where there is none.
	Previous, Further string
}

// calendarAddress is the address for calendar programs.
type calendarAddress struct {
	calendar.Address
	// URL is empty where the key of the data folder does not open it.
	URL string
	// Loopback is set when only this machine reaches it.
	Loopback bool
}

// airingDay is a day with what airs on it.
type airingDay struct {
	Date  time.Time
	Today bool
	Items []airingItem
}

// airingItem is an episode that airs.
type airingItem struct {
	calendar.Item
	// Clock is the time of day; empty when it is not known.
	Clock string
	// Number is that of the episode, Name its name. Original is the title in the original language, where that is another one.
	Number, Name, Original string
	// Wished is set when it is followed, and nobody watches it yet.
	Wished bool
}

// show shows what airs.
func (g Calendar) show(r *request) (content, error) {
	q := r.URL.Query()
	page := calendarPage{Span: usualSpan, Account: cursor(r, "account"), All: q.Get("all") != ""}
	now := time.Now()
	if zone, known := calendar.ZoneOf(q.Get("zone")); known {
		now, page.Zone, page.Asked = now.In(zone), q.Get("zone"), true
	} else {
		page.Zone = now.Format("UTC-07:00")
	}
	if days, err := strconv.Atoi(q.Get("days")); err == nil && slices.Contains(daySpans, days) {
		page.Span = days
	}
	today := watch.DateOf(now)
	from := today
	if asked := watch.ParseDate(q.Get("from")); asked.IsFull() && asked != today {
		from, page.From = asked, asked.String()
	}
	found, err := g.Service.Find(r.Context(), calendar.Query{From: from, To: dayAfter(from, page.Span-1), Zone: now.Location(), Mine: !page.All, Account: page.Account})
	if err != nil {
		return content{}, err
	}
	page.Missing, page.Lists, page.More = found.Missing, found.Lists, found.More
	for _, span := range daySpans {
		key := fmt.Sprint("calendar.days.", span)
		if span == 1 && page.From != "" {
			key = "calendar.days.one"
		}
		page.Spans = append(page.Spans, tab{Path: page.path("days", strconv.Itoa(span)), Key: key, Current: span == page.Span})
	}
	page.Whose = []tab{{Path: page.path("all", ""), Key: "calendar.mine", Current: !page.All}, {Path: page.path("all", "1"), Key: "calendar.all", Current: page.All}}
	page.Earlier, page.Later = page.path("from", dayAfter(from, -page.Span).String()), page.path("from", dayAfter(from, page.Span).String())
	if page.From != "" {
		page.Now = page.path("from", "")
	}
	after := 0
	if asked := cursor(r, "after"); asked < int64(len(found.Items)) {
		after = int(asked)
	}
	page.Days = daysOf(found.Items[after:min(after+airingShown, len(found.Items))], today, now.Location(), r.words)
	if after > airingShown {
		page.Previous = page.path("after", strconv.Itoa(after-airingShown))
	} else if after > 0 {
		page.Previous = page.path("after", "")
	}
	if after+airingShown < len(found.Items) {
		page.Further = page.path("after", strconv.Itoa(after+airingShown))
	}
	page.Address, err = g.address(r)
	return content{Data: page}, err
}

// path is that of this page with another value of a field.
func (p calendarPage) path(field, value string) string {
	fields := map[string]string{"days": strconv.Itoa(p.Span), "from": p.From}
	if p.All {
		fields["all"] = "1"
	}
	if p.Account != 0 {
		fields["account"] = strconv.FormatInt(p.Account, 10)
	}
	if p.Asked {
		fields["zone"] = p.Zone
	}
	fields[field] = value
	return withQuery(calendarPath, fields)
}

// Shown are the lists that are looked at.
func (p calendarPage) Shown() []calendar.ListState {
	return slices.DeleteFunc(slices.Clone(p.Lists), func(l calendar.ListState) bool { return p.Account != 0 && l.AccountID != p.Account })
}

// Waiting reports whether a list that is looked at was never read, and will be.
func (p calendarPage) Waiting() bool {
	return slices.ContainsFunc(p.Shown(), func(l calendar.ListState) bool { return l.HasToken && l.ReadAt.IsZero() && l.Problem.IsZero() })
}

// dayAfter is the day so many days after another one.
func dayAfter(d watch.Date, days int) watch.Date { return watch.DateOf(d.Time().AddDate(0, 0, days)) }

// daysOf are items by day.
func daysOf(items []calendar.Item, today watch.Date, zone *time.Location, w words) []airingDay {
	var days []airingDay
	for _, i := range items {
		if len(days) == 0 || days[len(days)-1].Date != i.Day.Time() {
			days = append(days, airingDay{Date: i.Day.Time(), Today: i.Day == today})
		}
		shown := airingItem{Item: i, Number: number(i.Episode.Sort), Name: w.choose(cmp.Or(i.Episode.Name, i.Episode.NameCN), cmp.Or(i.Episode.NameCN, i.Episode.Name))}
		if !i.At.IsZero() {
			shown.Clock = i.At.In(zone).Format("15:04")
		}
		if i.Subject.Name != i.Subject.DisplayName() {
			shown.Original = i.Subject.Name
		}
		shown.Wished = len(i.On) > 0 && !slices.ContainsFunc(i.On, func(f calendar.Follower) bool { return f.State == catalog.Doing })
		last := &days[len(days)-1]
		last.Items = append(last.Items, shown)
	}
	return days
}

// Special reports whether the episode is a special.
func (i airingItem) Special() bool { return i.Episode.Type == catalog.Special }

// address is that of the reader, nil when there is none.
func (g Calendar) address(r *request) (*calendarAddress, error) {
	a, err := g.Service.Address(r.Context())
	switch {
	case errors.Is(err, calendar.ErrNoAddress):
		return nil, nil
	case errors.Is(err, calendar.ErrUnopened):
		return &calendarAddress{Address: a}, nil
	case err != nil:
		return nil, err
	}
	public := r.PublicURL(r.Context())
	return &calendarAddress{Address: a, URL: public + calendar.PathOf(a.Secret), Loopback: onLoopback(public)}, nil
}

// file answers the calendar at a secret address as a file. Whoever asks for it is nobody who is signed in: what it tells, the address says.
func (g Calendar) file(s *site, w http.ResponseWriter, r *http.Request) {
	secret := calendar.SecretIn(r.PathValue("file"))
	file, err := calendar.File{}, error(calendar.ErrNoAddress)
	if secret != "" {
		file, err = g.Service.File(r.Context(), secret, time.Now())
	}
	h := w.Header()
	switch {
	case reason.Of(err).Class() == reason.NotFound:
		h.Set("Cache-Control", "no-store")
		http.Error(w, "There is nothing at this address.", http.StatusNotFound)
		return
	case err != nil:
		if !errors.Is(err, calendar.ErrNoArchive) {
			s.Log.ErrorContext(r.Context(), "a calendar cannot be made", "error", err)
		}
		h.Set("Cache-Control", "no-store")
		h.Set("Retry-After", "300")
		http.Error(w, "The calendar cannot be made now: the page Calendar or the log of the service says why.", http.StatusServiceUnavailable)
		return
	}
	h.Set("Content-Type", "text/calendar; charset=utf-8")
	h.Set("Content-Disposition", `inline; filename="watchmark.ics"`)
	h.Set("Cache-Control", "private, max-age="+strconv.Itoa(int(calendar.FetchEvery.Seconds()/2)))
	h.Set("X-Robots-Tag", "noindex")
	h.Set("ETag", file.Tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file.Text))
}
