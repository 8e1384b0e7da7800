package record_test

import (
	"context"
	"database/sql"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/record"
)

func TestWhatIsKnownOfAnEntry(t *testing.T) {
	s, d := newStore(t)
	ids := insert(t, d, episode("a", 1, 1), episode("b", 1, 1))
	if err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO accounts (username, auth_method, enabled, preferred, private, complete_series, complete_films, created_at, updated_at)
			VALUES ('mira', 'token', 1, 1, 0, 1, 1, 0, 0), ('alex', 'token', 1, 0, 0, 1, 1, 0, 0)`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	settle(t, d, record.Outcome{RecordID: ids[0], Status: record.Success, AccountID: 1, SubjectID: 8})
	settle(t, d, record.Outcome{RecordID: ids[1], Status: record.Failed, AccountID: 1, SubjectID: 9})
	for _, c := range []struct {
		name    string
		account int64
		subject int
		want    bool
	}{
		{"it came out there", 1, 8, true}, {"it failed there", 1, 9, false}, {"of another account", 2, 8, false},
	} {
		if known, err := s.Knows(t.Context(), c.account, catalog.SubjectID(c.subject)); err != nil || known != c.want {
			t.Errorf("%s: %v, %v", c.name, known, err)
		}
	}
}
