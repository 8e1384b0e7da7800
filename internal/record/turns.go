package record

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"watchmark/internal/platform/db"
)

// usersMost is how many users get a turn by one claim.
const usersMost = 64

// waits holds for a record that waits for work, in the words of the indexes that hold these alone.
const waits = `(status || '') = 'received'`

// fresh holds for a record that never came out in any way and is of no task: somebody has just watched it. One whose replica died goes on
// before later episodes of its show.
const fresh = ` AND message = '' AND task_id = 0`

// turns are those of users for whom records wait.
type turns struct {
	// after is who had the last turn.
	after string
	// users have the next ones, in this order.
	users []string
	// ids are the records that were taken.
	ids []int64
	// all: nothing more waits.
	all bool
}

// ask finds whose turn it is. It goes from one user to the next by an index, past whatever else waits for them.
func (t *turns) ask(ctx context.Context, tx *sql.Tx, condition string) error {
	next := func(from string) string {
		return `(SELECT user_name FROM records WHERE ` + waits + condition + ` AND user_name ` + from + ` ORDER BY user_name LIMIT 1)`
	}
	list := func(from, after string) ([]string, error) {
		return db.Values[string](ctx, tx, "list whose turn it is", `WITH RECURSIVE turns (name, n) AS (
			SELECT `+next(from)+`, 1 UNION ALL SELECT `+next(`> turns.name`)+`, n + 1 FROM turns WHERE turns.name IS NOT NULL AND n < CAST(? AS BIGINT))
			SELECT name FROM turns WHERE name IS NOT NULL ORDER BY name`, after, usersMost)
	}
	var err error
	if t.after != "" {
		if t.users, err = list("> ?", t.after); err != nil {
			return err
		}
	}
	if len(t.users) < usersMost {
		var rest []string
		if rest, err = list(">= ?", ""); err != nil {
			return err
		}
		if t.after != "" {
			rest = slices.DeleteFunc(rest, func(user string) bool { return user > t.after })
		}
		t.users = append(t.users, rest[:min(len(rest), usersMost-len(t.users))]...)
	}
	if len(t.users) == 0 {
		t.after = ""
	}
	return nil
}

// take finds up to most records, one of each user before a second one of any, but those of before; of bounds those of a user.
func (t *turns) take(ctx context.Context, tx *sql.Tx, owner int64, condition string, most int, before []int64, of func(user string) int) error {
	// One more than is taken of each shows whether more waits.
	each := most/max(1, len(t.users)) + 2
	var parts []string
	var args []any
	bounds := map[string]int{}
	for _, user := range t.users {
		bounds[user] = each
		if of != nil {
			bounds[user] = min(each, of(user))
		}
		if bounds[user] <= 0 || most <= 0 {
			continue
		}
		parts = append(parts, `SELECT * FROM (SELECT r.user_name, r.id FROM records r WHERE `+waits+condition+` AND r.user_name = ? AND `+notHeld+` AND NOT `+inWorkElsewhere+`
			ORDER BY r.id LIMIT CAST(? AS BIGINT)) AS of_one`)
		args = append(args, user, owner, bounds[user]+len(before))
	}
	waiting := map[string][]int64{}
	if len(parts) > 0 {
		err := db.Each(ctx, tx, "list what waits", func(row db.Row) error {
			var user string
			var id int64
			err := row.Scan(&user, &id)
			if !slices.Contains(before, id) {
				waiting[user] = append(waiting[user], id)
			}
			return err
		}, strings.Join(parts, ` UNION ALL `), args...)
		if err != nil {
			return err
		}
	}
	t.all = len(t.users) < usersMost && most > 0
	for user, ids := range waiting {
		slices.Sort(ids)
		t.all = t.all && len(ids) < bounds[user]
	}
	for more := true; more; {
		more = false
		for _, user := range t.users {
			if len(waiting[user]) > 0 && len(t.ids) < most {
				t.ids, t.after, more = append(t.ids, waiting[user][0]), user, true
				waiting[user] = waiting[user][1:]
			}
		}
	}
	for _, ids := range waiting {
		t.all = t.all && len(ids) == 0
	}
	return nil
}
