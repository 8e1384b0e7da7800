package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// dialTime is how long a connection may take to be made, and answerTime how long an answer may take: somewhat longer than the
	// server works on it. Then the network is cut.
	dialTime, answerTime = 5 * time.Second, 20 * time.Second
	// keptPlans is how many prepared statements a connection takes to its next use.
	keptPlans = 300
	commit    = "COMMIT"
	// mostWaiting is how many statements wait to be sent together.
	mostWaiting = 200
)

// idleTrusted is how long after its last use a connection is taken to be whole without a look.
var idleTrusted = time.Second

// prepared are the statements that the server is asked about before they are run: it tells the types of their arguments. Others
// have none.
var prepared = regexp.MustCompile(`(?i)^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b`)

// begins says how the transactions of a connection begin, and what it is for.
type begins struct {
	lock            string // the function that takes the advisory lock; empty for none
	reads, migrates bool
	snapshot        bool // it sees one state of the database
}

func (b begins) timeouts() map[string]string {
	if b.migrates {
		return migrateTimeouts
	}
	return timeouts
}

// serverConnector opens connections to a server.
type serverConnector struct {
	dial *dial
	kind begins
}

// Driver is not used: there is no name to open it by.
func (c serverConnector) Driver() driver.Driver { return nil }

// Connect opens a connection.
func (c serverConnector) Connect(ctx context.Context) (driver.Conn, error) {
	return c.dial.connect(ctx, c.kind)
}

func (d *dial) connect(ctx context.Context, kind begins) (*serverConn, error) {
	config := d.config.Copy()
	config.RuntimeParams = d.parameters(kind)
	conn, err := pgconn.ConnectConfig(ctx, config)
	var failure *pgconn.PgError
	if err != nil && errors.As(err, &failure) && failure.Code == protocolViolation && !d.pooled.Load() {
		d.pooled.Store(true) // "unsupported startup parameter"
		config.RuntimeParams = d.parameters(kind)
		conn, err = pgconn.ConnectConfig(ctx, config)
	}
	if err != nil && ctx.Err() == nil {
		return nil, &serverFailure{cause: err} // also a password or a right that was changed meanwhile: once that is mended, all goes on
	}
	if err != nil {
		return nil, failed(ctx, err)
	}
	return &serverConn{pg: conn, dial: d, kind: kind, used: time.Now(), plans: map[string]*plan{}}, nil
}

// serverConn is a connection. database/sql lets one goroutine at a time use it.
//
// Within a transaction a statement whose result nobody has asked for waits for the next one that answers, or for the commit,
// and goes in one message with it; so does what begins the transaction.
type serverConn struct {
	pg    *pgconn.PgConn
	dial  *dial
	kind  begins
	used  time.Time
	plans map[string]*plan

	within  bool   // a transaction is under way
	begun   bool   // and the server knows
	waiting []call // what was not sent of it
	broken  error  // why it cannot go on
}

// plan is a prepared statement.
type plan struct {
	*pgconn.StatementDescription
	text string // as the server takes it
}

// call is a statement to be sent.
type call struct {
	plan   *plan // nil for text, which has no arguments
	text   string
	args   [][]byte
	result *serverResult
	fence  bool
}

// serverResult is what a statement did. It is known once that was sent.
type serverResult struct {
	conn *serverConn
	rows int64
	sent bool
	err  error
}

// LastInsertId implements driver.Result: statements say RETURNING.
func (r *serverResult) LastInsertId() (int64, error) {
	return 0, errors.New("the id of an inserted row is asked by RETURNING")
}

// RowsAffected implements driver.Result.
func (r *serverResult) RowsAffected() (int64, error) {
	if !r.sent && r.err == nil {
		if _, err := r.conn.send(context.Background(), nil, false); err != nil {
			return 0, err
		}
	}
	return r.rows, r.err
}

// Prepare implements driver.Conn. Nobody prepares: each statement is, at its first use.
func (c *serverConn) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("statements are prepared at their first use")
}

// Ping implements driver.Pinger.
func (c *serverConn) Ping(ctx context.Context) error {
	c.expect(dialTime)
	c.dial.trips.Add(1)
	if err := c.pg.Ping(ctx); err != nil {
		return driver.ErrBadConn
	}
	return nil
}

