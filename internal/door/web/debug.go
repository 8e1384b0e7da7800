package web

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"watchmark/internal/catalog/account"
	"watchmark/internal/match"
	"watchmark/internal/platform/logs"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/settings"
	"watchmark/internal/record/webhooklog"
	"watchmark/internal/source"
	"watchmark/internal/upkeep/diagnose"
	"watchmark/internal/watch"
)

// Debug are the pages that help to find out what is wrong.
type Debug struct {
	Accounts *account.Store
	Requests *webhooklog.Log
	Settings *settings.Manager
	Lines    *logs.Ring // the newest of the log
	Replica  string     // whose log that is; empty where there is one
	// Match matches an event without writing anything.
	Match func(context.Context, watch.Event) (match.Trace, error)
	// Network is the last result of the diagnosis for each service outside.
	Network func() []diagnose.Result
}

// trialForm is the event that a person typed in.
type trialForm struct {
	Title, Original, Season, Episode, Date, User string
	// Media is empty when the query names no known kind.
	Media watch.Media
}

type trialPage struct {
	Form trialForm
	// Wrong are the text keys of errors by the name of the field.
	Wrong map[string]string
	Media []watch.Media
	// Names are the user names of media servers that accounts list.
	Names []string
	// Lists are the accounts that the event would be marked for.
	Lists []account.Account
	// The trace is nil before something was tried.
	traceView
	Display display
}

// mediaKinds are the kinds of items in the order of the form.
var mediaKinds = []watch.Media{watch.Episode, watch.Movie, watch.OVA, watch.RealAction}

// trial matches the event in the query, and marks nothing.
func (g Debug) trial(r *request) (content, error) {
	accounts, err := g.Accounts.List(r.Context())
	if err != nil {
		return content{}, err
	}
	q := r.URL.Query()
	media, _ := watch.MediaOf(cmp.Or(strings.TrimSpace(q.Get("media_type")), string(watch.Episode)))
	page := trialPage{
		Media: mediaKinds,
		Form: trialForm{
			Title: strings.TrimSpace(q.Get("title")), Original: strings.TrimSpace(q.Get("ori_title")), Media: media,
			Season: cmp.Or(strings.TrimSpace(q.Get("season")), "1"), Episode: cmp.Or(strings.TrimSpace(q.Get("episode")), "1"),
			Date: strings.TrimSpace(q.Get("release_date")), User: q.Get("user_name"),
		},
	}
	for _, a := range accounts {
		page.Names = append(page.Names, a.MediaUserNames...)
		if a.Enabled && slices.Contains(a.MediaUserNames, page.Form.User) {
			page.Lists = append(page.Lists, a)
		}
	}
	slices.Sort(page.Names)
	page.Names = slices.Compact(page.Names)
	if !q.Has("title") {
		if len(page.Names) > 0 {
			page.Form.User = page.Names[0]
		}
		return content{Data: page}, nil
	}
	event, wrong := page.Form.event()
	if page.Wrong = wrong; len(wrong) > 0 {
		return content{Data: page}, nil
	}
	trace, err := g.Match(r.Context(), event)
	if err != nil {
		return content{}, err
	}
	raw, err := json.Marshal(trace)
	if err != nil {
		return content{}, err
	}
	page.traceView, err = traceViewOf(raw, r.lang)
	page.Display = resultDisplays[trace.Result.Status]
	return content{Data: page}, err
}

var resultDisplays = map[match.Status]display{
	match.Matched:         {"good", "circle-check", "debug.result.matched"},
	match.Review:          {"warn", "circle-question-mark", "debug.result.review"},
	match.NotFound:        {"bad", "circle-x", "debug.result.not_found"},
	match.EpisodeNotFound: {"bad", "circle-x", "debug.result.episode_not_found"},
	match.Blocked:         {"quiet", "circle-slash", "debug.result.blocked"},
	match.NoAccount:       {"bad", "users", "debug.result.no_account"},
	match.Unreachable:     {"warn", "hourglass", "debug.result.unreachable"},
}

