package mapping_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/changes"
	"watchmark/internal/platform/reason"
	"watchmark/internal/testkit/dbtest"
)

func newStore(t *testing.T) *mapping.Store {
	t.Helper()
	d := dbtest.Open(t)
	return mapping.NewStore(d, changes.New(d))
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
	add(t, s, mapping.Mapping{Title: "双子", SubjectID: 10})
	add(t, s, mapping.Mapping{Title: "双子", Form: mapping.FilmForm, SubjectID: 11})
	add(t, s, mapping.Mapping{Title: "双子", Form: mapping.ShowForm, Season: season(2), SubjectID: 12})
	add(t, s, mapping.Mapping{Title: "^港", Regex: true, Form: mapping.FilmForm, SubjectID: 13})
	if _, err := put(t, s, mapping.Mapping{Title: "海图", FirstSeason: true, Form: mapping.ShowForm, SubjectID: 14, Origin: mapping.ByConfirm}); err != nil {
		t.Fatal(err)
	}
	if _, err := put(t, s, mapping.Mapping{Title: "海图", FirstSeason: true, Form: mapping.FilmForm, SubjectID: 15, Origin: mapping.ByConfirm}); err != nil {
		t.Fatal(err)
	}
	number, nine := 9.0, 9.0
	add(t, s, mapping.Mapping{Title: "别的", Season: season(0), SubjectID: 16})
	add(t, s, mapping.Mapping{Title: "别的", Season: season(0), Episode: &nine, SubjectID: 17})
	for name, c := range map[string]struct {
		titles []string
		season *int
		film   bool
		want   catalog.SubjectID
	}{
		"this season":                            {[]string{"灯塔守望者"}, season(2), false, 4},
		"another season":                         {[]string{"灯塔守望者"}, season(3), false, 3},
		"no season told":                         {[]string{"灯塔守望者"}, nil, false, 3},
		"expression":                             {[]string{"灯塔物语"}, season(1), false, 1},
		"expression of this season":              {[]string{"灯塔物语"}, season(9), false, 2},
		"original title":                         {[]string{"别的", " lighthouse "}, season(5), false, 5},
		"season mapping does not hold elsewhere": {[]string{"Lighthouse"}, season(1), false, 0},
		"film":                                   {[]string{"双子"}, nil, true, 11},
		"show of the name of a film":             {[]string{"双子"}, season(1), false, 10},
		"season of a show":                       {[]string{"双子"}, season(2), false, 12},
		"expression for films":                   {[]string{"港口"}, nil, true, 13},
		"expression for films, show":             {[]string{"港口"}, nil, false, 0},
		"answered without a season":              {[]string{"海图"}, nil, false, 14},
		"answered without a season, first":       {[]string{"海图"}, season(1), false, 14},
		"answered without a season, specials":    {[]string{"海图"}, season(0), false, 0},
		"answered without a season, second":      {[]string{"海图"}, season(2), false, 0},
		"answered film":                          {[]string{"海图"}, nil, true, 15},
		"empty title is matched by nothing":      {[]string{"", "x"}, nil, false, 0},
	} {
		m, found := rules(t, s).Find(c.titles, c.season, c.film, nil)
		if m.SubjectID != c.want || found != (c.want != 0) {
			t.Errorf("%s: subject %d found %v, want %d", name, m.SubjectID, found, c.want)
		}
	}
	if m, _ := rules(t, s).Find([]string{"别的"}, season(0), false, &number); m.SubjectID != 17 {
		t.Errorf("this very episode leads to %d", m.SubjectID)
	}
	number = 8
	if m, _ := rules(t, s).Find([]string{"别的"}, season(0), false, &number); m.SubjectID != 16 {
		t.Errorf("another episode leads to %d", m.SubjectID)
	}
}

