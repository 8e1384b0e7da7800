package mapping_test

import (
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
