package web

import (
	"slices"
	"strings"

	"watchmark/internal/platform/task"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/preview"
)

// forecastView is the table of what would become of a history, as a page shows it.
type forecastView struct {
	task.Status
	// Tabs are the statuses that there are, the first one all of them.
	Tabs []forecastTab
	Rows []preview.Row
	// Table has the totals.
	Table *preview.Table
	// Known were taken in before. Skipped are passed over: SkippedKey has the words for why,
	// and Items are some of them.
	Known, Skipped int
	SkippedKey     string
	Items          []importer.SkippedBy
	// Earlier and Further are paths of this table; empty when there is nothing there.
	Earlier, Further string
}

// forecastTab shows only the rows of one status.
type forecastTab struct {
	look
	Count   int
	Path    string
	Current bool
}

// forecastRows is how many rows a page shows.
const forecastRows = 100

// forecastOrder is what people look at first: what they could do something about.
var forecastOrder = []preview.Status{
	preview.Mark, preview.DryRun, preview.Review, preview.NotFound, preview.EpisodeNotFound, preview.NoAccount, preview.Refused,
	preview.Unreachable, preview.Blocked, preview.Marked,
}

var forecastLooks = map[preview.Status]look{
	preview.Mark:            {"good", "circle-check", "forecast.is.mark"},
	preview.DryRun:          {"quiet", "flask-conical", "forecast.is.dry_run"},
	preview.Review:          {"warn", "circle-question-mark", "forecast.is.review"},
	preview.NotFound:        {"bad", "circle-x", "forecast.is.not_found"},
	preview.EpisodeNotFound: {"bad", "circle-x", "forecast.is.episode_not_found"},
	preview.NoAccount:       {"bad", "users", "forecast.is.no_account"},
	preview.Refused:         {"bad", "key-round", "forecast.is.refused"},
	preview.Unreachable:     {"warn", "hourglass", "forecast.is.unreachable"},
	preview.Blocked:         {"quiet", "circle-slash", "forecast.is.blocked"},
	preview.Marked:          {"quiet", "check", "forecast.is.marked"},
}

// forecastOf is the part of a table that a request asks for by ?status= and ?from=.
func forecastOf(r *request, t task.Status, table *preview.Table) *forecastView {
	asked := preview.Status(r.URL.Query().Get("status"))
	if table.Counts[asked] == 0 {
		asked = ""
	}
	path := func(status preview.Status, from int) string {
		return fromCursor(r.URL.Path, map[string]string{"status": string(status)}, "from", int64(from))
	}
	view := &forecastView{Status: t, Table: table, Tabs: []forecastTab{{look{Tone: "quiet", Key: "forecast.all"}, table.Items, path("", 0), asked == ""}}}
	for _, status := range forecastOrder {
		if n := table.Counts[status]; n > 0 {
			view.Tabs = append(view.Tabs, forecastTab{forecastLooks[status], n, path(status, 0), asked == status})
		}
	}
	rows := table.Rows
	if asked != "" {
		rows = slices.DeleteFunc(slices.Clone(rows), func(row preview.Row) bool { return row.Status != asked })
	}
	begin := int(cursor(r, "from"))
	if begin >= len(rows) {
		begin = 0
	}
	end := min(begin+forecastRows, len(rows))
	view.Rows = rows[begin:end]
	if begin > 0 {
		view.Earlier = path(asked, max(begin-forecastRows, 0))
	}
	if end < len(rows) {
		view.Further = path(asked, end)
	}
	return view
}

// spans are numbers in ascending order in short: 1–3, 5.
func spans(numbers []float64) string {
	var parts []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		switch last - i {
		case 0:
			parts = append(parts, number(numbers[i]))
		case 1:
			parts = append(parts, number(numbers[i]), number(numbers[last]))
		default:
			parts = append(parts, number(numbers[i])+"–"+number(numbers[last]))
		}
		i = last + 1
	}
	return strings.Join(parts, ", ")
}