// ResetSession implements driver.SessionResetter.
func (c *serverConn) ResetSession(ctx context.Context) error {
	if c.pg.IsClosed() {
		return driver.ErrBadConn
	}
	if len(c.plans) > keptPlans { // others are in use by now
		if _, err := c.send(ctx, &call{text: "DEALLOCATE ALL"}, false); err != nil {
			return driver.ErrBadConn
		}
		clear(c.plans)
	}
	if time.Since(c.used) < idleTrusted && c.used.UnixNano() > c.dial.suspect.Load() {
		return nil
	}
	return c.Ping(ctx)
}

// IsValid implements driver.Validator.
func (c *serverConn) IsValid() bool { return !c.pg.IsClosed() }

// Close implements driver.Conn.
func (c *serverConn) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.pg.Close(ctx) // the server notices
	return nil
}

// expect bounds the wait for the next answer. A migration may take its time.
func (c *serverConn) expect(within time.Duration) {
	var until time.Time
	c.used = time.Now()
	if !c.kind.migrates {
		until = c.used.Add(within)
	}
	_ = c.pg.Conn().SetDeadline(until)
}

// Begin implements driver.Conn.
func (c *serverConn) Begin() (driver.Tx, error) {
	c.within, c.begun, c.broken = true, false, nil
	c.waiting = c.waiting[:0]
	return c, nil
}

// beginning are the calls that begin a transaction.
func (c *serverConn) beginning(ctx context.Context) (calls []call, err error) {
	if c.kind.snapshot { // it reads in its own time, and holds nobody up
		return []call{{text: "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"}, {text: "SET LOCAL idle_in_transaction_session_timeout = 0"}}, nil
	}
	calls = append(calls, call{text: "BEGIN ISOLATION LEVEL READ COMMITTED"})
	if c.dial.pooled.Load() {
		for name, value := range c.kind.timeouts() {
			calls = append(calls, call{text: "SET LOCAL " + name + " = '" + value + "'"})
		}
	}
	if c.kind.lock == "" {
		return calls, nil
	}
	calls = append(calls, call{text: "SELECT " + c.kind.lock + "(" + strconv.FormatInt(c.dial.key, 10) + ")"})
	if incarnation := c.dial.fence.Load(); incarnation != 0 {
		fence, err := c.planOf(ctx, "SELECT 1 / COUNT(*) FROM replicas WHERE incarnation = $1 AND state = 'live'")
		if err != nil {
			return nil, err
		}
		calls = append(calls, call{plan: fence, args: [][]byte{[]byte(strconv.FormatInt(incarnation, 10))}, fence: true})
	}
	return calls, nil
}

// Commit implements driver.Tx.
func (c *serverConn) Commit() error {
	defer func() { c.within = false }()
	if c.broken == nil && (c.begun || len(c.waiting) > 0) {
		_, err := c.send(context.Background(), &call{text: commit}, false)
		if err == nil {
			return nil
		}
	}
	err := c.broken
	if back := c.Rollback(); err == nil {
		err = back
	}
	return err
}

// Rollback implements driver.Tx.
func (c *serverConn) Rollback() error {
	c.within = false
	for _, w := range c.waiting {
		w.result.fail(errRolledBack)
	}
	c.waiting = c.waiting[:0]
	if c.pg.IsClosed() || c.pg.TxStatus() == 'I' {
		return nil
	}
	_, err := c.send(context.Background(), &call{text: "ROLLBACK"}, false)
	return err
}

// ExecContext implements driver.ExecerContext.
func (c *serverConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	this, err := c.call(ctx, text, args)
	if err != nil {
		return nil, err
	}
	this.result = &serverResult{conn: c}
	if c.within && (this.plan != nil || c.kind.migrates) && len(c.waiting) < mostWaiting {
		c.waiting = append(c.waiting, this)
		return this.result, nil
	}
	_, err = c.send(ctx, &this, false)
	return this.result, err
}

