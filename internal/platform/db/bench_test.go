package db_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"watchmark/internal/testkit/postgrestest"
)

// Writes of three statements, one after the other and many at once, on both engines; PostgreSQL also from some distance, and
// reaching the disk at each commit, as it does for people. Run with -bench Write.
func BenchmarkWrite(b *testing.B) {
	server := func(delay time.Duration) func(b *testing.B) place {
		return func(b *testing.B) place {
			address := postgrestest.Shared(b).URL()
			conn, err := pgconn.Connect(b.Context(), address)
			if err != nil {
				b.Fatal(err)
			}
			for _, statement := range []string{"ALTER SYSTEM SET fsync = on", "SELECT pg_reload_conf()"} {
				if err := conn.Exec(b.Context(), statement).Close(); err != nil {
					b.Fatal(err)
				}
			}
			p := place{address: postgrestest.Schema(b, address)}
			if delay > 0 {
				p, _ = throughLine(b, p, delay)
			}
			return p
		}
	}
	for _, c := range []struct {
		name string
		at   func(b *testing.B) place
	}{
		{"sqlite", func(b *testing.B) place { return place{folder: b.TempDir()} }},
		{"postgres", server(0)},
		{"postgres1msAway", server(time.Millisecond)},
	} {
		for _, writers := range []int{1, 16} {
			b.Run(fmt.Sprint(c.name, "/", writers, "AtOnce"), func(b *testing.B) {
				d := c.at(b).open(b)
				b.SetParallelism(writers)
				var n atomic.Int64
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						key := fmt.Sprint("key", n.Add(1))
						if err := d.WriteShared(b.Context(), func(ctx context.Context, tx *sql.Tx) error {
							for _, statement := range []string{addSetting, `UPDATE settings SET value = '2' WHERE key = ?`, `DELETE FROM settings WHERE key = ?`} {
								if _, err := tx.ExecContext(ctx, statement, key); err != nil {
									return err
								}
							}
							return nil
						}); err != nil {
							b.Error(err)
						}
					}
				})
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
			})
		}
	}
}
