package engine

import (
	"context"
	"database/sql"

	"watchmark/internal/catalog/account"
	"watchmark/internal/record"
	"watchmark/internal/tell/notify"
)

// IgnoreUser leaves alone what a media-server user watches whom no account names: what failed for that is ignored now,
// and its notice closed. It returns an *reason.FieldError.
func (e *Engine) IgnoreUser(ctx context.Context, user string) error {
	return e.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := account.IgnoreTx(ctx, tx, user); err != nil {
			return err
		}
		if err := record.IgnoreUserTx(ctx, tx, user, userIgnored.With(user)); err != nil {
			return err
		}
		return e.Notices.AddTx(ctx, tx, notify.Notice{Kind: notify.NoAccount, About: user, Over: true})
	})
}

// HeedUser takes back IgnoreUser: what came before and meanwhile failed for want of an account, and can be retried. It
// returns account.ErrNotFound for a user that is not ignored.
func (e *Engine) HeedUser(ctx context.Context, user string) error {
	return e.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := account.HeedTx(ctx, tx, user); err != nil {
			return err
		}
		return record.HeedUserTx(ctx, tx, user, noAccount.With(user))
	})
}
