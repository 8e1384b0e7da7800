package web

import (
	"slices"
	"strings"

	"watchmark/internal/platform/task"
	"watchmark/internal/source/importer"
	"watchmark/internal/source/preview"
)

// resultRows are the rows of a table of results that a request selects by ?status= and ?from=.
type resultRows[R any] struct {
	// Tabs lead to the rows of each status; the first one leads to all rows.
	Tabs []resultTab
	Rows []R
	// Earlier and Further are paths of this table; empty when there is nothing there.
	Earlier, Further string
}

// resultTab leads to the rows of one status.
type resultTab struct {
	display
	Count   int
	Path    string
	Current bool
}

// previewTable is the expected outcome of an import or a full sync, as a page shows it.
type previewTable struct {
	task.Status
	resultRows[preview.Row]
	// Table has the totals.
	Table *preview.Table
	// Known items were imported before. Skipped items are not imported: SkippedKey is the text key of the reason, and
	// Items are some of them.
	Known, Skipped int
	SkippedKey     string
	Items          []importer.SkippedBy
}

// rowsShown is how many rows a page shows.
const rowsShown = 100

// previewOrder is the order of the statuses: those that a person can do something about come first.
var previewOrder = []preview.Status{
	preview.Mark, preview.DryRun, preview.Review, preview.NotFound, preview.EpisodeNotFound, preview.NoAccount, preview.Refused,
	preview.Unreachable, preview.Blocked, preview.Marked,
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
}

func previewTableOf(r *request, t task.Status, table *preview.Table) *previewTable {
	rows := rowsOf(r, table.Rows, func(row preview.Row) preview.Status { return row.Status }, table.Counts, previewOrder)
	return &previewTable{Status: t, Table: table, resultRows: rows}
}

// rowsOf are those of all that a request selects. counts are the episodes and films of each status, of which order has all.
func rowsOf[R any, S ~string](r *request, all []R, statusOf func(R) S, counts map[S]int, order []S) (view resultRows[R]) {
	asked := S(r.URL.Query().Get("status"))
	if counts[asked] == 0 {
		asked = ""
	}
	path := func(status S, from int) string {
		return fromCursor(r.URL.Path, map[string]string{"status": string(status)}, "from", int64(from))
	}
	total := 0
	for _, status := range order {
		if n := counts[status]; n > 0 {
			total += n
			view.Tabs = append(view.Tabs, resultTab{displayOf(status), n, path(status, 0), asked == status})
		}
	}
	view.Tabs = slices.Insert(view.Tabs, 0, resultTab{display{Tone: "quiet", Key: "preview.all"}, total, path("", 0), asked == ""})
	if asked != "" {
		all = slices.DeleteFunc(slices.Clone(all), func(row R) bool { return statusOf(row) != asked })
	}
	begin := int(cursor(r, "from"))
	if begin >= len(all) {
		begin = 0
	}
	end := min(begin+rowsShown, len(all))
	view.Rows = all[begin:end]
	if begin > 0 {
		view.Earlier = path(asked, max(begin-rowsShown, 0))
	}
	if end < len(all) {
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
