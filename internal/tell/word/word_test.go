package word_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/db"
	"watchmark/internal/platform/secret"
	"watchmark/internal/record"
	"watchmark/internal/tell/word"
	"watchmark/internal/testkit/dbtest"
)

func TestAnAccountIsAskedSoOftenInADay(t *testing.T) {
	d := dbtest.Open(t)
	a := mira(t, d)
	w := record.Work{Record: record.Record{CreatedAt: time.Now()}}
	asked := 0
	for n := range 20 {
		if ask(t, d, w, a, catalog.SubjectID(100+n)) {
			asked++
		}
	}
	if asked != 5 {
		t.Errorf("asked %d times", asked)
	}
	if err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE asked_words SET asked_at = ?`, time.Now().Add(-25*time.Hour).UnixMilli())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if !ask(t, d, w, a, 300) || ask(t, d, w, a, 100) {
		t.Error("the next day asks of what is new, and of nothing twice")
	}
	if ask(t, d, w, account.Account{ID: 99}, 100) {
		t.Error("an account that is gone is asked")
	}
}

func mira(t *testing.T, d *db.DB) account.Account {
	t.Helper()
	box, err := secret.OpenBox(t.TempDir(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	a, err := account.NewStore(d, box).Create(t.Context(), account.Draft{Username: "mira", Method: account.ByToken, Enabled: true, Tokens: account.Tokens{Access: "by-hand"}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func ask(t *testing.T, d *db.DB, w record.Work, a account.Account, subject catalog.SubjectID) (asked bool) {
	t.Helper()
	if err := d.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		notices, err := word.AskTx(ctx, tx, w, a, subject, "")
		asked = len(notices) == 1
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return asked
}