// event is the event of the form; wrong are its errors as in trialPage.
func (f trialForm) event() (e watch.Event, wrong map[string]string) {
	wrong = map[string]string{}
	e = watch.Event{Source: watch.Custom, Action: watch.Watched, Media: f.Media, Title: f.Title, OriginalTitle: f.Original, UserName: f.User, AirDate: watch.ParseDate(f.Date)}
	if f.Title == "" {
		wrong["title"] = "debug.wrong.title"
	}
	if f.Date != "" && e.AirDate.IsZero() {
		wrong["release_date"] = "debug.wrong.date"
	}
	if f.Media == "" {
		wrong["media_type"] = "debug.wrong.media"
	}
	for name, text := range map[string]string{"title": f.Title, "ori_title": f.Original, "user_name": f.User} {
		if len(text) > watch.MaxText {
			wrong[name] = "debug.wrong.long"
		}
	}
	if e.IsFilm() {
		return e, wrong
	}
	season, err := strconv.Atoi(f.Season)
	if err != nil || season < 0 || season > watch.MaxSeason {
		wrong["season"] = "debug.wrong.season"
	}
	episode, err := strconv.ParseFloat(f.Episode, 64)
	if err != nil || !(episode >= 0 && episode <= watch.MaxEpisode) {
		wrong["episode"] = "debug.wrong.episode"
	}
	e.Season, e.Episode = &season, &episode
	return e, wrong
}

type webhooksPage struct {
	Filter   webhooklog.Filter
	Sources  []watch.Source
	Outcomes []webhooklog.Outcome
	Requests []webhookRequest
	pager
}

// Filtered reports whether something restricts the list.
func (p webhooksPage) Filtered() bool {
	return p.Filter.Source != "" || p.Filter.Outcome != "" || p.Filter.Text != ""
}

// webhookRequest is a request with its body indented.
type webhookRequest struct {
	webhooklog.Entry
	Text string
}

// requestsAPage is how many requests a page shows; each may have a body of some kilobytes.
const requestsAPage = 25

// webhooks lists the requests that arrived. Unknown values of the filter are ignored.
func (g Debug) webhooks(r *request) (content, error) {
	q := r.URL.Query()
	f := webhooklog.Filter{Text: strings.TrimSpace(q.Get("q")), Before: cursor(r, "before"), Limit: requestsAPage}
	if src := watch.Source(q.Get("source")); slices.Contains(source.Push, src) {
		f.Source = src
	}
	if outcome := webhooklog.Outcome(q.Get("outcome")); slices.Contains(webhooklog.Outcomes, outcome) {
		f.Outcome = outcome
	}
	entries, next, err := g.Requests.List(r.Context(), f)
	if err != nil {
		return content{}, err
	}
	page := webhooksPage{Filter: f, Sources: source.Push, Outcomes: webhooklog.Outcomes}
	for _, e := range entries {
		page.Requests = append(page.Requests, webhookRequest{e, indented(e.Body)})
	}
	page.pager = pagerOf("/settings/tools/webhooks", map[string]string{"source": string(f.Source), "outcome": string(f.Outcome), "q": f.Text}, f.Before, next)
	return content{Data: page}, nil
}

type networkPage struct {
	Targets []diagnose.Result
	// Done is how many targets the running diagnosis has finished.
	Running bool
	Done    int
	Stages  []diagnose.StageName
	// Problems are all kinds, whose texts the script uses.
	Problems []diagnose.Problem
}

func (g Debug) network(*request) (content, error) {
	page := networkPage{Targets: g.Network(), Stages: diagnose.StageNames, Problems: slices.Sorted(maps.Keys(diagnose.Problems))}
	for _, t := range page.Targets {
		if t.Running {
			page.Running = true
		} else {
			page.Done++
		}
	}
	return content{Data: page}, nil
}

