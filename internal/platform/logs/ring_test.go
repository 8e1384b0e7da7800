package logs_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"watchmark/internal/platform/logs"
)

// messages are those of lines.
func messages(lines []logs.Line) string {
	var all []string
	for _, l := range lines {
		all = append(all, l.Entry().Message)
	}
	return strings.Join(all, ", ")
}

func TestLinesAreFilteredByLevelAndText(t *testing.T) {
	ring := logs.NewRing(1 << 20)
	var level slog.LevelVar
	log := slog.New(ring.Handler(&level))
	log.Debug("too quiet")
	log.Info("asked the catalog", "title", `a "quoted" 标题`)
	level.Set(slog.LevelDebug)
	log.Debug("request sent", "url", "http://Catalog/<x>")
	log.With("part", "engine").WithGroup("of").Error("cannot mark", "record", 7)
	for _, c := range []struct {
		name   string
		after  int
		filter logs.Filter
		want   string
	}{
		{"info and above", 0, logs.Filter{}, "asked the catalog, cannot mark"},
		{"everything", 0, logs.Everything, "asked the catalog, request sent, cannot mark"},
		{"errors", 0, logs.Filter{Level: slog.LevelError}, "cannot mark"},
		{"a text in any case", 0, logs.Filter{Level: slog.LevelDebug, Text: "CATALOG"}, "asked the catalog, request sent"},
		{"a text with quotes", 0, logs.Filter{Text: `"quoted" 标`}, "asked the catalog"},
		{"a text that ends in a quote", 0, logs.Filter{Text: `a "quoted"`}, "asked the catalog"},
		{"a text with a bracket", 0, logs.Filter{Level: slog.LevelDebug, Text: "/<x"}, "request sent"},
		{"a fact", 0, logs.Filter{Text: `"part":"engine"`}, ""},
		{"a value", 0, logs.Filter{Text: "engine"}, "cannot mark"},
		{"the newer ones", 2, logs.Everything, "cannot mark"},
		{"nothing newer", 3, logs.Everything, ""},
		{"those of a new process", 900, logs.Everything, "asked the catalog, request sent, cannot mark"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines, _ := ring.After(c.after, c.filter)
			if got := messages(lines); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	lines, _ := ring.After(0, logs.Filter{Level: slog.LevelError})
	e := lines[0].Entry()
	if e.ID != 3 || e.Level != "ERROR" || time.Since(e.Time) > time.Minute || fmt.Sprint(e.Facts) != "map[of:map[record:7] part:engine]" {
		t.Errorf("taken apart it is %+v", e)
	}
}

func TestOnlyTheNewestLinesAreKept(t *testing.T) {
	ring := logs.NewRing(10_000)
	log := slog.New(ring.Handler(slog.LevelInfo))
	for range 1000 {
		log.Info(strings.Repeat("x", 100))
	}
	lines, _ := ring.After(0, logs.Everything)
	if len(lines) < 20 || len(lines) > 100 || lines[len(lines)-1].ID != 1000 || ring.Size() != 1000 {
		t.Errorf("%d lines of %d", len(lines), ring.Size())
	}
	log.Info(strings.Repeat("y", 50_000))
	if lines, _ := ring.After(0, logs.Everything); len(lines) != 1 {
		t.Errorf("beside one that is too long, %d lines are kept", len(lines)-1)
	}
}

func TestWaitingReadersAreTold(t *testing.T) {
	ring := logs.NewRing(1000)
	_, more := ring.After(0, logs.Everything)
	slog.New(ring.Handler(slog.LevelInfo)).Info("there")
	<-more
	_, more = ring.After(1, logs.Everything)
	ring.Touch()
	<-more
}
