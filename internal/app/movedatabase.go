package app

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/replica"
	"watchmark/internal/platform/secret"
	"watchmark/internal/upkeep/movedb"
)

// movedSuffix is added to the name of a database file whose content was moved to a server.
const movedSuffix = ".moved"

// Move says which database is moved where: from the data folder to the one at To, or back from the one at From.
type Move struct {
	To, From string
	// Tell is told how far it is.
	Tell func(movedb.Progress)
}

// Moved is what a move did, or would do.
type Moved struct {
	Lines []movedb.Line
	// Aside is the file that the old database is kept as; empty where that is on a server.
	Aside string
}

// MoveDatabase moves the database of a data folder, which no service may use, to a server or back. What is moved stays where it was, but is not
// used any more. When it is interrupted, it is called again. It returns db.ErrLocked while a service runs on the folder.
func MoveDatabase(ctx context.Context, o Options, m Move) (moved Moved, err error) {
	unlock, err := db.Lock(o.DataDir)
	if err != nil {
		return moved, err
	}
	defer func() {
		if errors.Is(err, db.ErrStorage) {
			err = fmt.Errorf("%w; then run this command again: it goes on where it was", err)
		}
		err = errors.Join(err, unlock())
	}()
	if m.From != "" {
		return moveFromServer(ctx, o, m)
	}
	if path := filepath.Join(o.DataDir, db.FileName); missing(path) {
		return endMove(ctx, path, m)
	}
	return moveToServer(ctx, o, m)
}

