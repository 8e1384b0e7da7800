package archive_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/archive"
	"watchmark/internal/testkit/dumptest"
	"watchmark/internal/watch/title"
)

// benchScale is the size of the dump that is measured with: 1 is that of a real one,
// a tenth when WATCHMARK_ARCHIVE_SCALE is not set.
func benchScale(b *testing.B) float64 {
	b.Helper()
	text := os.Getenv("WATCHMARK_ARCHIVE_SCALE")
	if text == "" {
		return 0.1
	}
	scale, err := strconv.ParseFloat(text, 64)
	if err != nil {
		b.Fatal(err)
	}
	return scale
}

// imported is an archive of a synthetic dump, and its titles.
func imported(b *testing.B) (*archive.Archive, []dumptest.Title) {
	b.Helper()
	spec := dumptest.Scaled(benchScale(b))
	file, err := os.CreateTemp(b.TempDir(), "dump")
	if err != nil {
		b.Fatal(err)
	}
	if err := dumptest.Write(file, spec); err != nil {
		b.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		b.Fatal(err)
	}
	a := archive.New(b.TempDir(), slog.New(slog.DiscardHandler))
	b.Cleanup(func() {
		if err := a.Close(); err != nil {
			b.Error(err)
		}
	})
	if _, err := a.Import(context.Background(), archive.Dump{Data: file, Size: info.Size()}, func(archive.Progress) {}); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	return a, slices.Collect(dumptest.Titles(spec))
}

// question is a text to look for and the subject that must come first.
type question struct {
	text    string
	subject int
}

// questions are made of the titles that one subject alone bears: with several there is no first one.
func questions(all []dumptest.Title) (names, aliases, typos []question) {
	bearers := map[string]int{}
	for _, t := range all {
		for _, key := range keysOf(t) {
			bearers[key]++
		}
	}
	dice := rand.New(rand.NewPCG(7, 7))
	strange := []rune("的のaxマ")
	for _, t := range all {
		if bearers[title.Key(t.Name)] == 1 {
			names = append(names, question{t.Name, t.Subject})
			if runes := []rune(t.Name); len(runes) >= 4 {
				i := dice.IntN(len(runes) - 1)
				switch dice.IntN(3) {
				case 0:
					runes = slices.Delete(runes, i, i+1)
				case 1:
					runes[i], runes[i+1] = runes[i+1], runes[i]
				default:
					runes[i] = strange[dice.IntN(len(strange))]
				}
				if typo := string(runes); bearers[title.Key(typo)] == 0 {
					typos = append(typos, question{typo, t.Subject})
				}
			}
		}
		for _, alias := range t.Aliases {
			if bearers[title.Key(alias)] == 1 {
				aliases = append(aliases, question{alias, t.Subject})
			}
		}
	}
	return names, aliases, typos
}

// keysOf are the different titles of a subject.
func keysOf(t dumptest.Title) []string {
	keys := []string{title.Key(t.Name), title.Key(t.NameCN)}
	for _, alias := range t.Aliases {
		keys = append(keys, title.Key(alias))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// BenchmarkFind reports for each kind of look-up the median and the 99th percentile,
// and in how many of a hundred cases the right subject comes first.
func BenchmarkFind(b *testing.B) {
	a, all := imported(b)
	names, aliases, typos := questions(all)
	for _, c := range []struct {
		name      string
		questions []question
	}{{"name", names}, {"alias", aliases}, {"typo", typos}} {
		b.Run(c.name, func(b *testing.B) {
			dice := rand.New(rand.NewPCG(3, 3))
			var times []time.Duration
			first := 0
			for b.Loop() {
				q := c.questions[dice.IntN(len(c.questions))]
				start := time.Now()
				found, err := a.Find(context.Background(), archive.Query{Text: q.text})
				times = append(times, time.Since(start))
				if err != nil {
					b.Fatal(err)
				}
				if len(found) > 0 && int(found[0].Subject.ID) == q.subject {
					first++
				}
			}
			report(b, times)
			b.ReportMetric(100*float64(first)/float64(len(times)), "%first")
		})
	}
}

// BenchmarkLookUp reports the look-ups by id.
func BenchmarkLookUp(b *testing.B) {
	a, all := imported(b)
	for _, c := range []struct {
		name string
		look func(ctx context.Context, id catalog.SubjectID) error
	}{
		{"subject", func(ctx context.Context, id catalog.SubjectID) error { _, err := a.Subject(ctx, id); return err }},
		{"episodes", func(ctx context.Context, id catalog.SubjectID) error { _, err := a.Episodes(ctx, id); return err }},
		{"relations", func(ctx context.Context, id catalog.SubjectID) error { _, err := a.Relations(ctx, id); return err }},
		{"chain", func(ctx context.Context, id catalog.SubjectID) error { _, err := a.Chain(ctx, id); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			dice := rand.New(rand.NewPCG(3, 3))
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				err := c.look(context.Background(), catalog.SubjectID(all[dice.IntN(len(all))].Subject))
				times = append(times, time.Since(start))
				if err != nil {
					b.Fatal(err)
				}
			}
			report(b, times)
		})
	}
}

func report(b *testing.B, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds())/1e3, "p99-µs")
}
