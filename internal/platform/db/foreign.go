package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What keeps a database of another program from being read; the text of SQLite follows.
var (
	// ErrForeignBusy says that another connection kept it locked for longer than a reader waits.
	ErrForeignBusy = errors.New("another program holds a lock on the database")
	// ErrForeignUnopened says that it cannot be opened where it lies; a copy may be.
	ErrForeignUnopened = errors.New("the database cannot be opened in place")
	// ErrForeignDamaged says that its pages do not fit together, which they may not because
	// it was changed meanwhile.
	ErrForeignDamaged = errors.New("the database is damaged")
)

// foreignConnector opens connections to a file of another program. Advice about the
// database of this service would be wrong there.
type foreignConnector struct{ connector }

func (c foreignConnector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.connector.Connect(ctx)
	if err != nil {
		return nil, explainedForeign(err)
	}
	if ours, is := opened.(*conn); is {
		ours.explain = explainedForeign
	}
	return opened, nil
}

// OpenForeign opens a database file of another program for reading, with one connection
// that is made at the first query (upstreams/nas.md, section 7). Nothing is ever written,
// neither to the file nor to a journal's index beside it.
//
// frozen is for a file that has no write-ahead log and that nobody writes: no lock is taken,
// and what a log holds would not be seen. Without it the file must have its log and the log's
// index beside it, as while the other program runs: commits are seen as they come, and
// a read transaction holds a lock that lets others write but not empty the log.
// Errors of the connection wrap ErrForeignBusy, ErrForeignUnopened or ErrForeignDamaged where one fits.
func OpenForeign(path string, frozen bool) *sql.DB {
	// readonly_shm has SQLite neither make nor change the index of the log, where it could.
	how := "mode=ro&readonly_shm=1"
	if frozen {
		how = "mode=ro&immutable=1"
	}
	return openForeign(path, how, "query_only(1)")
}

// OpenCopied opens the copy of a database of another program, which nobody else uses, with
// one connection. A journal that was copied along is played into it. Errors are as with OpenForeign.
func OpenCopied(path string) *sql.DB { return openForeign(path, "mode=rw", "temp_store(2)") }

func openForeign(path, how string, pragmas ...string) *sql.DB {
	q := url.Values{"_pragma": append([]string{"busy_timeout(3000)", "cache_size(-4096)"}, pragmas...)}
	address := "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + how + "&" + q.Encode()
	file := sql.OpenDB(foreignConnector{connector{sqliteDriver, address}})
	file.SetMaxOpenConns(1)
	return file
}

// explainedForeign says what an error of SQLite means for a reader of somebody else's file.
func explainedForeign(err error) error {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return err
	}
	switch failure.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w (%w)", ErrForeignBusy, failure)
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR:
		return fmt.Errorf("%w (%w)", ErrForeignUnopened, failure)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w (%w)", ErrForeignDamaged, failure)
	}
	return err
}