// LookAtMove shows what MoveDatabase would move, and changes nothing. A service may run meanwhile.
func LookAtMove(ctx context.Context, o Options, m Move) (moved Moved, err error) {
	if m.From == "" {
		aside, remove, err := Aside(ctx, o)
		if err != nil {
			return moved, err
		}
		defer func() { _ = remove() }() // it is in the folder for temporary files
		o = aside
	}
	d, err := sourceOf(ctx, o, m)
	if err != nil {
		return moved, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if m.To != "" {
		if err := targetIsUsable(ctx, m.To); err != nil {
			return moved, err
		}
	}
	moved.Lines, err = movedb.Look(ctx, d, m.Tell)
	return moved, err
}

// ourSchema returns an error unless a database that is looked at has the schema of this program.
func ourSchema(d *db.DB) error {
	newest, err := db.NewestSchema()
	if has := d.SchemaVersion(); err == nil && has != newest {
		err = fmt.Errorf("the database on the server has schema version %d, and this program %d: use the version of the program that ran on it last", has, newest)
	}
	return err
}

// targetIsUsable returns an error for a database on a server that cannot be moved to, or that opening it would change.
func targetIsUsable(ctx context.Context, address string) (err error) {
	to, err := db.LookAtServer(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if to.SchemaVersion() == 0 {
		return nil
	}
	other := ourSchema(to)
	if other == nil {
		return movedb.Usable(ctx, to)
	}
	if newest, err := db.NewestSchema(); err != nil || to.SchemaVersion() > newest {
		return errors.Join(other, err)
	}
	// A move that was interrupted while it made the tables left a part of them.
	switch err := movedb.Unused(ctx, to); {
	case errors.Is(err, movedb.ErrInUse):
		return other
	default:
		return err
	}
}

// sourceOf opens what is moved.
func sourceOf(ctx context.Context, o Options, m Move) (*db.DB, error) {
	if m.From == "" {
		box, err := secret.OpenBox(o.DataDir, givenKey(o), true)
		if err != nil {
			return nil, err
		}
		d, err := db.Open(ctx, o.DataDir)
		if err != nil {
			return nil, err
		}
		if err := opens(ctx, d, box); err != nil {
			return nil, errors.Join(err, d.Close())
		}
		return d, nil
	}
	is, err := db.LookAtServer(ctx, m.From)
	if err != nil {
		return nil, err
	}
	if is.SchemaVersion() == 0 {
		err = errors.New("there is nothing of watchmark in this database: look at its address")
	} else {
		err = ourSchema(is)
	}
	if err := errors.Join(err, is.Close()); err != nil {
		return nil, err
	}
	return db.OpenServer(ctx, m.From)
}

func moveToServer(ctx context.Context, o Options, m Move) (moved Moved, err error) {
	box, err := secret.OpenBox(o.DataDir, givenKey(o), true)
	if err != nil {
		return moved, err
	}
	if err := targetIsUsable(ctx, m.To); err != nil {
		return moved, err
	}
	from, err := sourceOf(ctx, o, m)
	if err != nil {
		return moved, err
	}
	to, err := db.OpenServer(ctx, m.To)
	if err != nil {
		return moved, errors.Join(err, from.Close())
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	moved.Lines, err = movedb.Fill(ctx, from, to, map[string]string{keyFact: box.KeyID()}, m.Tell)
	if err == nil {
		err = movedb.Retire(ctx, from, moved.Lines, "", m.Tell)
	}
	if err = errors.Join(err, from.Close()); err != nil {
		return moved, err
	}
	if moved.Aside, err = putAway(ctx, filepath.Join(o.DataDir, db.FileName)); err != nil {
		return moved, err
	}
	return moved, movedb.Release(ctx, to, everyoneIsGone)
}

// endMove ends a move to a server that was interrupted after the file at path had got its new name.
func endMove(ctx context.Context, path string, m Move) (moved Moved, err error) {
	moved.Aside = path + movedSuffix
	if missing(moved.Aside) {
		return moved, fmt.Errorf("there is no database %s: name the data folder of the service with --data or WATCHMARK_DATA", path)
	}
	to, err := db.OpenServer(ctx, m.To)
	if err != nil {
		return moved, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	switch full, err := movedb.IsFull(ctx, to); {
	case err != nil:
		return moved, err
	case !full:
		return moved, fmt.Errorf("the database of this folder was moved already, and is kept as %s", moved.Aside)
	}
	if moved.Lines, err = movedb.Look(ctx, to, m.Tell); err != nil {
		return moved, err
	}
	return moved, movedb.Release(ctx, to, everyoneIsGone)
}

func moveFromServer(ctx context.Context, o Options, m Move) (moved Moved, err error) {
	from, err := sourceOf(ctx, o, m)
	if err != nil {
		return moved, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	all, err := replica.List(ctx, from)
	if err != nil {
		return moved, err
	}
	for _, r := range all {
		if r.Heard {
			return moved, fmt.Errorf("the service runs on this database (%s): stop it everywhere, and wait %d seconds after one that was killed", r.Name, int(replica.Life.Seconds()))
		}
	}
	box, err := secret.OpenBox(o.DataDir, givenKey(o), true)
	if err == nil {
		err = sameKey(ctx, from, box)
	}
	if err != nil {
		return moved, err
	}
	to, err := db.Open(ctx, o.DataDir)
	if err != nil {
		return moved, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if moved.Lines, err = movedb.Fill(ctx, from, to, nil, m.Tell); err != nil {
		return moved, err
	}
	folder, err := filepath.Abs(o.DataDir)
	if err != nil {
		return moved, err
	}
	host, _ := os.Hostname() // it only says more about the folder
	if err := movedb.Retire(ctx, from, moved.Lines, fmt.Sprintf("the data folder %s of %s", folder, host), m.Tell); err != nil {
		return moved, err
	}
	return moved, movedb.Release(ctx, to, everyoneIsGone)
}

// putAway gives a database file that nobody uses any more another name, and answers it.
func putAway(ctx context.Context, path string) (string, error) {
	if err := db.Fold(ctx, path); err != nil {
		return "", err
	}
	aside := path + movedSuffix
	if !missing(aside) { // of an earlier move
		n := 1
		for !missing(fmt.Sprintf("%s-%d", aside, n)) {
			n++
		}
		if err := os.Rename(aside, fmt.Sprintf("%s-%d", aside, n)); err != nil {
			return "", fmt.Errorf("put the database of an earlier move away: %w", err)
		}
	}
	if err := os.Rename(path, aside); err != nil {
		return "", fmt.Errorf("put the old database away: %w", err)
	}
	return aside, nil
}

// everyoneIsGone gives back what replicas had in hand, none of which knows of the database that this one was copied to.
func everyoneIsGone(ctx context.Context, tx *sql.Tx) error {
	dead, err := replica.ForgetAll(ctx, tx)
	if err != nil {
		return err
	}
	dead = append(dead, 0) // whoever was before there were incarnations
	for _, give := range free {
		if err := give(ctx, tx, dead); err != nil {
			return err
		}
	}
	return nil
}
