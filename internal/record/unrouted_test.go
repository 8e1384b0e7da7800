package record_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/record"
)

// Who has an account now is no user without one, however the plays ended when there was none: those are failed records
// like others, to be seen and run again.
func TestAUserIsUnroutedUntilAnEnabledAccountNamesThem(t *testing.T) {
	store, d := newStore(t)
	ids := insert(t, d, episode("灯塔守望者", 1, 1), episode("灯塔守望者", 1, 2))
	for _, id := range ids {
		settle(t, d, record.Outcome{RecordID: id, Status: record.Failed, ErrorKind: record.NoAccount})
	}
	type standing struct{ Users, Listed, Failed, Unrouted int }
	for _, c := range []struct {
		name, change string
		want         standing
	}{
		{"no account", `SELECT 1`, standing{1, 0, 0, 1}},
		{"an account of nobody", `INSERT INTO accounts (id, username, auth_method, enabled, preferred, private, complete_series, complete_films, created_at, updated_at) VALUES (1, 'mira', 'token', 1, 1, 0, 0, 0, 0, 0)`, standing{1, 0, 0, 1}},
		{"an account of somebody else", `INSERT INTO account_media_users (account_id, name) VALUES (1, 'alex')`, standing{1, 0, 0, 1}},
		{"it names the user", `INSERT INTO account_media_users (account_id, name) VALUES (1, 'mira')`, standing{0, 2, 2, 0}},
		{"it is disabled", `UPDATE accounts SET enabled = 0`, standing{1, 0, 0, 1}},
	} {
		err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, c.change)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		users, _, err := store.Unrouted(t.Context(), 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		listed, _, err := store.List(t.Context(), record.Filter{Status: record.Failed, Routed: true})
		if err != nil {
			t.Fatal(err)
		}
		got := standing{Users: len(users), Listed: len(listed)}
		if got.Failed, err = store.FailedLately(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		if got.Unrouted, err = store.CountUnrouted(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
