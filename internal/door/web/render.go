package web

import (
	"fmt"
	"html/template"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/record"
	"watchmark/internal/source/preview"
	"watchmark/internal/watch"
)

// parseTemplates parses all templates into one set for a language. A set for each page would hold the shared templates
// once a page. A page without a template is an error, and so is a template without a page.
func (s *site) parseTemplates(lang string, pages []page) (*template.Template, error) {
	set, err := template.New("").Funcs(s.funcs(lang)).Option("missingkey=error").ParseFS(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		if set.Lookup("content-"+p.template) == nil {
			return nil, fmt.Errorf("templates/%s.html defines no content-%[1]s", p.template)
		}
	}
	for _, t := range set.Templates() {
		name, isPage := strings.CutPrefix(t.Name(), "content-")
		if isPage && !slices.ContainsFunc(pages, func(p page) bool { return p.template == name }) {
			return nil, fmt.Errorf("no page of the list shows the template %s", t.Name())
		}
	}
	return set, nil
}

// funcs are the functions of the templates in one language.
func (s *site) funcs(lang string) template.FuncMap {
	w := s.texts.in(lang)
	return template.FuncMap{
		// t, n and word are text, count and word of words.
		"t":    w.text,
		"n":    w.count,
		"word": func(prefix string, name any) string { return w.word(prefix, fmt.Sprint(name)) },
		// said is a reason in the language of the page; nothing for the one that says nothing.
		"said": func(r reason.Reason) *saidText { return s.said(r, lang) },
		// linked is a text of the program that may name documents.
		"linked": s.linked,
		// rich is t for a text with **strong** and `code`.
		"rich": func(key string, args ...any) (template.HTML, error) {
			text, err := w.text(key, args...)
			return s.linkedHTML(rich(text)), err
		},
		"url": func(path string) string { return s.BasePath + path },
		// worker is the address of the service worker.
		"worker": func() string { return s.worker(lang) },
		"asset":  s.assetURL,
		"icon":   s.icon,
		"logo":   func() template.HTML { return s.assets.logo },
		"ago":    func(t time.Time) (template.HTML, error) { return w.ago(t, time.Now()) },
		// day and month write a date in its own time zone.
		"day":     func(t time.Time) (string, error) { return w.date("time.day", t) },
		"month":   func(t time.Time) (string, error) { return w.date("time.month", t) },
		"at":      at,
		"clock":   clock,
		"pick":    w.choose,
		"version": func() string { return s.Version },
		"demo":    func() *DemoLogin { return s.Demo },
		"langs":   func() any { return languages },
		"themes":  func() any { return themes },
		"percent": percent,
		// number writes a number with decimals, such as an episode; figure writes a count.
		"number":  number,
		"figure":  func(n int) figure { return figure(n) },
		"ms":      elapsed,
		"drift":   func(ahead *float64) (string, error) { return w.drift(*ahead) },
		"display": displayOf,
		// listsOf are the accounts that a row of results holds for alone; none where it holds for all.
		"listsOf": func(row any) []string { r, _ := row.(preview.Row); return r.Accounts },
		"label":   w.label,
		// specials reports whether a season holds the specials.
		"specials": func(season int) bool { return season == 0 },
		"season": func(season int) (string, error) {
			if season == 0 {
				return w.text("record.specials")
			}
			return w.text("review.season", season)
		},
		"megabytes": megabytes,
		"subject":   s.SubjectURL,
		"spans":     spans,
		"reading":   w.reading,
		"page_name": func(path string) (string, error) { return s.pageName(w, path) },
		"row":       func(label string, tabs []tab) row { return row{label, tabs} },
		// pair passes a question and one of its choices to a template.
		"pair": func(id int64, c candidateView) any {
			return struct {
				ID     int64
				Choice candidateView
			}{id, c}
		},
	}
}

func (s *site) assetURL(name string) (string, error) {
	hashed, known := s.assets.names[name]
	if !known {
		return "", fmt.Errorf("no asset %q", name)
	}
	return s.BasePath + StaticPrefix + hashed, nil
}

