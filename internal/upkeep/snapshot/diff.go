package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
)

// Kind is what has changed of an entry.
type Kind string

// What changes. An entry that came or went has no other kind.
const (
	Added     Kind = "added"
	Removed   Kind = "removed"
	Moved     Kind = "moved" // to another state
	Rated     Kind = "rated"
	Commented Kind = "commented"
	Tagged    Kind = "tagged"
	Privacy   Kind = "privacy"
	Read      Kind = "read" // chapters or volumes of a book
	Marked    Kind = "marked"
	Unmarked  Kind = "unmarked"
)

// Kinds are all kinds, in the order people see them.
var Kinds = []Kind{Added, Removed, Moved, Marked, Unmarked, Rated, Commented, Tagged, Privacy, Read}

// By is who made a change.
type By string

// Who: this service, as far as its marks tell, somebody else, or both.
const (
	Us      By = "us"
	Another By = "other"
	Both    By = "both"
)

// Change is an entry that is not the same in two snapshots.
type Change struct {
	SubjectID catalog.SubjectID `json:"subject_id"`
	Name      string            `json:"name"`
	NameCN    string            `json:"name_cn"`
	Kinds     []Kind            `json:"kinds" enum:"added,removed,moved,rated,commented,tagged,privacy,read,marked,unmarked"`
	By        By                `json:"by" enum:"us,other,both" doc:"us is this service, as far as its marks tell."`
	Before    *catalog.Entry    `json:"before" doc:"null for an entry that was added."`
	After     *catalog.Entry    `json:"after" doc:"null for an entry that was removed."`
	Marked    []catalog.Mark    `json:"marked" doc:"Marks that are there now, or have another state now."`
	Unmarked  []catalog.Mark    `json:"unmarked" doc:"Marks that are not there any more."`
}

// Diff is what has changed between two snapshots of one list.
type Diff struct {
	From Snapshot `json:"from"`
	To   Snapshot `json:"to"`
	// Items are in the order of their subjects.
	Items []Change `json:"items"`
	// Counts are those of entries by what has changed; one may count several times.
	Counts map[Kind]int `json:"counts" doc:"How many entries have each kind of change."`
}

// differences are what a person sees to differ in two readings of an entry, but for marks.
func differences(old, now catalog.Entry) []Kind {
	var kinds []Kind
	for _, one := range []struct {
		kind Kind
		is   bool
	}{
		{Moved, old.Type != now.Type},
		{Rated, old.Rate != now.Rate},
		{Commented, old.Comment != now.Comment},
		{Tagged, !sameTags(old.Tags, now.Tags)},
		{Privacy, old.Private != now.Private},
		{Read, old.SubjectType == catalog.Book && (old.Marked != now.Marked || old.Volume != now.Volume)},
	} {
		if one.is {
			kinds = append(kinds, one.kind)
		}
	}
	return kinds
}