// targetDisplay shows the result for a target.
func targetDisplay(r diagnose.Result) display {
	switch {
	case r.Running:
		return display{"busy", "loader", "network.is.running"}
	case r.CheckedAt == nil:
		return display{"quiet", "circle", "network.is.unknown"}
	case !r.OK && r.InUse:
		return display{"bad", "circle-x", "network.is.failed"}
	case !r.OK:
		return display{"warn", "triangle-alert", "network.is.failed"}
	case r.Routes[0].Problem != "":
		return display{"warn", "triangle-alert", "network.is.warned"}
	}
	return display{"good", "circle-check", "network.is.ok"}
}

type logPage struct {
	Level  string // the least important one that is shown
	Levels []string
	Text   string
	Lines  []logLine
	// Last is the number of the newest line, whether it is shown or not.
	Last int
	// Kept is the least important level that the service logs.
	Kept string
	// Replica has this log; empty where there is one.
	Replica string
}

// logLine is a line of the log; Facts are its attributes, one a line.
type logLine struct {
	logs.Entry
	// Message is that of the entry: what people are told as well is in the language of the page.
	Message reason.Reason
	Facts   string
	// Why is the error of the line, which is shown beside the message.
	Why reason.Reason
}

func newLogLine(line logs.Line) logLine {
	e := line.Entry()
	shown := logLine{Entry: e, Message: reason.Text(e.Message)}
	for _, name := range whyFacts {
		if text, is := e.Facts[name].(string); is && shown.Why.IsZero() {
			shown.Why = reason.Text(text)
			if value, err := json.Marshal(e.Facts[name+reason.ValueSuffix]); err == nil && e.Facts[name+reason.ValueSuffix] != nil {
				_ = json.Unmarshal(value, &shown.Why) // what came from JSON goes back
			}
		}
	}
	maps.DeleteFunc(e.Facts, func(name string, _ any) bool { return strings.HasSuffix(name, reason.ValueSuffix) })
	shown.Facts = logFacts(e.Facts)
	return shown
}

// whyFacts are the attributes that hold an error. The script has the same list.
var whyFacts = []string{"error", "problem", "reason"}

// Tone is the colour of the line.
func (l logLine) Tone() string {
	switch l.Level {
	case "ERROR":
		return "bad"
	case "WARN":
		return "warn"
	}
	return ""
}

// logFacts are the attributes of a line, in the form in which the script shows them.
func logFacts(values map[string]any) string {
	all := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		text, is := values[name].(string)
		if !is {
			encoded, _ := json.Marshal(values[name]) // what came from JSON goes back
			text = string(encoded)
		}
		all = append(all, name+": "+text)
	}
	line := []rune(strings.Join(all, "\n"))
	if len(line) > longestFacts {
		return string(line[:longestFacts]) + "…"
	}
	return string(line)
}

// longestFacts is how many characters of the attributes of a line are shown.
const longestFacts = 600

// linesShown is how many lines the page has before the script adds new ones.
const linesShown = 300

var logLevels = []string{"debug", "info", "warn", "error"}

func (g Debug) logs(r *request) (content, error) {
	q := r.URL.Query()
	page := logPage{Levels: logLevels, Level: "debug", Text: strings.TrimSpace(q.Get("q")), Kept: strings.ToLower(g.Settings.Current().Log.Level.String()), Replica: g.Replica}
	if slices.Contains(logLevels, q.Get("level")) {
		page.Level = q.Get("level")
	}
	filter := logs.Filter{Text: page.Text}
	_ = filter.Level.UnmarshalText([]byte(page.Level)) // one of those above
	page.Last = g.Lines.Size()
	lines, _ := g.Lines.After(0, filter)
	for _, line := range lines[max(0, len(lines)-linesShown):] {
		page.Lines = append(page.Lines, newLogLine(line))
		page.Last = max(page.Last, line.ID)
	}
	return content{Data: page}, nil
}
