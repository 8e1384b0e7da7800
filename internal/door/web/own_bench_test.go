package web_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"watchmark/internal/door/auth"
)

// BenchmarkAPerson measures the home page, a search and a state of records of one person among WATCHMARK_LOAD_ACCOUNTS people with
// WATCHMARK_LOAD_RECORDS records of a year, each time of another person.
func BenchmarkAPerson(b *testing.B) {
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	people, records := number("WATCHMARK_LOAD_ACCOUNTS", 200), number("WATCHMARK_LOAD_RECORDS", 20_000)
	g := newRig(b)
	g.role = auth.RolePerson
	const numbers = `WITH RECURSIVE counted (n) AS (SELECT CAST(? AS BIGINT) UNION ALL SELECT n + 1 FROM counted WHERE n < CAST(? AS BIGINT)) `
	g.exec(b, numbers+`INSERT INTO people (id, name, role, password_hash, created_at, updated_at) SELECT n, 'bench ' || n, 'person', '', 0, 0 FROM counted`, 1, people)
	g.exec(b, numbers+`INSERT INTO accounts (id, person_id, username, nickname, catalog_user_id, auth_method, access_token, enabled, preferred, private, complete_series, complete_films, created_at, updated_at)
		SELECT n, n, 'bench ' || n, '', n, 'token', 'x', 1, 0, 0, 0, 0, 0, 0 FROM counted`, 1, people)
	now := time.Now().UnixMilli()
	const step = 50_000
	for from := 1; from <= records; from += step {
		g.exec(b, numbers+`INSERT INTO records (status, is_test, source, action, media_type, user_name, title, original_title, season, episode, release_date, account_id, account_name, subject_id, subject_name, owner, attempts, event, source_label, created_at, updated_at)
			SELECT CASE WHEN n % 50 = 0 THEN 'error' WHEN n % 70 = 0 THEN 'review' ELSE 'success' END, 0, 'plex', 'watched', 'episode', 'bench ' || (n % CAST(? AS BIGINT) + 1), '试验 ' || (n / 500), '', 1, n % 24, '', n % CAST(? AS BIGINT) + 1, '', n % 5000 + 1, '试验', 0, 1, '{}', '',
				CAST(? AS BIGINT) - (CAST(? AS BIGINT) - n) * (31536000000 / CAST(? AS BIGINT)), 0 FROM counted`, from, min(from+step-1, records), people, people, now, records, records)
	}
	g.exec(b, `ANALYZE`)
	in := g.client(b, true)
	for name, path := range map[string]string{"home": "/mine", "search": "/mine?q=%E8%AF%95%E9%AA%8C+7", "failed": "/mine?status=error", "marked": "/mine?status=success"} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for range b.N {
				g.person = rand.Int64N(int64(people)) + 1
				began := time.Now()
				if page := g.get(b, in, path, "en"); page.status != http.StatusOK {
					b.Fatal(fmt.Errorf("%s answers %d", path, page.status))
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
