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

	"github.com/alexedwards/argon2id"

	"watchmark/internal/door/auth"
)

// BenchmarkAPerson measures the home page, a search, a state of records and one record of one person among WATCHMARK_LOAD_ACCOUNTS people with
// WATCHMARK_LOAD_RECORDS records of a year, and signing in, each time of another person. Signing in is measured with the hash of the
// password as it is made, which is slow by design, and with one that costs nothing, which leaves the rest.
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
	measure := func(name string, do func(b *testing.B)) {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for range b.N {
				g.person = rand.Int64N(int64(people)) + 1
				began := time.Now()
				do(b)
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
	for name, path := range map[string]string{"home": "/mine", "search": "/mine?q=%E8%AF%95%E9%AA%8C+7", "failed": "/mine?status=error", "marked": "/mine?status=success"} {
		measure(name, func(b *testing.B) {
			if page := g.get(b, in, path, "en"); page.status != http.StatusOK {
				b.Fatal(fmt.Errorf("%s answers %d", path, page.status))
			}
		})
	}
	measure("record", func(b *testing.B) {
		id := g.person - 1 + int64(people)*(1+rand.Int64N(int64(records/people-1))) // one of theirs
		if page := g.get(b, in, fmt.Sprintf("/records/%d", id), "en"); page.status != http.StatusOK {
			b.Fatal(fmt.Errorf("record %d of person %d answers %d", id, g.person, page.status))
		}
	})
	const password = "correct horse battery"
	doors := auth.NewStore(g.db, plainSeal{}, func() auth.Policy {
		return auth.Policy{SessionLife: time.Hour, LockoutAttempts: 5, LockoutTime: time.Minute}
	})
	if err := doors.SetPassword(b.Context(), "bench 1", password); err != nil {
		b.Fatal(err)
	}
	cheap, err := argon2id.CreateHash(password, &argon2id.Params{Memory: 8, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32})
	if err != nil {
		b.Fatal(err)
	}
	g.exec(b, `UPDATE people SET password_hash = (SELECT password_hash FROM people WHERE id = 1)`)
	for _, name := range []string{"sign-in", "sign-in/without-the-hash"} {
		measure(name, func(b *testing.B) {
			name := fmt.Sprintf("bench %d", g.person)
			known := auth.Visitor{Device: fmt.Sprintf("%d %s", g.person, name)} // a browser that was there before: of others only so many a second are let in
			if _, err := doors.Login(b.Context(), name, password, "", known); err != nil {
				b.Fatal(err)
			}
		})
		g.exec(b, `UPDATE people SET password_hash = ?`, cheap)
	}
}