// QueryContext implements driver.QueryerContext.
func (c *serverConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	this, err := c.call(ctx, text, args)
	if err != nil {
		return nil, err
	}
	found, err := c.send(ctx, &this, true)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// call prepares a statement and its arguments.
func (c *serverConn) call(ctx context.Context, text string, args []driver.NamedValue) (call, error) {
	if c.within && c.broken != nil {
		return call{}, c.broken
	}
	if len(args) == 0 && !prepared.MatchString(text) {
		return call{text: forServer(text)}, nil
	}
	p, err := c.planOf(ctx, text)
	if err != nil {
		return call{}, err
	}
	if len(args) != len(p.ParamOIDs) {
		return call{}, fmt.Errorf("%d arguments for %d parameters of %s", len(args), len(p.ParamOIDs), shortened(text))
	}
	clean(args)
	values := make([][]byte, len(args))
	for i, arg := range args {
		if values[i], err = encode(arg.Value, p.ParamOIDs[i]); err != nil {
			return call{}, fmt.Errorf("argument %d of %s: %w", i+1, shortened(text), err)
		}
	}
	return call{plan: p, args: values}, nil
}

// planOf is the statement of a text, prepared.
func (c *serverConn) planOf(ctx context.Context, text string) (*plan, error) {
	if p := c.plans[text]; p != nil {
		return p, nil
	}
	if len(c.waiting) > 0 && c.waiting[len(c.waiting)-1].plan == nil { // it may make the table that this statement names
		if _, err := c.send(ctx, nil, false); err != nil {
			return nil, err
		}
	}
	p := &plan{text: forServer(text)}
	name := ""
	if !c.dial.unnamed {
		name = "s" + strconv.Itoa(len(c.plans))
	}
	var err error
	if p.StatementDescription, err = c.prepare(ctx, name, p.text); err != nil {
		return nil, fmt.Errorf("%w (%s)", err, shortened(text))
	}
	c.plans[text] = p
	return p, nil
}

// send sends what waits and then last, waits for the answers, and gives the rows of last if they are wanted: all of them within a
// transaction, so that the next statement can be sent, else as they come.
func (c *serverConn) send(ctx context.Context, last *call, wanted bool) (*serverRows, error) {
	calls := c.waiting
	c.waiting = nil
	if last != nil {
		calls = append(calls, *last)
	}
	first := c.within && !c.begun
	fresh := first && (last == nil || last.text != commit)
	if first {
		beginning, err := c.beginning(ctx)
		if err != nil {
			return nil, c.breaks(err, calls, -1)
		}
		calls = append(beginning, calls...)
	}
	batch := &pgconn.Batch{}
	for _, one := range calls {
		switch {
		case one.plan == nil:
			batch.ExecParams(one.text, nil, nil, nil, nil)
		case c.dial.unnamed:
			batch.ExecParams(one.plan.text, one.args, one.plan.ParamOIDs, nil, nil)
		default:
			batch.ExecStatement(one.plan.StatementDescription, one.args, nil, nil)
		}
	}
	c.expect(answerTime)
	c.dial.trips.Add(1)
	answers := c.pg.ExecBatch(ctx, batch)
	for i, one := range calls {
		if !answers.NextResult() {
			err := answers.Close()
			if err == nil {
				err = errors.New("the server answered too little")
			}
			return nil, c.breaks(c.explain(ctx, err, one, fresh), calls, i)
		}
		if i == len(calls)-1 && wanted {
			found := &serverRows{ctx: ctx, conn: c, answers: answers, from: answers.ResultReader()}
			found.columns = slices.Clone(found.from.FieldDescriptions())
			if !c.within {
				return found, nil
			}
			c.begun = true
			if err := found.readAll(); err != nil {
				return nil, c.breaks(c.explain(ctx, err, one, fresh), calls, i)
			}
			return found, nil
		}
		tag, err := answers.ResultReader().Close()
		if err != nil {
			_ = answers.Close()
			return nil, c.breaks(c.explain(ctx, err, one, fresh), calls, i)
		}
		if one.result != nil {
			one.result.rows, one.result.sent = tag.RowsAffected(), true
		}
	}
	if err := answers.Close(); err != nil {
		return nil, c.breaks(c.explain(ctx, err, calls[len(calls)-1], fresh), calls, len(calls)-1)
	}
	c.begun = c.within
	return nil, nil
}

// breaks notes that the transaction cannot go on, and tells those whose calls came to nothing.
func (c *serverConn) breaks(err error, calls []call, at int) error {
	if c.within {
		c.begun = true
		if c.broken == nil {
			c.broken = err
		}
	}
	for _, one := range calls[max(0, at):] {
		one.result.fail(err)
	}
	return err
}

func (r *serverResult) fail(err error) {
	if r != nil && !r.sent {
		r.err = err
	}
}

// shortened is the beginning of a statement, for an error.
func shortened(text string) string {
	const most = 60
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
