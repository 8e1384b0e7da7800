package mapping_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/changes"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/scope"
	"watchmark/internal/testkit/dbtest"
)

// people are a store with two people: mira and alex, with their scopes.
type people struct {
	*mapping.Store
	t          *testing.T
	db         *db.DB
	mira, alex int64
}

func newPeople(t *testing.T) *people {
	t.Helper()
	d := dbtest.Open(t)
	p := &people{Store: mapping.NewStore(d, changes.New(d)), t: t, db: d}
	p.mira, p.alex = p.person("mira"), p.person("alex")
	return p
}

func (p *people) person(name string) (id int64) {
	p.t.Helper()
	err := p.db.Write(p.t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `INSERT INTO people (name, role, password_hash, created_at, updated_at) VALUES (?, 'person', '', 0, 0) RETURNING id`, name).Scan(&id)
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return id
}

func (p *people) as(person int64) context.Context { return scope.In(p.t.Context(), scope.Of(person)) }

func (p *people) leads(ctx context.Context, title string) int {
	p.t.Helper()
	rules, err := p.Rules(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	m, _ := rules.Find([]string{title}, nil, false, nil)
	return int(m.SubjectID)
}

func (p *people) create(ctx context.Context, m mapping.Mapping) mapping.Mapping {
	p.t.Helper()
	m.Origin = mapping.ByPerson
	created, err := p.Create(ctx, m)
	if err != nil {
		p.t.Fatal(err)
	}
	return created
}

func TestARuleOfAPersonHoldsForThem(t *testing.T) {
	p := newPeople(t)
	p.create(t.Context(), mapping.Mapping{Title: "a", SubjectID: 1})
	p.create(t.Context(), mapping.Mapping{Title: "a2", Season: season(2), SubjectID: 2})
	p.create(p.as(p.mira), mapping.Mapping{Title: "A", SubjectID: 10})
	p.create(p.as(p.mira), mapping.Mapping{Title: "^a2$", Regex: true, SubjectID: 20})
	p.create(p.as(p.alex), mapping.Mapping{Title: "b", SubjectID: 30})
	for name, c := range map[string]struct {
		person int64
		want   [3]int // where a, a2 and b lead
	}{
		"nobody in particular": {0, [3]int{1, 0, 0}},
		"mira":                 {p.mira, [3]int{10, 20, 0}},
		"alex":                 {p.alex, [3]int{1, 0, 30}},
		"a stranger":           {4711, [3]int{1, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			for i, title := range []string{"a", "a2", "b"} {
				if got := p.leads(mapping.For(t.Context(), c.person), title); got != c.want[i] {
					t.Errorf("%s leads to %d, want %d", title, got, c.want[i])
				}
			}
		})
	}
	// Whoever asks first, the rules are everybody's: what is kept in memory is not what one person reaches.
	p.create(p.as(p.alex), mapping.Mapping{Title: "c", SubjectID: 40})
	if got := p.leads(p.as(p.alex), "a"); got != 1 {
		t.Errorf("in the scope of alex a leads to %d", got)
	}
	if got := p.leads(mapping.For(t.Context(), p.mira), "a"); got != 10 {
		t.Errorf("for mira a leads to %d", got)
	}
	if got := p.leads(mapping.For(p.as(p.alex), p.mira), "c"); got != 0 {
		t.Errorf("for mira c leads to %d", got)
	}
}

func TestAKeywordOfAPersonHoldsForThem(t *testing.T) {
	p := newPeople(t)
	for _, one := range []struct {
		ctx     context.Context
		keyword string
	}{{t.Context(), "trailer"}, {p.as(p.mira), "show"}, {p.as(p.alex), "show"}} {
		if _, err := p.Block(one.ctx, mapping.Blocked{Keyword: one.keyword, Kind: mapping.Contains, Source: mapping.ByPerson}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Block(p.as(p.mira), mapping.Blocked{Keyword: "show", Kind: mapping.Contains}); !errors.Is(err, mapping.ErrBlockedTaken) {
		t.Errorf("the same keyword twice: %v", err)
	}
	p.create(p.as(p.mira), mapping.Mapping{Title: "Trailer Park", SubjectID: 1})
	p.create(p.as(p.mira), mapping.Mapping{Title: "park.*trailer", Regex: true, SubjectID: 1})
	for name, c := range map[string]struct {
		person int64
		title  string
		want   bool
	}{
		"of nobody in particular": {0, "Show", false},
		"of the person":           {p.mira, "Show", true},
		"for all":                 {p.alex, "Trailer Park", true},
		"for all, of a title that the person has mapped": {p.mira, "Trailer Park", false},
		"for all, of what an expression fits":            {p.mira, "park trailer", true},
		"for all, of another title":                      {p.mira, "trailer", true},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := p.Rules(mapping.For(t.Context(), c.person))
			if err != nil {
				t.Fatal(err)
			}
			if _, got := rules.Blocks([]string{c.title}); got != c.want {
				t.Errorf("%q is stopped: %v", c.title, got)
			}
		})
	}
}

func TestNobodyReachesTheRulesOfAnother(t *testing.T) {
	p := newPeople(t)
	all := p.create(t.Context(), mapping.Mapping{Title: "for all", SubjectID: 1})
	alexs := p.create(p.as(p.alex), mapping.Mapping{Title: "of alex", SubjectID: 2})
	blocked, err := p.Block(p.as(p.alex), mapping.Blocked{Keyword: "of alex", Kind: mapping.Exact})
	if err != nil {
		t.Fatal(err)
	}
	for name, ctx := range map[string]context.Context{"another": p.as(p.mira), "nobody": scope.In(t.Context(), scope.Scope{})} {
		t.Run(name, func(t *testing.T) {
			for _, id := range []int64{all.ID, alexs.ID, 4711} {
				_, getErr := p.Get(ctx, id)
				_, updateErr := p.Update(ctx, mapping.Mapping{ID: id, Title: "of alex", SubjectID: 3})
				for what, err := range map[string]error{"get": getErr, "update": updateErr, "delete": p.Delete(ctx, id)} {
					if !errors.Is(err, mapping.ErrNotFound) {
						t.Errorf("%s %d: %v", what, id, err)
					}
				}
			}
			_, getErr := p.GetBlocked(ctx, blocked.ID)
			_, updateErr := p.UpdateBlocked(ctx, mapping.Blocked{ID: blocked.ID, Keyword: "x", Kind: mapping.Exact})
			for what, err := range map[string]error{"get": getErr, "update": updateErr, "unblock": p.Unblock(ctx, blocked.ID)} {
				if !errors.Is(err, mapping.ErrNotFound) {
					t.Errorf("%s the keyword: %v", what, err)
				}
			}
			list, _, err := p.List(ctx, mapping.Filter{})
			keywords, _, blockedErr := p.ListBlocked(ctx, mapping.Filter{})
			own, ownErr := p.Own(ctx)
			counts, countErr := p.Count(ctx)
			if err := errors.Join(err, blockedErr, countErr, ownErr); err != nil || len(list) > 0 || len(keywords) > 0 || counts.Mappings > 0 || counts.Blocked > 0 || len(own.Mappings) > 0 {
				t.Errorf("%v %v %v %+v (%v)", list, keywords, own, counts, err)
			}
		})
	}
	if _, err := p.Create(scope.In(t.Context(), scope.Scope{}), mapping.Mapping{Title: "x", SubjectID: 1}); !errors.Is(err, mapping.ErrNotFound) {
		t.Errorf("nobody adds a mapping: %v", err)
	}
	if _, err := p.Import(p.as(p.mira), mapping.Set{Mappings: []mapping.Mapping{{Title: "of alex", SubjectID: 9, PersonID: p.alex}}, Blocked: []mapping.Blocked{{Keyword: "of alex", Kind: mapping.Exact, PersonID: p.alex}}}); err != nil {
		t.Fatal(err)
	}
	if now, err := p.Get(t.Context(), alexs.ID); err != nil || now.SubjectID != 2 {
		t.Errorf("after the import of mira alex has %+v (%v)", now, err)
	}
	if own, err := p.Own(p.as(p.mira)); err != nil || len(own.Mappings) != 1 || own.Mappings[0].PersonID != p.mira || len(own.Blocked) != 1 {
		t.Errorf("mira has %+v (%v)", own, err)
	}
	if own, err := p.Own(t.Context()); err != nil || len(own.Mappings) != 1 || own.Mappings[0].ID != all.ID {
		t.Errorf("for all there are %+v (%v)", own, err)
	}
}

func TestARuleIsShared(t *testing.T) {
	p := newPeople(t)
	mine := p.create(p.as(p.mira), mapping.Mapping{Title: "a", SubjectID: 10})
	if shared, err := p.Share(t.Context(), mine.ID); err != nil || shared.PersonID != 0 {
		t.Fatalf("%+v (%v)", shared, err)
	}
	if got := p.leads(mapping.For(t.Context(), p.alex), "a"); got != 10 {
		t.Errorf("for alex it leads to %d", got)
	}
	other := p.create(p.as(p.alex), mapping.Mapping{Title: "A", SubjectID: 20})
	if _, err := p.Share(t.Context(), other.ID); !errors.Is(err, mapping.ErrShared) {
		t.Errorf("beside one for all: %v", err)
	}
	if got := p.leads(mapping.For(t.Context(), p.alex), "a"); got != 20 {
		t.Errorf("for alex it leads to %d", got)
	}
	if _, err := p.Share(t.Context(), 4711); !errors.Is(err, mapping.ErrNotFound) {
		t.Errorf("what is not there: %v", err)
	}
}

// What a person may keep is bounded by itself: nobody takes the room of others.
func TestAPersonKeepsSoMany(t *testing.T) {
	p := newPeople(t)
	var set mapping.Set
	for i := range mapping.MaxOwnMappings {
		set.Mappings = append(set.Mappings, mapping.Mapping{Title: fmt.Sprint(i), SubjectID: 1})
	}
	if _, err := p.Import(p.as(p.mira), set); err != nil {
		t.Fatal(err)
	}
	one := mapping.Mapping{Title: "one more", SubjectID: 1}
	if _, err := p.Create(p.as(p.mira), one); !errors.Is(err, mapping.ErrFull) {
		t.Errorf("one more: %v", err)
	}
	if _, err := p.PlanImport(p.as(p.mira), mapping.Set{Mappings: []mapping.Mapping{one}}); !errors.Is(err, mapping.ErrFull) {
		t.Errorf("the preview of one more: %v", err)
	}
	p.create(p.as(p.alex), one)
	p.create(t.Context(), one)
}

// Who is removed takes their rules along.
func TestTheRulesOfWhoIsRemoved(t *testing.T) {
	p := newPeople(t)
	p.create(p.as(p.alex), mapping.Mapping{Title: "a", SubjectID: 10})
	if got := p.leads(mapping.For(t.Context(), p.alex), "a"); got != 10 {
		t.Fatalf("it leads to %d", got)
	}
	err := p.Change(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM people WHERE id = ?`, p.alex)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.leads(mapping.For(t.Context(), p.alex), "a"); got != 0 {
		t.Errorf("it leads to %d", got)
	}
}
