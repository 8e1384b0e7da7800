package web

import (
	"slices"
	"strings"

	"watchmark/internal/platform/task"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/preview"
)

// previewTable is the expected outcome of an import or a full sync, as a page shows it.
type previewTable struct {
	task.Status
	// Tabs lead to the rows of each status; the first one leads to all rows.
	Tabs []previewTab
	Rows []preview.Row
	// Table has the totals.
	Table *preview.Table
	// Known items were imported before. Skipped items are not imported: SkippedKey is the text key of the reason, and
	// Items are some of them.
	Known, Skipped int
	SkippedKey     string
	Items          []importer.SkippedBy
	// Earlier and Further are paths of this table; empty when there is nothing there.
	Earlier, Further string
}

// previewTab leads to the rows of one status.
type previewTab struct {
	display
	Count   int
	Path    string
	Current bool
}

// previewRows is how many rows a page shows.
const previewRows = 100

// previewOrder is the order of the statuses: those that a person can do something about come first.
var previewOrder = []preview.Status{
	preview.Mark, preview.Unmark, preview.DryRun, preview.Review, preview.NotFound, preview.EpisodeNotFound, preview.NoAccount, preview.Refused,
	preview.Unreachable, preview.Blocked, preview.Unlisted, preview.Played, preview.Marked,
}

var previewDisplays = map[preview.Status]display{
	preview.Mark:            {"good", "circle-check", "preview.is.mark"},
	preview.DryRun:          {"quiet", "flask-conical", "preview.is.dry_run"},
	preview.Review:          {"warn", "circle-question-mark", "preview.is.review"},
	preview.NotFound:        {"bad", "circle-x", "preview.is.not_found"},
	preview.EpisodeNotFound: {"bad", "circle-x", "preview.is.episode_not_found"},
	preview.NoAccount:       {"bad", "users", "preview.is.no_account"},
	preview.Refused:         {"bad", "key-round", "preview.is.refused"},
	preview.Unreachable:     {"warn", "hourglass", "preview.is.unreachable"},
	preview.Blocked:         {"quiet", "circle-slash", "preview.is.blocked"},
	preview.Marked:          {"quiet", "check", "preview.is.marked"},
	preview.Played:          {"quiet", "check", "preview.is.played"},
	preview.Unlisted:        {"quiet", "circle-slash", "preview.is.unlisted"},
	preview.Unmark:          {"warn", "undo-2", "preview.is.unmark"},
}

// previewTableOf returns the rows of a table that a request selects by ?status= and ?from=.
func previewTableOf(r *request, t task.Status, table *preview.Table) *previewTable {
	asked := preview.Status(r.URL.Query().Get("status"))
	if table.Counts[asked] == 0 {
		asked = ""
	}
	path := func(status preview.Status, from int) string {
		return fromCursor(r.URL.Path, map[string]string{"status": string(status)}, "from", int64(from))
	}
	view := &previewTable{Status: t, Table: table, Tabs: []previewTab{{display{Tone: "quiet", Key: "preview.all"}, table.Items, path("", 0), asked == ""}}}
	for _, status := range previewOrder {
		if n := table.Counts[status]; n > 0 {
			view.Tabs = append(view.Tabs, previewTab{previewDisplays[status], n, path(status, 0), asked == status})
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
	end := min(begin+previewRows, len(rows))
	view.Rows = rows[begin:end]
	if begin > 0 {
		view.Earlier = path(asked, max(begin-previewRows, 0))
	}
	if end < len(rows) {
		view.Further = path(asked, end)
	}
	return view
}

// spans writes ascending numbers in short: 1–3, 5.
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