// sameTags compares tags without their order, which the catalog does not keep.
func sameTags(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// Diff compares two snapshots of one list. Errors: ErrNotFound, ErrOtherAccount.
func (k *Service) Diff(ctx context.Context, fromID, toID int64) (Diff, error) {
	from, err := k.store.get(ctx, fromID)
	if err != nil {
		return Diff{}, err
	}
	to, err := k.store.get(ctx, toID)
	if err != nil {
		return Diff{}, err
	}
	if from.AccountID != to.AccountID {
		return Diff{}, ErrOtherAccount
	}
	pairs, err := k.store.pairs(ctx, from, to)
	if err != nil {
		return Diff{}, err
	}
	ours, err := k.Written(ctx, from.AccountID, from.TakenAt, to.TakenAt)
	if err != nil {
		return Diff{}, err
	}
	restored, err := k.store.restored(ctx, from.AccountID, from.TakenAt, to.TakenAt)
	if err != nil {
		return Diff{}, err
	}
	d := Diff{From: from, To: to, Items: []Change{}, Counts: map[Kind]int{}}
	for subject, p := range pairs {
		c := compare(p.before, p.after)
		if len(c.Kinds) == 0 {
			continue
		}
		c.By = by(c, ours[subject], restored[subject])
		for _, kind := range c.Kinds {
			d.Counts[kind]++
		}
		d.Items = append(d.Items, c)
	}
	slices.SortFunc(d.Items, func(a, b Change) int { return cmp.Compare(a.SubjectID, b.SubjectID) })
	return d, nil
}

// compare is what has changed of one entry; nil where it was not there.
func compare(before, after *version) Change {
	c := Change{Kinds: []Kind{}, Marked: []catalog.Mark{}, Unmarked: []catalog.Mark{}}
	newest := after
	if newest == nil {
		newest = before
	}
	c.SubjectID, c.Name, c.NameCN = newest.Entry.Subject, newest.Entry.About.Name, newest.Entry.About.NameCN
	old, now := map[catalog.EpisodeID]catalog.Mark{}, map[catalog.EpisodeID]catalog.Mark{}
	if before != nil {
		c.Before = &before.Entry
		for _, m := range before.Marks {
			old[m.Episode] = m
		}
	}
	if after != nil {
		c.After = &after.Entry
		for _, m := range after.Marks {
			now[m.Episode] = m
			if was, there := old[m.Episode]; !there || was.State != m.State {
				c.Marked = append(c.Marked, m)
			}
		}
	}
	if before != nil {
		for _, m := range before.Marks {
			if _, there := now[m.Episode]; !there {
				c.Unmarked = append(c.Unmarked, m)
			}
		}
	}
	switch {
	case before == nil:
		c.Kinds = append(c.Kinds, Added)
		return c
	case after == nil:
		c.Kinds = append(c.Kinds, Removed)
		return c
	}
	c.Kinds = append(c.Kinds, differences(before.Entry, after.Entry)...)
	if len(c.Marked) > 0 {
		c.Kinds = append(c.Kinds, Marked)
	}
	if len(c.Unmarked) > 0 {
		c.Kinds = append(c.Kinds, Unmarked)
	}
	return c
}

// by tells who made a change. With a mark goes what marking does to an entry: it is added, moved on, or completed. back is what was
// brought back.
func by(c Change, ours []catalog.EpisodeID, back catalog.Wanted) By {
	mine := func(m catalog.Mark, state catalog.EpisodeState) bool {
		return state == catalog.EpisodeWatched && slices.Contains(ours, m.Episode) ||
			slices.ContainsFunc(back.Marks, func(b catalog.Mark) bool { return b.Episode == m.Episode && b.State == state })
	}
	all, some := true, false
	tell := func(us bool) { all, some = all && us, some || us }
	for _, m := range c.Marked {
		tell(mine(m, m.State))
	}
	for _, m := range c.Unmarked {
		tell(mine(m, catalog.Unmarked))
	}
	for _, kind := range c.Kinds {
		switch kind {
		case Marked, Unmarked:
		case Added, Moved:
			tell(len(ours) > 0 || back.Type == c.After.Type)
		case Rated:
			tell(back.Rate != nil && *back.Rate == c.After.Rate)
		case Commented:
			tell(back.Comment != nil)
		case Tagged:
			tell(back.Tags != nil)
		case Privacy:
			tell(back.Private != nil && *back.Private == c.After.Private)
		case Read:
			tell(back.Chapter != nil || back.Volume != nil)
		default:
			tell(false)
		}
	}
	switch {
	case !some && len(ours) == 0:
		return Another
	case all:
		return Us
	}
	return Both
}

// Version is an entry as it was in a span of snapshots.
type Version struct {
	Since time.Time      `json:"since" doc:"The first snapshot that has it so."`
	Entry *catalog.Entry `json:"entry"`
	Marks []catalog.Mark `json:"marks"`
	// Kinds are what has changed against the version before; empty for the first.
	Kinds []Kind `json:"kinds"`
}

// historyMost is how many versions of an entry are told, the newest.
const historyMost = 200

// History is how an entry came to be what it is, the newest version first. A version without an entry is when it was not on the list.
func (k *Service) History(ctx context.Context, accountID int64, subject catalog.SubjectID) ([]Version, error) {
	all := []Version{}
	within, whose := account.Within(ctx, "e.account_id")
	var before *version
	var until int64
	err := db.Each(ctx, k.DB.Read(), fmt.Sprintf("read the history of subject %d", subject), func(row db.Row) error {
		var since, end, ended int64
		v, err := scanVersion(row, &since, &end, &ended)
		if err != nil {
			return err
		}
		if before != nil && until != 0 && until != v.since {
			before = nil
		}
		one := Version{Since: time.UnixMilli(since).UTC(), Entry: &v.Entry, Marks: v.Marks, Kinds: []Kind{}}
		if len(all) > 0 {
			one.Kinds = compare(before, &v).Kinds
		}
		if len(all) == 0 || len(one.Kinds) > 0 {
			all = append(all, one)
		}
		before, until = &v, end
		if end != 0 && ended != 0 { // it may be followed by nothing
			all = append(all, Version{Since: time.UnixMilli(ended).UTC(), Marks: []catalog.Mark{}, Kinds: []Kind{Removed}})
		}
		return nil
	}, `SELECT e.since, e.entry, e.marks, b.taken_at, e.until,
			CASE WHEN e.until <> 0 AND NOT EXISTS (SELECT 1 FROM listed_entries n WHERE n.account_id = e.account_id AND n.subject_id = e.subject_id AND n.since = e.until)
				THEN COALESCE((SELECT s.taken_at FROM snapshots s WHERE s.account_id = e.account_id AND s.id >= e.until AND s.taken_at <> 0 AND s.source = 'list' ORDER BY s.id LIMIT 1), 0) ELSE 0 END
		FROM listed_entries e JOIN snapshots b ON b.id = (SELECT MIN(s.id) FROM snapshots s WHERE s.account_id = e.account_id AND s.id >= e.since AND s.taken_at <> 0 AND s.source = 'list' AND (e.until = 0 OR s.id < e.until))
		WHERE e.account_id = ? AND e.subject_id = ? AND `+within+` ORDER BY e.since`, append([]any{accountID, subject}, whose...)...)
	slices.Reverse(all)
	return all[:min(len(all), historyMost)], err
}
