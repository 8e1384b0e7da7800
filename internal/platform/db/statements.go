package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"modernc.org/sqlite"
)

const (
	// keptStatements is how many prepared statements a connection keeps; further ones are
	// prepared at each call.
	keptStatements = 200
	// longestKept is the longest statement that is kept, in bytes: migrations are longer.
	longestKept = 8000
)

// connector opens connections of the SQLite driver that prepare each statement once.
// The driver itself parses the text at every call, which costs more than most calls.
type connector struct {
	sqlite *sqlite.Driver
	dsn    string
}

func (c connector) Driver() driver.Driver { return c.sqlite }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	opened, err := c.sqlite.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	inner, whole := opened.(innerConn)
	if !whole {
		return nil, errors.Join(errors.New("the SQLite driver lacks what this program needs of it"), opened.Close())
	}
	return &conn{innerConn: inner, explain: explained, idle: map[string]statement{}}, nil
}

// innerConn is what the driver's connections can do.
type innerConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// conn is a connection with its statements. database/sql lets one goroutine at a time
// use it.
type conn struct {
	innerConn
	explain func(error) error    // adds to an error of SQLite what to do about it
	idle    map[string]statement // prepared, and not in use
}

// take gives the statement of a text, prepared; it must be put back or closed.
func (c *conn) take(ctx context.Context, text string) (statement, error) {
	if s, kept := c.idle[text]; kept {
		delete(c.idle, text)
		return s, nil
	}
	prepared, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, c.explain(err)
	}
	s, whole := prepared.(statement)
	if !whole {
		return nil, errors.Join(errors.New("the SQLite driver's statements take no context"), prepared.Close())
	}
	return s, nil
}

// put keeps a statement for the next time.
func (c *conn) put(text string, s statement) error {
	if _, twice := c.idle[text]; twice || len(c.idle) >= keptStatements || len(text) > longestKept {
		return s.Close()
	}
	c.idle[text] = s
	return nil
}

func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	clean(args)
	s, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	result, err := s.ExecContext(ctx, args)
	if err != nil {
		return nil, errors.Join(c.explain(err), s.Close())
	}
	return result, c.put(text, s)
}

func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	clean(args)
	s, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	found, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, errors.Join(c.explain(err), s.Close())
	}
	return &rows{Rows: found, conn: c, text: text, statement: s}, nil
}

// Close closes the connection with its statements.
func (c *conn) Close() error {
	var errs []error
	for text, s := range c.idle {
		if err := s.Close(); err != nil {
			errs = append(errs, fmt.Errorf("close %q: %w", text, err))
		}
	}
	clear(c.idle)
	return errors.Join(append(errs, c.innerConn.Close())...)
}

// rows gives its statement back when it is closed.
type rows struct {
	driver.Rows
	conn      *conn
	text      string
	statement statement
}

func (r *rows) Next(dest []driver.Value) error { return r.conn.explain(r.Rows.Next(dest)) }

func (r *rows) Close() error {
	if err := r.Rows.Close(); err != nil {
		return errors.Join(err, r.statement.Close())
	}
	return r.conn.put(r.text, r.statement)
}
