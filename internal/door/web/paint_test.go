package web_test

import (
	"context"
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"watchmark/internal/catalog"
	"watchmark/internal/record"
	"watchmark/internal/testkit/browsertest"
	"watchmark/internal/watch"
)

// BenchmarkBrowserPaint measures the browser's first-contentful-paint of a dashboard over 15,000 records
// of the last year, from the begin of the navigation: with nothing kept from an earlier visit, and with it. In turn with
// it a line of plain text is measured: what that takes is the browser's own, and changes with what else the machine does.
func BenchmarkBrowserPaint(b *testing.B) {
	tab := browsertest.Start(b)
	g := newRig(b)
	now := time.Now()
	g.write(b, func(ctx context.Context, tx *sql.Tx) error {
		for i := range 15_000 {
			id, err := record.Insert(ctx, tx, episode(watch.Plex, "mira", "药屋少女的呢喃", "薬屋のひとりごと", 1, 1, ""), false, now.AddDate(0, 0, -i%365))
			if err != nil {
				return err
			}
			if err := record.SettleTx(ctx, tx, record.Outcome{RecordID: id, Status: record.Success, SubjectID: catalog.SubjectID(900_031), SubjectName: "药屋少女的呢喃", Message: value("marked")}); err != nil {
				return err
			}
		}
		return nil
	})
	g.fill(b)
	if err := g.records.CountDays(b.Context(), now); err != nil { // as the service does when it has started
		b.Fatal(err)
	}
	paint := func(b *testing.B, address string) float64 {
		const at = `performance.getEntriesByName("first-contentful-paint")[0]?.startTime`
		browsertest.Run(b, tab, chromedp.Navigate(address), browsertest.Until(at+` > 0`))
		ms, err := chromedp.Run(tab, chromedp.Evaluate[float64](at))
		if err != nil {
			b.Fatal(err)
		}
		return ms
	}
	for _, visit := range []struct {
		name  string
		first bool
	}{{"first", true}, {"again", false}} {
		b.Run(visit.name, func(b *testing.B) {
			browsertest.Run(b, tab, g.signIn(), browsertest.Sized(1280, 844), browsertest.Send(network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: visit.first}), chromedp.Navigate(g.server.URL+"/"))
			var paints, lines []float64
			for b.Loop() {
				lines = append(lines, paint(b, g.server.URL+"/static/none"))
				paints = append(paints, paint(b, g.server.URL+"/"))
			}
			slices.Sort(paints)
			slices.Sort(lines)
			b.ReportMetric(paints[len(paints)/2], "ms/median")
			b.ReportMetric(paints[len(paints)-1], "ms/slowest")
			b.ReportMetric(lines[len(lines)/2], "ms/line")
		})
	}
}
