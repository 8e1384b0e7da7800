package record_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"watchmark/internal/platform/db"
	"watchmark/internal/record"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/watch"
)

// watched stores n events of a user, which came by a task unless it is 0.
func watched(t *testing.T, d *db.DB, user string, n int, task int) (ids []int64) {
	t.Helper()
	var events []watch.Event
	for i := range n {
		e := episode(fmt.Sprintf("%s %d", user, i), 1, 1)
		e.UserName = user
		events = append(events, e)
	}
	ids = insert(t, d, events...)
	err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE records SET task_id = ? WHERE id >= ?`, task, ids[0])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// claim claims, and answers of whom the records are: of those that go first, and of the others.
func claim(t *testing.T, s *record.Store, room record.Room) (first, others map[string]int, all bool) {
	t.Helper()
	works, all, err := s.Claim(t.Context(), me, room)
	if err != nil {
		t.Fatal(err)
	}
	first, others = map[string]int{}, map[string]int{}
	for _, w := range works {
		if w.Background {
			others[w.UserName]++
		} else {
			first[w.UserName]++
		}
	}
	return first, others, all
}

func wantOf(t *testing.T, what string, got map[string]int, want string) {
	t.Helper()
	var parts []string
	for user, n := range got {
		parts = append(parts, fmt.Sprintf("%s %d", user, n))
	}
	slices.Sort(parts)
	if strings.Join(parts, ", ") != want {
		t.Errorf("%s: claimed %v, want %s", what, parts, want)
	}
}

func TestClaimsGoInTurnsOfThoseWhoWatched(t *testing.T) {
	s, d := newStore(t)
	watched(t, d, "alex", 100, 3)
	watched(t, d, "bench", 3, 4)
	watched(t, d, "mira", 2, 0)
	each := func(string) int { return 16 }
	first, others, all := claim(t, s, record.Room{Of: each, Background: 5})
	wantOf(t, "what was just watched", first, "mira 2")
	wantOf(t, "the background, half each", others, "alex 3, bench 2")
	if all {
		t.Error("nothing more is said to wait")
	}
	watched(t, d, "mira", 1, 5)
	_, others, _ = claim(t, s, record.Room{Of: each, Background: 3})
	wantOf(t, "whose turn it is then", others, "alex 1, bench 1, mira 1")
	_, others, all = claim(t, s, record.Room{Of: each, Background: 200})
	wantOf(t, "the rest", others, "alex 96")
	if !all {
		t.Error("more is said to wait")
	}
	if _, others, all = claim(t, s, record.Room{Of: each, Background: 5}); len(others) > 0 || !all {
		t.Errorf("claimed %v when nothing waits, %v", others, all)
	}
}

func TestWhoHasMuchAtOnceIsInTheBackground(t *testing.T) {
	s, d := newStore(t)
	watched(t, d, "alex", 50, 0)
	watched(t, d, "mira", 1, 0)
	first, others, all := claim(t, s, record.Room{Of: func(string) int { return 16 }, Background: 4})
	wantOf(t, "what goes first", first, "alex 16, mira 1")
	wantOf(t, "what is too much", others, "alex 4")
	first, others, _ = claim(t, s, record.Room{Of: func(string) int { return 0 }, Background: 0})
	if all || len(first)+len(others) > 0 {
		t.Errorf("claimed %v and %v without room", first, others)
	}
}

// So does what comes in between the two questions of a claim.
func TestWhatIsTakenBesideTheTurnsComesFirstToo(t *testing.T) {
	s, d := newStore(t)
	watched(t, d, "alex", 50, 0)
	watched(t, d, "mira", 50, 0) // together more than the turns of one claim
	first, others, _ := claim(t, s, record.Room{Of: func(string) int { return 40 }, Background: 50})
	wantOf(t, "what goes first", first, "alex 40, mira 40")
	wantOf(t, "what is too much", others, "alex 10, mira 10")
}

// Otherwise later episodes of its show would be marked before it.
func TestWhatADeadReplicaHadStillGoesFirst(t *testing.T) {
	s, d := newStore(t)
	ids := watched(t, d, "mira", 2, 0)
	claim(t, s, record.Room{Of: func(string) int { return 1 }})
	if err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error { return record.FreeTx(ctx, tx, []int64{me}) }); err != nil {
		t.Fatal(err)
	}
	watched(t, d, "mira", 1, 0)
	works, _, err := s.Claim(t.Context(), me, record.Room{Of: func(string) int { return 16 }, Background: 16})
	if err != nil || len(works) != 3 || works[0].ID != ids[0] || works[0].Background {
		t.Errorf("claimed %+v, %v; want %d first", works, err, ids[0])
	}
}

func TestEveryUserGetsATurn(t *testing.T) {
	s, d := newStore(t)
	for n := range 100 {
		watched(t, d, fmt.Sprintf("bench-%d", n), 2, 1)
	}
	seen := map[string]int{}
	for range 2 {
		_, others, _ := claim(t, s, record.Room{Background: 50})
		for user, n := range others {
			seen[user] += n
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d users of 100 had one of the first 100 turns: %v", len(seen), seen)
	}
}

// What waits is found by indexes that hold nothing else, however much has been watched.
func TestTurnsAreFoundByAnIndex(t *testing.T) {
	_, d := newStore(t)
	ids := watched(t, d, "mira", 2000, 0)
	explain := `EXPLAIN QUERY PLAN `
	if dbtest.OnServer() {
		explain = `EXPLAIN `
	}
	err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE records SET status = 'success' WHERE id <= ?`, ids[len(ids)-1]); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `ANALYZE`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	watched(t, d, "mira", 3, 0) // which the planner has not heard of, as always
	for index, query := range map[string]string{
		"records_turns":   `SELECT r.id FROM records r WHERE ` + record.Waits + ` AND r.user_name = 'mira' ORDER BY r.id LIMIT 5`,
		"records_fresh":   `SELECT user_name FROM records WHERE ` + record.Waits + record.Fresh + ` AND user_name > 'a' ORDER BY user_name LIMIT 1`,
		"records_in_work": `SELECT r.id FROM records r WHERE r.user_name = 'mira' AND ` + record.InWorkElsewhere,
	} {
		var args []any
		if index == "records_in_work" {
			args = []any{me}
		}
		var plan []string
		err := db.Each(t.Context(), d.Read(), "explain", func(row db.Row) error {
			line, unused := "", 0
			into := []any{&unused, &unused, &unused, &line}
			if dbtest.OnServer() {
				into = into[3:]
			}
			err := row.Scan(into...)
			plan = append(plan, line)
			return err
		}, explain+query, args...)
		if err != nil {
			t.Fatal(err)
		}
		if told := strings.Join(plan, "\n"); !strings.Contains(told, index) || strings.Contains(told, "records_status") {
			t.Errorf("%s is planned as\n%s", query, told)
		}
	}
}
