package engine_test

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/match/mapping"
	"watchmark/internal/platform/scope"
	"watchmark/internal/source/preview"
	"watchmark/internal/watch"
)

// person adds a person with an account, and answers their id.
func (h *house) person(t *testing.T, name string, users ...string) (id int64) {
	t.Helper()
	err := h.DB.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `INSERT INTO people (name, role, password_hash, created_at, updated_at) VALUES (?, 'person', '', 0, 0) RETURNING id`, name).Scan(&id)
	})
	if err != nil {
		t.Fatal(err)
	}
	a := h.account(t, name, true, users...)
	if _, err := h.accounts.Update(t.Context(), a.ID, account.Change{PersonID: &id}); err != nil {
		t.Fatal(err)
	}
	return id
}

// as is the context of a request of a person.
func as(t *testing.T, person int64) context.Context {
	t.Helper()
	return scope.In(t.Context(), scope.Of(person))
}

// leads maps a title, in the scope of ctx.
func (h *house) leads(t *testing.T, ctx context.Context, title string, m mapping.Mapping) mapping.Mapping {
	t.Helper()
	m.Title, m.Origin = title, mapping.ByPerson
	created, err := h.mappings.Create(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// through waits until all records are through, those for further accounts among them.
func (h *house) through(t *testing.T) {
	t.Helper()
	for id := int64(1); ; id++ {
		if _, err := h.records.Get(t.Context(), id); err != nil {
			return
		}
		h.settled(t, id)
	}
}

// What one user watches is marked on the lists of several people, on each by the rules of whom it belongs to.
func TestEachListIsMarkedByTheRulesOfItsPerson(t *testing.T) {
	h := newHouse(t)
	h.run(t)
	h.account(t, "bench", true, "tv")
	mira, alex := h.person(t, "mira", "tv", "mira"), h.person(t, "alex", "tv")
	h.leads(t, as(t, mira), "a", mapping.Mapping{SubjectID: 9})
	h.leads(t, as(t, alex), "a", mapping.Mapping{SubjectID: 7})
	h.seen(t, episode("a", "tv", 1))
	h.seen(t, episode("a", "mira", 2), episode("b", "tv", 1))
	h.through(t)
	h.wantMarks(t, "alex/7/701", "alex/8/801", "bench/8/801", "mira/8/801", "mira/9/901", "mira/9/902")
}

// What is told beforehand is what becomes of it: on each list by the rules of whom it belongs to, and once where lists are alike.
func TestAForecastGoesByTheRulesOfEachPerson(t *testing.T) {
	h := newHouse(t)
	h.account(t, "bench", true, "tv")
	mira, alex := h.person(t, "mira", "tv", "mira"), h.person(t, "alex", "tv")
	h.leads(t, as(t, mira), "a", mapping.Mapping{SubjectID: 9})
	h.leads(t, as(t, alex), "b", mapping.Mapping{SubjectID: 7})
	h.list.watched["mira/9/901"] = true
	type row struct {
		status   preview.Status
		subject  catalog.SubjectID
		accounts string
	}
	for _, c := range []struct {
		name string
		ctx  context.Context
		e    watch.Event
		want []row
	}{
		{"of several people", t.Context(), episode("a", "tv", 1), []row{{preview.Mark, 8, "bench alex"}, {preview.Marked, 9, "mira"}}},
		{"by another rule", t.Context(), episode("b", "tv", 1), []row{{preview.Mark, 8, "bench mira"}, {preview.Mark, 7, "alex"}}},
		{"all alike", t.Context(), episode("c", "tv", 1), []row{{preview.Mark, 8, ""}}},
		{"of one person", t.Context(), episode("a", "mira", 2), []row{{preview.Mark, 9, ""}}},
		{"asked by a person", as(t, alex), episode("b", "tv", 1), []row{{preview.Mark, 7, ""}}},
	} {
		verdicts, err := h.Forecast()(c.ctx, c.e)
		var got []row
		for _, v := range verdicts {
			got = append(got, row{v.Status, v.SubjectID, strings.Join(v.Accounts, " ")})
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}
