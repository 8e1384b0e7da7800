package importer

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"maps"
	"testing"
	"time"

	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/source/mediaserver"
	"watchmark/internal/source/payload"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/watch"
)

// oneFilm is a server on which one film was watched.
type oneFilm struct{ mediaserver.Client }

func (oneFilm) Series(context.Context, mediaserver.Library, func([]mediaserver.Show) error) error {
	return nil
}

func (oneFilm) Played(_ context.Context, _ []mediaserver.Library, _ time.Time, page func([]mediaserver.Item, int) error) error {
	return page([]mediaserver.Item{{Report: payload.Report{ItemType: "movie", Event: watch.Event{ItemID: "1", Title: "灯塔守望者"}}}}, 0)
}

// oneRecord takes every event as record 1.
type oneRecord struct{}

func (oneRecord) Take(context.Context, []watch.Event, func(context.Context, *sql.Tx, []int64) error) ([]int64, error) {
	return []int64{1}, nil
}

func TestAnImportThatIsCutOffTellsWhatIsOnItsWay(t *testing.T) {
	d := dbtest.Open(t)
	tasks := task.New(d, dbtest.Self(1), slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = tasks.Stop(context.Background()) })
	cut := errors.New("the database is gone")
	k := NewImporter(Config{
		DB: d, Intake: oneRecord{}, Statuses: func(context.Context, []int64) (map[int64]record.Status, error) { return nil, cut },
		Taken: func(context.Context, string, string, []string) (map[string]bool, error) {
			return map[string]bool{}, nil
		},
	})
	h := k.ofServer(History{
		Client: oneFilm{}, Kind: watch.Plex, Source: watch.Plex, UserID: "1", UserName: "mira", Libraries: []mediaserver.Library{{ID: "1", Name: "Films"}},
	})
	ended := make(chan error, 1)
	run, err := tasks.Start(t.Context(), task.Spec{Kind: RunTask}, func(ctx context.Context, t *task.Task) error {
		err := h.run(ctx, t)
		ended <- err
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, cut) {
		t.Fatalf("the import ended with %v", err)
	}
	result, _ := task.ResultOf[Result](run.Status())
	if want := map[record.Status]int{record.Received: 1}; result.Taken != 1 || !maps.Equal(result.Records, want) {
		t.Errorf("the result is %+v, want the records %v", result, want)
	}
}
