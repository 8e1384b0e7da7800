package web

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/bilingual"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/scope"
	"watchmark/internal/platform/settings"
	"watchmark/internal/record"
	"watchmark/internal/tell/llm"
	"watchmark/internal/tell/notify"
	"watchmark/internal/tell/summary"
)

// Summaries are the pages of the summary jobs and of the language model, which may write their texts.
type Summaries struct {
	Jobs     *summary.Service
	Airing   func(context.Context) (summary.AiringStatus, error)
	Usage    func(ctx context.Context, now time.Time, days int) (llm.Report, error) // of the language model
	Notices  *notify.Notifier
	Accounts *account.Store
	Records  *record.Store
	Settings *settings.Manager
}

// summariesPage lists the jobs of the reader, and shows the owner the state of airing notices.
type summariesPage struct {
	// Own is set for a person, whose jobs tell of that person alone.
	Own     bool
	Jobs    []jobView
	New     jobForm
	Presets []jobPreset
	Airing  airingView
	// Model is set when a language model is set up, which a person may have asked ModelMost times a day.
	Model     bool
	ModelMost int
	Refresh   int
}

// jobView is a job as the pages show it.
type jobView struct {
	summary.Job
	Own     bool // as in summariesPage
	Display display
	// When is its schedule in words; empty when only its cron expression describes it.
	When        string
	Recipients  recipients
	LastDisplay display
	// Switched is the request body that enables or disables it.
	Switched string
}

// jobForm is the form of a job; the id of Job is 0 for a new one.
type jobForm struct {
	summary.Job
	Own      bool // as in summariesPage
	Users    []string
	Offered  []offeredChannel
	Standard string // the standard prompt
	Runs     []time.Time
	Model    bool
}

// Elsewhere reports whether the job is about a user who is not in Users.
func (f jobForm) Elsewhere() bool { return f.User != "" && !slices.Contains(f.Users, f.User) }

// offeredChannel is a channel that can be chosen for a job.
type offeredChannel struct {
	ID          int64
	Name        string
	Off, Chosen bool
}

// jobPreset is a button that makes a first job; Body is the request body.
type jobPreset struct{ Icon, Key, Body string }

// airingView shows the state of airing notices, and leads to the page that changes it.
type airingView struct {
	summary.AiringStatus
	Recipients recipients
	Display    display
	Path, Key  string
}

// jobPage shows a job with its results.
type jobPage struct {
	jobView
	Form    jobForm
	Results []resultView
	Model   bool
	pager
	Refresh int
}

// resultView is the result of a run.
type resultView struct {
	summary.Result
	Display display
}

// resultsShown is how many results a page shows.
const resultsShown = 20

var firstJobs = []struct {
	icon, key, name string
	draft           summary.Draft
}{
	{"moon", "summaries.preset.daily", "summaries.preset.daily.name", summary.Draft{Cron: "0 21 * * *", DaysBack: 1}},
	{"calendar-days", "summaries.preset.weekly", "summaries.preset.weekly.name", summary.Draft{Cron: "0 20 * * 0", DaysBack: 7}},
}

func (g Summaries) list(r *request) (content, error) {
	ctx := r.Context()
	jobs, err := g.Jobs.Jobs(ctx)
	if err != nil {
		return content{}, err
	}
	channels, err := g.Notices.Channels(ctx)
	if err != nil {
		return content{}, err
	}
	page := summariesPage{Own: !scope.From(ctx).Whole(), Model: g.hasModel(), ModelMost: llm.PersonMost, Refresh: refreshIdle}
	if !page.Own {
		if page.Airing, err = g.airing(r, channels); err != nil {
			return content{}, err
		}
	}
	for _, j := range jobs {
		view, err := g.jobView(ctx, r.words, j, channels)
		if err != nil {
			return content{}, err
		}
		page.Jobs = append(page.Jobs, view)
		if j.Running {
			page.Refresh = refreshBusy
		}
	}
	for _, first := range firstJobs {
		name, err := r.text(first.name)
		if err != nil {
			return content{}, err
		}
		d := first.draft
		d.Name, d.Enabled, d.SkipEmpty = name, true, true
		body, err := draftJSON(d)
		if err != nil {
			return content{}, err
		}
		page.Presets = append(page.Presets, jobPreset{first.icon, first.key, body})
	}
	page.New, err = g.jobForm(ctx, summary.Job{Draft: summary.Draft{Enabled: true, Cron: "0 21 * * *", DaysBack: 1, SkipEmpty: true}}, channels)
	return content{Data: page}, err
}

func (g Summaries) job(r *request) (content, error) {
	ctx := r.Context()
	job, err := g.Jobs.Job(ctx, r.PathValue("name"))
	if err != nil {
		return content{}, err
	}
	channels, err := g.Notices.Channels(ctx)
	if err != nil {
		return content{}, err
	}
	page := jobPage{Model: g.hasModel(), Refresh: refreshIdle}
	if page.jobView, err = g.jobView(ctx, r.words, job, channels); err != nil {
		return content{}, err
	}
	if job.Running {
		page.Refresh = refreshBusy
	}
	if page.Form, err = g.jobForm(ctx, job, channels); err != nil {
		return content{}, err
	}
	before := cursor(r, "before")
	results, next, err := g.Jobs.Results(ctx, job.Name, before, resultsShown)
	if err != nil {
		return content{}, err
	}
	for _, result := range results {
		page.Results = append(page.Results, resultView{result, outcomeDisplay(result.Outcome, result.Problem)})
	}
	page.pager = pagerOf("/messages/summaries/"+url.PathEscape(job.Name), map[string]string{}, before, next)
	return content{Heading: job.Name, Data: page}, nil
}

