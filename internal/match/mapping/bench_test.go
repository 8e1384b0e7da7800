package mapping_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/changes"
	"watchmark/internal/platform/db"
)

// BenchmarkFind is a title that none of all expressions fits, which is the most that an event costs.
func BenchmarkFind(b *testing.B) {
	d, err := db.Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	s := mapping.NewStore(d, changes.New(d))
	var set mapping.Set
	for i := range mapping.MaxExpressions {
		set.Mappings = append(set.Mappings, mapping.Mapping{Title: fmt.Sprintf(`(?i)^\[.*\] ?灯塔.*第%d季 (\d+)$`, i), Regex: true, SubjectID: 1})
	}
	for i := range mapping.MaxMappings - mapping.MaxExpressions {
		set.Mappings = append(set.Mappings, mapping.Mapping{Title: fmt.Sprint(i), SubjectID: 1})
	}
	if _, err := s.Import(b.Context(), set); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		rules, err := s.Rules(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if m, found := rules.Find([]string{"[字幕组] 灯塔守望者 第二季 12", "灯台守のうた"}, nil, false, nil); found {
			b.Fatalf("found %+v", m)
		}
	}
}

// BenchmarkFindAmong is BenchmarkFind of somebody among many people who have rules of their own.
func BenchmarkFindAmong(b *testing.B) {
	for _, people := range []int{0, 1, 1_000} {
		b.Run(fmt.Sprint(people), func(b *testing.B) {
			d, err := db.Open(b.Context(), b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = d.Close() }()
			s := mapping.NewStore(d, changes.New(d))
			err = s.Change(b.Context(), func(ctx context.Context, tx *sql.Tx) error {
				for person := 1; person <= people; person++ {
					if _, err := tx.ExecContext(ctx, `INSERT INTO people (id, name, role, password_hash, created_at, updated_at) VALUES (?, ?, 'person', '', 0, 0)`, person, fmt.Sprint("p", person)); err != nil {
						return err
					}
					for i := range 10 {
						if _, _, err := mapping.PutTx(ctx, tx, mapping.Mapping{PersonID: int64(person), Title: fmt.Sprint(person, " ", i), SubjectID: 1}); err != nil {
							return err
						}
					}
				}
				_, _, err := mapping.PutTx(ctx, tx, mapping.Mapping{Title: "灯塔", SubjectID: 1})
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
			ctx := mapping.For(b.Context(), 1)
			if _, err := s.Rules(ctx); err != nil { // which reads them
				b.Fatal(err)
			}
			for b.Loop() {
				rules, err := s.Rules(ctx)
				if err != nil {
					b.Fatal(err)
				}
				if m, found := rules.Find([]string{"[字幕组] 灯塔守望者 第二季 12", "灯台守のうた"}, nil, false, nil); found {
					b.Fatalf("found %+v", m)
				}
			}
		})
	}
}
