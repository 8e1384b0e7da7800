package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"watchmark/internal/platform/db"
	"watchmark/internal/platform/secret"
)

// checkWait is how long the start waits for the check of a database that was closed as it should be.
const checkWait = time.Second

// integrity is the check of the database that begins with the service.
type integrity struct {
	cancel context.CancelFunc
	ended  chan struct{}

	mu      sync.Mutex
	damaged error // what is wrong with it
}

// checkIntegrity begins to read the whole database, and returns db.ErrDamaged where that shows within wait, 0 for ever. What takes longer
// goes on beside the service, which tells of it.
func checkIntegrity(ctx context.Context, check func(context.Context) error, wait time.Duration, log *slog.Logger) (*integrity, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	i := &integrity{cancel: cancel, ended: make(chan struct{})}
	late := make(chan struct{})
	go func() {
		defer close(i.ended)
		began := time.Now()
		err := check(ctx)
		if ctx.Err() != nil {
			return
		}
		i.mu.Lock()
		i.damaged = err
		i.mu.Unlock()
		select {
		case <-late:
		default:
			return
		}
		if err != nil {
			log.ErrorContext(ctx, "the database does not stand its check", "error", err)
			return
		}
		log.InfoContext(ctx, "the database was checked: it is sound", "took", time.Since(began).Round(time.Millisecond))
	}()
	var enough <-chan time.Time
	if wait > 0 {
		enough = time.After(wait)
	}
	select {
	case <-i.ended:
		return i, i.problem()
	case <-enough:
		close(late)
		log.InfoContext(ctx, "the database is still being checked; the service starts meanwhile")
		return i, nil
	}
}

func (i *integrity) problem() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.damaged
}

// standing is how the check stands, for pages.
func (i *integrity) standing() (checking, damaged bool) {
	select {
	case <-i.ended:
		return false, i.problem() != nil
	default:
		return true, false
	}
}

// stop ends the check and waits for its end.
func (i *integrity) stop() {
	i.cancel()
	<-i.ended
}

// checkThere returns an error where a data folder has a key and no database, or where its database was moved: a new one would hide that.
func checkThere(ctx context.Context, dir string) error {
	if aside := filepath.Join(dir, db.FileName+movedSuffix); missing(filepath.Join(dir, db.FileName)) && !missing(aside) {
		return fmt.Errorf("the data of this folder was moved to a PostgreSQL database: name it with database.url in the settings file, or with WATCHMARK_DATABASE_URL. "+
			"To move it back, run watchmark move-database --from URL; to go on with what it was before, rename %s to %s", aside, db.FileName)
	}
	key := filepath.Join(dir, secret.KeyFile)
	if _, err := os.Stat(key); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	empty, err := db.Empty(ctx, dir)
	if err != nil || !empty {
		return err
	}
	path := filepath.Join(dir, db.FileName)
	return fmt.Errorf("%s is missing or empty, but %s beside it is not: this folder had a database. Put the file back, or restore a backup with watchmark restore FILE; "+
		"to start anew, move %s away", path, key, key)
}