// hasModel reports whether a language model is set up.
func (g Summaries) hasModel() bool { return g.Settings.Current().LLM.BaseURL != "" }

func (g Summaries) jobView(ctx context.Context, w words, j summary.Job, channels []notify.Channel) (jobView, error) {
	view := jobView{Job: j, Own: !scope.From(ctx).Whole(), Display: jobDisplay(j)}
	var err error
	if view.Recipients, err = g.recipientsOf(ctx, w, channels, j.Notice()); err != nil {
		return view, err
	}
	if j.Last != nil {
		view.LastDisplay = outcomeDisplay(j.Last.Outcome, j.Last.Problem)
	}
	if view.When, err = w.schedule(j.Cron); err != nil {
		return view, err
	}
	other := j.Draft
	other.Enabled = !other.Enabled
	view.Switched, err = draftJSON(other)
	return view, err
}

func (g Summaries) jobForm(ctx context.Context, j summary.Job, channels []notify.Channel) (jobForm, error) {
	form := jobForm{Job: j, Own: !scope.From(ctx).Whole(), Standard: summary.StandardPrompt(bilingual.Language(g.Settings.Current().Notification.Language)), Model: g.hasModel()}
	if form.MaxRecords == 0 {
		form.MaxRecords = summary.MostRecords
	}
	for _, c := range channels {
		form.Offered = append(form.Offered, offeredChannel{c.ID, c.Name, !c.Enabled, slices.Contains(j.Channels, c.ID)})
	}
	var err error
	if form.Users, err = g.Records.UserNames(ctx); err != nil {
		return form, err
	}
	form.Runs, err = settings.NextRuns("", j.Cron, time.Now(), runsShown)
	return form, err
}

// draftJSON is a job as request body of the API.
func draftJSON(d summary.Draft) (string, error) {
	if d.Channels == nil {
		d.Channels = []int64{}
	}
	text, err := json.Marshal(d)
	return string(text), err
}

// jobDisplay shows the state of a job.
func jobDisplay(j summary.Job) display {
	switch {
	case j.Running:
		return display{"busy", "loader", "summaries.is.running"}
	case !j.Enabled:
		return display{"quiet", "power", "summaries.is.off"}
	}
	return display{"good", "circle-check", "summaries.is.on"}
}

// outcomeDisplay shows the outcome of a run.
func outcomeDisplay(outcome summary.Outcome, problem reason.Reason) display {
	switch {
	case outcome == summary.Failed:
		return display{"bad", "circle-x", "summaries.outcome.failed"}
	case outcome == summary.Empty:
		return display{"quiet", "circle-slash", "summaries.outcome.empty"}
	case !problem.IsZero():
		return display{"warn", "triangle-alert", "summaries.outcome.partly"}
	}
	return display{"good", "circle-check", "summaries.outcome.done"}
}

// airing is the state of airing notices, with their recipients.
func (g Summaries) airing(r *request, channels []notify.Channel) (airingView, error) {
	status, err := g.Airing(r.Context())
	if err != nil {
		return airingView{}, err
	}
	view := airingView{AiringStatus: status, Path: "/settings?section=notification#section-notification", Key: "airing.change"}
	if status.Reason == "" {
		accounts, err := g.Accounts.List(r.Context())
		if err != nil {
			return view, err
		}
		var notices []notify.Notice
		for _, a := range enabledOf(accounts) {
			notices = append(notices, summary.AiringNotice(a))
		}
		if view.Recipients, err = g.recipientsOf(r.Context(), r.words, channels, notices...); err != nil {
			return view, err
		}
	}
	switch status.Reason {
	case summary.SwitchedOff:
		view.Display, view.Key = display{"quiet", "power", "airing.is.off"}, "airing.switch_on"
	case summary.ArchiveOff:
		view.Display, view.Path, view.Key = display{"warn", "triangle-alert", "airing.is.archive_off"}, "/titles/archive", "airing.to_archive"
	case summary.ArchiveMissing:
		view.Display, view.Path, view.Key = display{"warn", "hourglass", "airing.is.archive_missing"}, "/titles/archive", "airing.to_archive"
	default:
		view.Display = display{"good", "circle-check", "airing.is.on"}
		if len(view.Recipients.Names) == 0 {
			view.Display = display{"quiet", "bell", "airing.is.inbox"}
		}
	}
	return view, nil
}

// weekdayKeys are the text keys of schedules on one day of the week, Sunday first.
var weekdayKeys = []string{
	"summaries.when.sunday", "summaries.when.monday", "summaries.when.tuesday", "summaries.when.wednesday",
	"summaries.when.thursday", "summaries.when.friday", "summaries.when.saturday",
}

// everyday matches cron expressions of one run a day: minute, hour, day of the month, day of the week.
var everyday = regexp.MustCompile(`^(\d{1,2}) (\d{1,2}) (\*|\d{1,2}) \* (\*|[0-7]|1-5)$`)

// schedule describes a cron expression that everyday matches; it is empty for any other.
func (w words) schedule(expression string) (string, error) {
	parts := everyday.FindStringSubmatch(strings.Join(strings.Fields(expression), " "))
	if parts == nil {
		return "", nil
	}
	minute, monthday, weekday := parts[1], parts[3], parts[4]
	if len(minute) == 1 {
		minute = "0" + minute
	}
	at := parts[2] + ":" + minute
	switch {
	case monthday == "*" && weekday == "*":
		return w.text("summaries.when.daily", at)
	case monthday == "*" && weekday == "1-5":
		return w.text("summaries.when.workdays", at)
	case monthday == "*":
		return w.text(weekdayKeys[(weekday[0]-'0')%7], at)
	case weekday == "*":
		return w.text("summaries.when.monthly", monthday, at)
	}
	return "", nil
}