func (s *site) icon(name string) (template.HTML, error) {
	icon, known := s.assets.icons[name]
	if !known {
		return "", fmt.Errorf("no icon %q", name)
	}
	return icon, nil
}

var (
	strong = regexp.MustCompile(`\*\*(.+?)\*\*`)
	code   = regexp.MustCompile("`(.+?)`")
)

// rich escapes text, and then makes HTML of its **strong** and `code`.
func rich(text string) template.HTML {
	escaped := template.HTMLEscapeString(text)
	escaped = strong.ReplaceAllString(escaped, "<strong>$1</strong>")
	return template.HTML(code.ReplaceAllString(escaped, "<code>$1</code>")) //nolint:gosec // times and escaped words
}

// ago writes the time between t and now, with the exact time on hover. The script rewrites it in the reader's time zone.
func (w words) ago(t, now time.Time) (template.HTML, error) {
	text, err := w.distance(t, now)
	if err != nil {
		return "", err
	}
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`, t.UTC().Format(time.RFC3339), //nolint:gosec // times and escaped words
		t.Format("2006-01-02 15:04:05 MST"), template.HTMLEscapeString(text))), nil
}

// at writes the day and time of t. The script rewrites it in the reader's language and time zone.
func at(t time.Time) template.HTML {
	//nolint:gosec // times
	return template.HTML(fmt.Sprintf(`<time datetime="%s" data-at>%s</time>`, t.UTC().Format(time.RFC3339), t.Local().Format("2006-01-02 15:04")))
}

// clock writes the time of day of t with milliseconds. The script rewrites it in the reader's time zone.
func clock(t time.Time) template.HTML {
	//nolint:gosec // times
	return template.HTML(fmt.Sprintf(`<time datetime="%s" data-clock>%s</time>`, t.UTC().Format(time.RFC3339Nano), t.Local().Format("15:04:05.000")))
}

// date formats t with the layout, as of package time, that is the text of key.
func (w words) date(key string, t time.Time) (string, error) {
	form, err := w.text(key)
	return t.Format(form), err
}

// distance writes the time between t and now; beyond a week it is the date.
func (w words) distance(t, now time.Time) (string, error) {
	gap, direction := now.Sub(t), "time.ago."
	if gap < 0 {
		gap, direction = -gap, "time.in."
	}
	switch {
	case gap < 45*time.Second && t.After(now):
		return w.text("time.soon")
	case gap < 45*time.Second:
		return w.text("time.now")
	case gap < time.Hour:
		return w.count(direction+"minutes", max(1, int(gap.Minutes()+0.5)))
	case gap < 24*time.Hour:
		return w.count(direction+"hours", int(gap.Hours()))
	case gap < 7*24*time.Hour:
		return w.count(direction+"days", int(gap.Hours()/24))
	}
	return t.Format("2006-01-02"), nil
}

// drift writes how many seconds the clock of this machine is ahead.
func (w words) drift(ahead float64) (string, error) {
	switch seconds := int(math.Round(ahead)); {
	case seconds > 0:
		return w.text("network.clock_ahead", seconds)
	case seconds < 0:
		return w.text("network.clock_behind", -seconds)
	}
	return w.text("network.clock_same")
}

// label is the short name of an episode, such as S2 E7, or the word for a film.
func (w words) label(r record.Record) (string, error) {
	if r.MediaType == watch.Movie {
		return w.text("media.movie")
	}
	return watch.EpisodeLabel(r.Season, r.Episode), nil
}

// percent is a ratio in percent. It is 100 only for a ratio of 1 or more.
func percent(ratio float64) int {
	if ratio >= 1 {
		return 100
	}
	return min(99, int(math.Round(100*max(0, ratio))))
}

// number writes v without trailing zeros.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// elapsed writes a duration given in milliseconds.
func elapsed(ms float64) string {
	switch {
	case ms >= 1000:
		return strconv.FormatFloat(ms/1000, 'f', 1, 64) + " s"
	case ms >= 10:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	}
	return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
}
