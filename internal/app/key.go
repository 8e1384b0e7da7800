package app

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/secret"
)

// keyFact is the id of the key that seals what a database on a server holds.
const keyFact = "key_id"

// errNoKey is returned for a database on a server without a key: each replica would make its own.
var errNoKey = errors.New("a database on a server needs a key that all replicas have: give each of them the same in " + secret.KeyEnv +
	" (openssl rand -hex 32 makes one), or copy secret.key into each data folder")

// openBox opens the key of a data folder. It is made where nothing is sealed yet, and never for a database on a server, which several replicas share.
func openBox(ctx context.Context, d *db.DB, o Options) (*secret.Box, error) {
	inUse, err := holdsSecrets(ctx, d)
	if err != nil {
		return nil, err
	}
	box, err := secret.OpenBox(o.DataDir, givenKey(o), inUse || !d.Alone())
	if errors.Is(err, secret.ErrNoKey) && !d.Alone() {
		return nil, errNoKey
	}
	if err != nil || d.Alone() {
		return box, err
	}
	return box, sameKey(ctx, d, box)
}

// sameKey returns an error when a database on a server belongs to another key. The first one that comes is kept.
func sameKey(ctx context.Context, d *db.DB, box *secret.Box) error {
	is, err := d.Fact(ctx, keyFact)
	if err == nil && is == "" {
		err = d.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			if is, err = db.Fact(ctx, tx, keyFact); err != nil || is != "" {
				return err
			}
			is = box.KeyID()
			return db.SetFact(ctx, tx, keyFact, is)
		})
	}
	if err != nil || is == box.KeyID() {
		return err
	}
	return fmt.Errorf("the key of this replica (%s) is not the one of its database (%s): put the key of the other replicas into %s, or a copy of their secret.key into the data folder. "+
		"If that key is lost for good, remove the row %s from the table facts, start, and enter all passwords, tokens and keys anew", box.KeyID(), is, secret.KeyEnv, keyFact)
}

// sealedIn are the columns of what is sealed for longer than a sign-in takes, and what stands before it there.
var sealedIn = []struct{ table, column, before string }{
	{"settings", "value", `"`}, {"accounts", "access_token", ""}, {"accounts", "refresh_token", ""}, {"notification_channels", "config", ""},
	{"tracker_users", "credential", ""}, {"media_logins", "credentials", ""}, {"second_factors", "secret", ""},
	{"calendar_addresses", "sealed", ""},
}

// opens returns an error when the key of box has sealed nothing of what is sealed in a database. Old values beside its own are those of a key that was
// lost. Who moves a database has to ask: the server takes the key for that of its data, and refuses the right one from then on.
func opens(ctx context.Context, d *db.DB, box *secret.Box) error {
	other := false
	for _, in := range sealedIn {
		var all, own int64
		query := `SELECT COUNT(*), COALESCE(SUM(CASE WHEN ` + in.column + ` LIKE ? THEN 1 ELSE 0 END), 0) FROM ` + in.table + ` WHERE ` + in.column + ` LIKE ?`
		if err := d.Read().QueryRowContext(ctx, query, in.before+box.Prefix()+"%", in.before+secret.Prefix+"%").Scan(&all, &own); err != nil {
			return fmt.Errorf("look at what is sealed: %w", err)
		}
		if own > 0 {
			return nil
		}
		other = other || all > 0
	}
	if !other {
		return nil
	}
	return fmt.Errorf("the key %s opens nothing that is encrypted in this database: put the secret.key that belongs to it into the data folder, and see that %s is not set to another one", box.KeyID(), secret.KeyEnv)
}

// givenKey is the key that the environment of o gives; empty where the data folder has it.
func givenKey(o Options) string {
	for _, entry := range o.Environ {
		if value, found := strings.CutPrefix(entry, secret.KeyEnv+"="); found {
			return value
		}
	}
	return ""
}
