package forecast_test

import (
	"context"
	"errors"
	"testing"

	"watchmark/internal/forecast"
	"watchmark/internal/watch"
)

func TestATableLooksUpSoManyAndNoMore(t *testing.T) {
	const most = 20_000
	asked := 0
	table := forecast.NewTable(func(context.Context, watch.Event) (forecast.Verdict, error) {
		asked++
		return forecast.Verdict{Status: forecast.Mark, SubjectID: 265}, nil
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
	table := forecast.NewTable(func(context.Context, watch.Event) (forecast.Verdict, error) {
		return forecast.Verdict{Status: forecast.NotFound}, nil
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
	table := forecast.NewTable(func(context.Context, watch.Event) (forecast.Verdict, error) { return forecast.Verdict{}, broken })
	if err := table.Add(t.Context(), watch.Event{Media: watch.Movie, Title: "a"}); !errors.Is(err, broken) || table.Items != 0 {
		t.Errorf("error %v, %d items", err, table.Items)
	}
}
