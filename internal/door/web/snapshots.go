package web

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/task"
	"watchmark/internal/upkeep/snapshot"
)

// listPage is the list of one account: its snapshots, and what has changed between two of them.
type listPage struct {
	Account   account.Account
	Snapshots []snapshotLine
	// From and To are the snapshots that the form compares.
	From, To int64
	// Taken is the newest; nil before the first.
	Taken *snapshot.Snapshot
	// Unfinished is the newest reading of the list where it was stopped or failed; nil otherwise.
	Unfinished *task.Status
	// ByClock is set where snapshots are taken by themselves.
	ByClock     bool
	RunningTask int64
	Diff        *diffView
	History     *historyView
	// Preview and Restored are what would be brought back, and what was; nil where there is nothing to show.
	Preview, Restored *restoreView
}

// snapshotLine is a snapshot with the path of what has changed since the one before; empty for the oldest.
type snapshotLine struct {
	snapshot.Snapshot
	Changes string
}

// diffView is what has changed, with a filter.
type diffView struct {
	snapshot.Diff
	Tabs []tab
	Rows []changeRow
	// Earlier and Further are paths of other rows; empty where there are none.
	Earlier, Further string
	// All asks what bringing back all of these would write, those on other pages included.
	All string
}

// changeRow is an entry that has changed.
type changeRow struct {
	snapshot.Change
	History string
	Facts   []changeFact
}

// changeFact is one change in words: a text key with what was and what is. State is set where these are text keys.
type changeFact struct {
	Key         string
	Before, Now string
	State       bool
}

// historyView is how an entry came to be what it is.
type historyView struct {
	Subject  catalog.SubjectID
	Name     string
	Versions []snapshot.Version
	// Close is the path without it.
	Close string
}

// byOthers has what others changed shown alone.
const byOthers snapshot.Kind = "others"

// listOf is the page of an account's list.
func (g Accounts) listOf(r *request) (content, error) {
	id, err := idOf(r)
	if err != nil {
		return content{}, err
	}
	page := listPage{ByClock: g.Settings.Current().Snapshot.Enabled}
	if page.Account, err = g.Accounts.Get(r.Context(), id); err != nil {
		return content{}, err
	}
	all, err := g.Snapshots.List(r.Context(), id)
	if err != nil {
		return content{}, err
	}
	path := fmt.Sprintf("/people/%d/list", id)
	for i, s := range all {
		line := snapshotLine{Snapshot: s}
		if i+1 < len(all) {
			line.Changes = comparison(path, all[i+1].ID, s.ID, "", 0)
		}
		page.Snapshots = append(page.Snapshots, line)
	}
	if i := slices.IndexFunc(all, func(s snapshot.Snapshot) bool { return s.Source == snapshot.FromList }); i >= 0 {
		page.Taken = &all[i]
	}
	if page.RunningTask, err = g.Tasks.RunningOf(r.Context(), id, snapshot.TaskKind, snapshot.RestoreTask, snapshot.PreviewTask, snapshot.UndoTask, snapshot.FileTask); err != nil {
		return content{}, err
	}
	reading, err := newest(r.Context(), g.Tasks, id, snapshot.TaskKind)
	if err != nil {
		return content{}, err
	}
	if reading.State == task.Failed || reading.State == task.Cancelled {
		if page.Taken == nil || page.Taken.TakenAt.Before(*reading.EndedAt) {
			page.Unfinished = &reading
		}
	}
	if page.Preview, page.Restored, err = g.restored(r, id); err != nil {
		return content{}, err
	}
	if len(all) > 1 {
		page.From, page.To = all[1].ID, all[0].ID
	}
	query := r.URL.Query()
	compared := path // with what is compared
	from, _ := strconv.ParseInt(query.Get("from"), 10, 64)
	to, _ := strconv.ParseInt(query.Get("to"), 10, 64)
	if from > 0 && to > 0 {
		place := func(id int64) int { return slices.IndexFunc(all, func(s snapshot.Snapshot) bool { return s.ID == id }) }
		newer, older := min(place(from), place(to)), max(place(from), place(to))
		if newer < 0 {
			return content{}, snapshot.ErrNotFound
		}
		d, err := g.Snapshots.Diff(r.Context(), all[older].ID, all[newer].ID)
		if err != nil {
			return content{}, err
		}
		page.From, page.To = d.From.ID, d.To.ID
		page.Diff, compared = diffViewOf(path, d, snapshot.Kind(query.Get("kind")), int(cursor(r, "row")))
	}
	if subject, err := strconv.Atoi(query.Get("entry")); err == nil && subject > 0 {
		versions, err := g.Snapshots.History(r.Context(), id, catalog.SubjectID(subject))
		if err != nil {
			return content{}, err
		}
		page.History = &historyView{Subject: catalog.SubjectID(subject), Versions: versions, Close: compared}
		for _, v := range versions {
			if v.Entry != nil {
				page.History.Name = cmp.Or(v.Entry.About.NameCN, v.Entry.About.Name)
				break
			}
		}
	}
	return content{Data: page}, nil
}