func TestRulesFollowEveryChange(t *testing.T) {
	s := newStore(t)
	find := func() catalog.SubjectID {
		m, _ := rules(t, s).Find([]string{"a"}, nil, false, nil)
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
			_, found := now.Find([]string{"a"}, nil, false, nil)
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

// TestAKeywordThatAPersonChangesIsTheirs: it is compared with every title from then on.
func TestAKeywordThatAPersonChangesIsTheirs(t *testing.T) {
	s := newStore(t)
	b, err := s.Block(t.Context(), mapping.Blocked{Keyword: "Monster Musume", Kind: mapping.Exact, Source: mapping.ByReject})
	if err != nil {
		t.Fatal(err)
	}
	b.Keyword, b.Kind, b.Source = "Monster", mapping.Contains, mapping.ByPerson
	if b, err = s.UpdateBlocked(t.Context(), b); err != nil || b.Source != mapping.ByPerson {
		t.Errorf("the keyword is %+v (%v)", b, err)
	}
	if _, blocked := rules(t, s).Blocks([]string{"魔物娘", "Monster Musume"}); !blocked {
		t.Error("the original title is not blocked")
	}
}

func TestBadMappingNamesItsField(t *testing.T) {
	s := newStore(t)
	for field, m := range map[string]mapping.Mapping{
		"title":          {Title: " ", SubjectID: 1},
		"title ":         {Title: "(", Regex: true, SubjectID: 1},
		"title  ":        {Title: `\pL{999}\pL{999}`, Regex: true, SubjectID: 1},
		"title   ":       {Title: "(灯塔)?.*", Regex: true, SubjectID: 1},
		"form":           {Title: "a", Form: "book", SubjectID: 1},
		"subject_id ":    {Title: "a", SubjectID: mapping.MaxSubject + 1},
		"season":         {Title: "a", Season: season(-1), SubjectID: 1},
		"subject_id":     {Title: "a"},
		"episode_offset": {Title: "a", SubjectID: 1, EpisodeOffset: 1 << 30},
		"note":           {Title: "a", SubjectID: 1, Note: strings.Repeat("x", 1000)},
	} {
		_, err := s.Create(t.Context(), m)
		var wrong *reason.FieldError
		if !errors.As(err, &wrong) || wrong.Field != strings.TrimSpace(field) {
			t.Errorf("%s: error %v", field, err)
		}
	}
}

func TestSameTitleAndSeasonIsTaken(t *testing.T) {
	s := newStore(t)
	add(t, s, mapping.Mapping{Title: "a", SubjectID: 1})
	add(t, s, mapping.Mapping{Title: "a", Season: season(1), SubjectID: 1})
	for _, title := range []string{"a", " A "} {
		if _, err := s.Create(t.Context(), mapping.Mapping{Title: title, SubjectID: 2}); !errors.Is(err, mapping.ErrTaken) {
			t.Errorf("%q: error %v, want ErrTaken", title, err)
		}
	}
	add(t, s, mapping.Mapping{Title: "A", Regex: true, SubjectID: 3})
	if err := s.Delete(t.Context(), 77); !errors.Is(err, mapping.ErrNotFound) {
		t.Errorf("deleting what is not there: %v, want ErrNotFound", err)
	}
}

func TestPutReplacesItsFormAlone(t *testing.T) {
	s := newStore(t)
	put := func(m mapping.Mapping) {
		t.Helper()
		m.Origin = mapping.ByPerson
		if _, err := put(t, s, m); err != nil {
			t.Fatal(err)
		}
	}
	add(t, s, mapping.Mapping{Title: "a", SubjectID: 1})
	add(t, s, mapping.Mapping{Title: "a", Season: season(2), SubjectID: 2})
	put(mapping.Mapping{Title: "A ", Form: mapping.ShowForm, SubjectID: 3})
	put(mapping.Mapping{Title: "a", Form: mapping.FilmForm, SubjectID: 4})
	put(mapping.Mapping{Title: "a", Form: mapping.FilmForm, SubjectID: 5})
	put(mapping.Mapping{Title: "a", Season: season(2), Form: mapping.ShowForm, SubjectID: 6})
	all, err := s.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var subjects []catalog.SubjectID
	for _, m := range all {
		subjects = append(subjects, m.SubjectID)
	}
	slices.Sort(subjects)
	if !slices.Equal(subjects, []catalog.SubjectID{1, 3, 5, 6}) {
		t.Errorf("the mappings lead to %v", subjects)
	}
	if _, err := s.Create(t.Context(), mapping.Mapping{Title: "a", Form: mapping.FilmForm, SubjectID: 7}); !errors.Is(err, mapping.ErrTaken) {
		t.Errorf("another one for films: %v", err)
	}
}

func TestRestoreLeavesWhatSomebodyChanged(t *testing.T) {
	s := newStore(t)
	old := add(t, s, mapping.Mapping{Title: "a", Season: season(1), SubjectID: 1})
	for name, change := range map[string]func(*mapping.Mapping){
		"nothing": nil,
		"subject": func(m *mapping.Mapping) { m.SubjectID = 9 },
		"form":    func(m *mapping.Mapping) { m.Form = mapping.AnyForm },
		"season":  func(m *mapping.Mapping) { m.Season = season(3) },
	} {
		var held bool
		err := s.Change(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			written, replaced, err := mapping.PutTx(ctx, tx, mapping.Mapping{Title: "a", Season: season(1), Form: mapping.ShowForm, SubjectID: 2, Origin: mapping.ByConfirm})
			if err != nil {
				return err
			}
			as := written
			if change != nil {
				change(&as) // as if it had been written so, in the same millisecond
			}
			if stands, err := mapping.StandsTx(ctx, tx, as); err != nil || stands != (change == nil) {
				t.Errorf("%s: stands %v (%v)", name, stands, err)
			}
			if held, err = mapping.RestoreTx(ctx, tx, as, replaced); err != nil || held {
				return err
			}
			_, err = mapping.RestoreTx(ctx, tx, written, replaced)
			return err
		})
		if err != nil || held != (change == nil) {
			t.Errorf("%s: restored %v (%v)", name, held, err)
		}
		if m, _ := rules(t, s).Find([]string{"a"}, season(1), false, nil); m.SubjectID != old.SubjectID {
			t.Errorf("%s: the old one is not back: %+v", name, m)
		}
	}
}

// put writes a mapping in the place of what it replaces.
func put(t *testing.T, s *mapping.Store, m mapping.Mapping) (written mapping.Mapping, err error) {
	t.Helper()
	err = s.Change(t.Context(), func(ctx context.Context, tx *sql.Tx) (err error) {
		written, _, err = mapping.PutTx(ctx, tx, m)
		return err
	})
	return written, err
}
