package preview_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/source/preview"
	"watchmark/internal/watch"
)

func TestATableLooksUpSoManyAndNoMore(t *testing.T) {
	const most = 20_000
	asked := 0
	table := preview.NewTable(func(context.Context, watch.Event) ([]preview.Verdict, error) {
		asked++
		return []preview.Verdict{{Status: preview.Mark, SubjectID: 265}}, nil
	})
	add := func(number float64) {
		t.Helper()
		if err := table.Add(t.Context(), watch.Event{Media: watch.Episode, Title: "a", Episode: &number}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range most + 30 {
		add(float64(n))
	}
	add(7) // is in the table
	if asked != most || table.Items != most || table.More != 30 || len(table.Rows) != 1 {
		t.Errorf("asked %d times for %d items, %d more, %d rows", asked, table.Items, table.More, len(table.Rows))
	}
}

func TestFilmsOfOneNameAreTwo(t *testing.T) {
	table := preview.NewTable(func(context.Context, watch.Event) ([]preview.Verdict, error) {
		return []preview.Verdict{{Status: preview.NotFound}}, nil
	})
	for _, year := range []int{1995, 2017, 2017} {
		if err := table.Add(t.Context(), watch.Event{Media: watch.Movie, Title: "a", AirDate: watch.Date{Year: year}}); err != nil {
			t.Fatal(err)
		}
	}
	if len(table.Rows) != 2 || table.Items != 2 {
		t.Errorf("the table is %+v", table)
	}
}

func TestAForecastThatFailsEndsTheTable(t *testing.T) {
	broken := errors.New("the disk is full")
	table := preview.NewTable(func(context.Context, watch.Event) ([]preview.Verdict, error) { return nil, broken })
	if err := table.Add(t.Context(), watch.Event{Media: watch.Movie, Title: "a"}); !errors.Is(err, broken) || table.Items != 0 {
		t.Errorf("error %v, %d items", err, table.Items)
	}
}

// A server may have an item twice, such as in two libraries.
func TestATableHasAVerdictOnce(t *testing.T) {
	table := preview.NewTable(nil)
	put := func(media watch.Media, number float64, status preview.Status) {
		event := watch.Event{Media: media, Title: "a"}
		if media == watch.Episode {
			event.Episode = &number
		}
		table.Put(event, preview.Verdict{Status: status})
	}
	for range 2 {
		put(watch.Movie, 0, preview.Mark)
		put(watch.Episode, 1, preview.Mark)
		put(watch.Episode, 1, preview.Marked)
		put(watch.Episode, 2, preview.Marked)
	}
	if table.Items != 4 || len(table.Rows) != 3 || table.Counts[preview.Mark] != 2 || table.Counts[preview.Marked] != 2 {
		t.Errorf("the table is %+v", table)
	}
}

func TestWhatCameOutOtherwiseLeavesTheTable(t *testing.T) {
	table := preview.NewTable(nil)
	film := watch.Event{Media: watch.Movie, Title: "film"}
	episode := func(number float64) watch.Event {
		return watch.Event{Media: watch.Episode, Title: "show", Episode: &number}
	}
	mark := preview.Verdict{Status: preview.Mark}
	for _, e := range []watch.Event{film, episode(1), episode(2)} {
		table.Put(e, mark)
	}
	for _, e := range []watch.Event{film, episode(1), episode(1), episode(7)} {
		table.Take(e, mark)
	}
	table.Put(episode(3), mark)
	if table.Items != 2 || table.Counts[preview.Mark] != 2 || len(table.Rows) != 1 || !slices.Equal(table.Rows[0].Episodes, []float64{2, 3}) {
		t.Errorf("the table is %+v", table)
	}
}

// Where lists come out differently, each has a row of its own.
func TestATableHasARowForEachListThatComesOutDifferently(t *testing.T) {
	table := preview.NewTable(func(_ context.Context, e watch.Event) ([]preview.Verdict, error) {
		mark := preview.Verdict{Status: preview.Mark, SubjectID: 8}
		if *e.Episode == 3 {
			return []preview.Verdict{mark}, nil
		}
		mark.Accounts = []string{"one", "two"}
		return []preview.Verdict{mark, {Status: preview.Blocked, Accounts: []string{"three"}}}, nil
	})
	for _, number := range []float64{1, 2, 3} {
		if err := table.Add(t.Context(), watch.Event{Media: watch.Episode, Title: "a", Episode: &number}); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string][]float64{}
	for _, row := range table.Rows {
		got[fmt.Sprintf("%s %d %q", row.Status, row.SubjectID, row.Accounts)] = row.Episodes
	}
	want := map[string][]float64{`mark 8 ["one" "two"]`: {1, 2}, `blocked 0 ["three"]`: {1, 2}, `mark 8 []`: {3}}
	if diff := cmp.Diff(want, got); diff != "" || table.Items != 5 || table.Counts[preview.Blocked] != 2 {
		t.Errorf("%d items, %v (-want +got):\n%s", table.Items, table.Counts, diff)
	}
}
