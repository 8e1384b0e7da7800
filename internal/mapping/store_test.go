package mapping_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/db"
	"watchmark/internal/mapping"
)

func newStore(t *testing.T) *mapping.Store {
	t.Helper()
	d, err := db.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return mapping.NewStore(d)
}

func add(t *testing.T, s *mapping.Store, m mapping.Mapping) mapping.Mapping {
	t.Helper()
	m.Origin = mapping.ByPerson
	created, err := s.Create(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func rules(t *testing.T, s *mapping.Store) *mapping.Rules {
	t.Helper()
	r, err := s.Rules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func season(n int) *int { return &n }

func TestFindPrefersSeasonThenExactThenExpression(t *testing.T) {
	s := newStore(t)
	add(t, s, mapping.Mapping{Title: "^灯塔", Regex: true, SubjectID: 1})
	add(t, s, mapping.Mapping{Title: "^灯塔", Regex: true, Season: season(9), SubjectID: 2})
	add(t, s, mapping.Mapping{Title: "灯塔守望者", SubjectID: 3})
	add(t, s, mapping.Mapping{Title: "灯塔守望者", Season: season(2), SubjectID: 4})
	add(t, s, mapping.Mapping{Title: "Lighthouse", Season: season(5), SubjectID: 5})
	for name, c := range map[string]struct {
		titles []string
		season *int
		want   catalog.SubjectID
	}{
		"this season":                            {[]string{"灯塔守望者"}, season(2), 4},
		"another season":                         {[]string{"灯塔守望者"}, season(3), 3},
		"no season told":                         {[]string{"灯塔守望者"}, nil, 3},
		"expression":                             {[]string{"灯塔物语"}, season(1), 1},
		"expression of this season":              {[]string{"灯塔物语"}, season(9), 2},
		"original title":                         {[]string{"别的", " lighthouse "}, season(5), 5},
		"season mapping does not hold elsewhere": {[]string{"Lighthouse"}, season(1), 0},
		"empty title is matched by nothing":      {[]string{"", "x"}, nil, 0},
	} {
		m, found := rules(t, s).Find(c.titles, c.season)
		if m.SubjectID != c.want || found != (c.want != 0) {
			t.Errorf("%s: subject %d found %v, want %d", name, m.SubjectID, found, c.want)
		}
	}
}

func TestRulesFollowEveryChange(t *testing.T) {
	s := newStore(t)
	find := func() catalog.SubjectID {
		m, _ := rules(t, s).Find([]string{"a"}, nil)
		return m.SubjectID
	}
	m := add(t, s, mapping.Mapping{Title: "a", SubjectID: 1})
	if got := find(); got != 1 {
		t.Errorf("after create: %d", got)
	}
	m.SubjectID = 2
	if _, err := s.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got := find(); got != 2 {
		t.Errorf("after update: %d", got)
	}
	if err := s.Delete(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	if got := find(); got != 0 {
		t.Errorf("after delete: %d", got)
	}
	b, err := s.Block(t.Context(), mapping.Blocked{Keyword: "综艺", Kind: mapping.Contains, Source: mapping.ByPerson})
	if err != nil {
		t.Fatal(err)
	}
	if _, blocked := rules(t, s).Blocks([]string{"某综艺 第一季"}); !blocked {
		t.Error("a new keyword does not block")
	}
	b.Kind = mapping.Exact
	if _, err := s.UpdateBlocked(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if _, blocked := rules(t, s).Blocks([]string{"某综艺 第一季"}); blocked {
		t.Error("an exact keyword blocks a longer title")
	}
	if err := s.Unblock(t.Context(), b.ID); err != nil {
		t.Fatal(err)
	}
	if _, blocked := rules(t, s).Blocks([]string{"综艺"}); blocked {
		t.Error("a removed keyword still blocks")
	}
}

// TestRulesWaitForAChangeThatIsBeingWritten: what a transaction sets going besides must be
// matched by the rules that it writes.
func TestRulesWaitForAChangeThatIsBeingWritten(t *testing.T) {
	s := newStore(t)
	rules(t, s)
	asking, asked := make(chan struct{}), make(chan bool)
	err := s.Change(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		go func() {
			close(asking)
			now, err := s.Rules(t.Context())
			if err != nil {
				t.Error(err)
				close(asked)
				return
			}
			_, found := now.Find([]string{"a"}, nil)
			asked <- found
		}()
		<-asking
		_, _, err := mapping.PutTx(ctx, tx, mapping.Mapping{Title: "a", SubjectID: 1})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !<-asked {
		t.Error("who asks during a change gets the rules from before")
	}
}

func TestBlockedExpressionIsFoundInTheTitle(t *testing.T) {
	s := newStore(t)
	if _, err := s.Block(t.Context(), mapping.Blocked{Keyword: `(?i)\bpv\d*$`, Kind: mapping.Regex, Source: mapping.ByPerson}); err != nil {
		t.Fatal(err)
	}
	for title, want := range map[string]bool{"Show PV2": true, "Show": false, "": false} {
		if _, blocked := rules(t, s).Blocks([]string{title}); blocked != want {
			t.Errorf("%q blocked %v, want %v", title, blocked, want)
		}
	}
}

func TestRejectedTitleBlocksNothingElse(t *testing.T) {
	s := newStore(t)
	if _, err := s.Block(t.Context(), mapping.Blocked{Keyword: "Monster", Kind: mapping.Exact, Source: mapping.ByReject}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		titles []string
		want   bool
	}{
		{[]string{"Monster"}, true},
		{[]string{" monster "}, true},
		{[]string{"Monster", "怪物"}, true},
		{[]string{"怪物", "Monster"}, false},
		{[]string{"Monster Musume"}, false},
	} {
		if _, blocked := rules(t, s).Blocks(c.titles); blocked != c.want {
			t.Errorf("%q blocked %v, want %v", c.titles, blocked, c.want)
		}
	}
}

func TestBadMappingNamesItsField(t *testing.T) {
	s := newStore(t)
	for field, m := range map[string]mapping.Mapping{
		"title":          {Title: " ", SubjectID: 1},
		"title ":         {Title: "(", Regex: true, SubjectID: 1},
		"season":         {Title: "a", Season: season(-1), SubjectID: 1},
		"subject_id":     {Title: "a"},
		"episode_offset": {Title: "a", SubjectID: 1, EpisodeOffset: 1 << 30},
		"note":           {Title: "a", SubjectID: 1, Note: strings.Repeat("x", 1000)},
	} {
		_, err := s.Create(t.Context(), m)
		var wrong *mapping.FieldError
		if !errors.As(err, &wrong) || wrong.Field != strings.TrimSpace(field) {
			t.Errorf("%s: error %v", field, err)
		}
	}
}

func TestSameTitleAndSeasonIsTaken(t *testing.T) {
	s := newStore(t)
	add(t, s, mapping.Mapping{Title: "a", SubjectID: 1})
	add(t, s, mapping.Mapping{Title: "a", Season: season(1), SubjectID: 1})
	if _, err := s.Create(t.Context(), mapping.Mapping{Title: "a", SubjectID: 2}); !errors.Is(err, mapping.ErrTaken) {
		t.Errorf("error %v, want ErrTaken", err)
	}
	if err := s.Delete(t.Context(), 77); !errors.Is(err, mapping.ErrNotFound) {
		t.Errorf("deleting what is not there: %v, want ErrNotFound", err)
	}
}

func TestImportIsAllOrNothingAndCountsBeforehand(t *testing.T) {
	s := newStore(t)
	add(t, s, mapping.Mapping{Title: "same", SubjectID: 1})
	add(t, s, mapping.Mapping{Title: "changed", Season: season(2), SubjectID: 2})
	list := []mapping.Mapping{{Title: "same", SubjectID: 1}, {Title: "changed", Season: season(2), SubjectID: 3}, {Title: "new", SubjectID: 4}}
	want := mapping.ImportResult{Added: 1, Changed: 1, Same: 1}
	if got, err := s.Import(t.Context(), list, true); err != nil || got != want {
		t.Errorf("dry run: %+v (%v), want %+v", got, err, want)
	}
	if have, err := s.List(t.Context(), ""); err != nil || len(have) != 2 {
		t.Errorf("a dry run wrote: %v (%v)", have, err)
	}
	if got, err := s.Import(t.Context(), list, false); err != nil || got != want {
		t.Errorf("import: %+v (%v), want %+v", got, err, want)
	}
	m, _ := rules(t, s).Find([]string{"changed"}, season(2))
	if m.SubjectID != 3 || m.Origin != mapping.ByImport {
		t.Errorf("changed mapping is %+v", m)
	}
	_, err := s.Import(t.Context(), []mapping.Mapping{{Title: "fine", SubjectID: 1}, {Title: "bad"}}, false)
	var wrong *mapping.FieldError
	if !errors.As(err, &wrong) || wrong.Field != "mappings[1].subject_id" {
		t.Errorf("error %v, want one that names mappings[1].subject_id", err)
	}
	if _, found := rules(t, s).Find([]string{"fine"}, nil); found {
		t.Error("half of a bad import was written")
	}
}
