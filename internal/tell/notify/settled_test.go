package notify_test

import (
	"context"
	"database/sql"
	"testing"

	"watchmark/internal/tell/notify"
	"watchmark/internal/testkit/dbtest"
)

// settledBy says what ends the matter of each kind that has one.
var settledBy = map[notify.Kind]string{
	notify.NoAccount:          "an enabled account names the user, the user is ignored, or a record of theirs finds an account",
	notify.NotMatched:         "a record of the season comes out otherwise or waits for its mark alone, or the account is removed",
	notify.ReviewWaiting:      "a record of the season comes out otherwise or waits for its mark alone, the question is put off, or the account is removed",
	notify.EpisodeNotFound:    "a record of the episode comes out otherwise, or the account is removed",
	notify.MarkFailed:         "a record of the episode comes out otherwise, or is taken out of the queue, or the account is removed",
	notify.Abandoned:          "a record of the episode comes out otherwise, or the account is removed",
	notify.WordAsked:          "the entry is rated, the question is closed, the mark is taken back, or the account is removed",
	notify.TokenExpiring:      "the token is renewed, or the account disabled or removed",
	notify.TokenDead:          "the token is accepted, the account switched off or removed, Trakt switched off, or the sign-in there removed",
	notify.CatalogUnreachable: "Bangumi answers",
	notify.ArchiveFailed:      "an import comes to its end, or the offline data are switched off",
	notify.SourceSilent:       "the source is heard of",
	notify.TrackerSyncFailed:  "the history is read, Trakt switched off, or the sign-in there removed",
	notify.ServerSignedOut:    "the sign-in works, or is disabled or removed",
	notify.ServerUnreachable:  "the server answers, or the sign-in is disabled or removed",
	notify.ServerRefused:      "the server takes the user, or the sign-in is disabled or removed",
	notify.ServerAsks:         "the plays are answered, or the sign-in is disabled or removed",
	notify.ImportFailed:       "an import comes to its end",
	notify.JobFailed:          "the job comes to its end, is switched off, or a summary is deleted or renamed",
	notify.ListShrunk:         "a later snapshot has more than half of what was there before, or the account is removed",
	notify.UnwatchedAsks:      "all of the account is answered or taken back, or the account is removed",
	notify.LoginLocked:        "the lock ends",
	notify.CertificateEnding:  "the certificate is renewed",
}

// Every matter that comes up twice is one notice, and settled is closed, though the account was renamed in between, and by whichever
// version it was told.
func TestEveryMatterIsOneNoticeUntilItIsSettled(t *testing.T) {
	r := newRig(t, dbtest.Folder(t))
	for _, kind := range notify.Kinds() {
		how, has := settledBy[kind.Kind]
		if matter := kind.HasMatter(); matter != has {
			t.Errorf("%s has a matter: %t; what settles it: %q", kind.Kind, matter, how)
		}
		if !has {
			continue
		}
		t.Run(string(kind.Kind), func(t *testing.T) {
			n := notify.Notice{Kind: kind.Kind, User: "mira", AccountID: 7, Account: "mira", About: "x"}
			open := func() (ids []int64, times int) {
				t.Helper()
				entries, _, err := r.List(t.Context(), notify.Filter{Kinds: []notify.Kind{kind.Kind}, Open: true})
				must(t, err)
				for _, e := range entries {
					ids, times = append(ids, e.ID), e.Times
				}
				return ids, times
			}
			over := func(name string) {
				t.Helper()
				settled := n
				settled.Over, settled.Account = true, name
				r.Add(t.Context(), settled)
				if ids, _ := open(); len(ids) != 0 {
					t.Errorf("settled as of %q, %v are open", name, ids)
				}
			}
			r.Add(t.Context(), n)
			n.Account = "mira of today"
			r.Add(t.Context(), n)
			if ids, times := open(); len(ids) != 1 || times != 2 {
				t.Errorf("raised twice %v are open, %d times", ids, times)
			}
			over("another name")
			r.Add(t.Context(), n)
			must(t, r.DB.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
				if err := r.ReopenTx(ctx, tx, n); err != nil { // one is open
					return err
				}
				_, err := tx.ExecContext(ctx, `UPDATE notices SET matter = ? WHERE kind = ? AND over_at = 0 AND replaced = 0`, notify.MatterOfBefore(n), kind.Kind)
				return err
			}))
			over(n.Account)
			must(t, r.DB.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, `UPDATE notices SET matter = ? WHERE kind = ? AND replaced = 0`, notify.MatterOf(n), kind.Kind)
				if err != nil {
					return err
				}
				return r.ReopenTx(ctx, tx, n)
			}))
			if ids, _ := open(); len(ids) != 1 {
				t.Errorf("opened anew, %v are open", ids)
			}
		})
	}
}