// comparison is the path of what has changed between two snapshots, from a row on.
func comparison(path string, from, to int64, kind snapshot.Kind, row int) string {
	return withQuery(path, compares(from, to, kind, row)) + "#changes"
}

// compares are the query fields of a comparison.
func compares(from, to int64, kind snapshot.Kind, row int) map[string]string {
	fields := map[string]string{"from": strconv.FormatInt(from, 10), "to": strconv.FormatInt(to, 10), "kind": string(kind)}
	if row > 0 {
		fields["row"] = strconv.Itoa(row)
	}
	return fields
}

// diffViewOf shows the changes of one kind from a row on, and returns the path of that.
func diffViewOf(path string, d snapshot.Diff, only snapshot.Kind, begin int) (v *diffView, at string) {
	others := 0
	for _, c := range d.Items {
		if c.By != snapshot.Us {
			others++
		}
	}
	if only == byOthers && others == 0 || only != byOthers && d.Counts[only] == 0 {
		only = ""
	}
	v = &diffView{Diff: d, Tabs: []tab{{Path: comparison(path, d.From.ID, d.To.ID, "", 0), Key: "list.changed.all", Count: len(d.Items), Current: only == ""}}}
	if others > 0 && others < len(d.Items) {
		v.Tabs = append(v.Tabs, tab{Path: comparison(path, d.From.ID, d.To.ID, byOthers, 0), Key: "list.by.other", Count: others, Current: only == byOthers})
	}
	for _, kind := range snapshot.Kinds {
		if n := d.Counts[kind]; n > 0 {
			v.Tabs = append(v.Tabs, tab{Path: comparison(path, d.From.ID, d.To.ID, kind, 0), Key: "list.changed." + string(kind), Count: n, Current: only == kind})
		}
	}
	items := slices.DeleteFunc(slices.Clone(d.Items), func(c snapshot.Change) bool {
		return only == byOthers && c.By == snapshot.Us || only != "" && only != byOthers && !slices.Contains(c.Kinds, only)
	})
	if begin >= len(items) {
		begin = 0
	}
	end := min(begin+rowsShown, len(items))
	page := func(row int) string { return comparison(path, d.From.ID, d.To.ID, only, row) }
	for _, c := range items[begin:end] {
		fields := compares(d.From.ID, d.To.ID, only, begin)
		fields["entry"] = strconv.Itoa(int(c.SubjectID))
		v.Rows = append(v.Rows, changeRow{c, withQuery(path, fields) + "#history", factsOf(c)})
	}
	if begin > 0 {
		v.Earlier = page(max(begin-rowsShown, 0))
	}
	if end < len(items) {
		v.Further = page(end)
	}
	if len(items) > rowsShown {
		all := make([]catalog.SubjectID, len(items))
		for i, c := range items {
			all[i] = c.SubjectID
		}
		v.All = dryRunOf(all)
	}
	return v, page(begin)
}

// factsOf says what has changed of an entry.
func factsOf(c snapshot.Change) (facts []changeFact) {
	for _, kind := range c.Kinds {
		f := changeFact{Key: "list.changed." + string(kind)}
		switch kind {
		case snapshot.Added:
			f.Now, f.State = stateKey(c.After.Type), true
		case snapshot.Removed:
			f.Before, f.State = stateKey(c.Before.Type), true
		case snapshot.Moved:
			f.Before, f.Now, f.State = stateKey(c.Before.Type), stateKey(c.After.Type), true
		case snapshot.Rated:
			f.Before, f.Now = rating(c.Before.Rate), rating(c.After.Rate)
		case snapshot.Commented:
			f.Before, f.Now = cmp.Or(c.Before.Comment, "–"), cmp.Or(c.After.Comment, "–")
		case snapshot.Tagged:
			f.Before, f.Now = cmp.Or(strings.Join(c.Before.Tags, " "), "–"), cmp.Or(strings.Join(c.After.Tags, " "), "–")
		case snapshot.Privacy:
			f.Now, f.State = fmt.Sprintf("list.private.%t", c.After.Private), true
		case snapshot.Read:
			f.Before, f.Now = strconv.Itoa(c.Before.Marked), strconv.Itoa(c.After.Marked)
		case snapshot.Marked:
			f.Now = catalog.Numbers(c.Marked)
		case snapshot.Unmarked:
			f.Now = catalog.Numbers(c.Unmarked)
		}
		facts = append(facts, f)
	}
	return facts
}

// stateKey is the text key of the state of an entry.
func stateKey(state catalog.CollectionType) string { return fmt.Sprintf("list.state.%d", state) }

// rating is a rating as people read it.
func rating(rate int) string {
	if rate == 0 {
		return "–"
	}
	return strconv.Itoa(rate)
}
