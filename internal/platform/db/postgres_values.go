package db

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Types of PostgreSQL, as its catalog numbers them (pg_type.dat).
const (
	boolType    = 16
	byteaType   = 17
	int8Type    = 20
	int2Type    = 21
	int4Type    = 23
	oidType     = 26
	float4Type  = 700
	float8Type  = 701
	numericType = 1700
)

// encode is an argument in the server's text form: what database/sql hands to drivers, by the type of the parameter.
func encode(value driver.Value, parameter uint32) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case bool:
		if v {
			return []byte("1"), nil // for a boolean, too
		}
		return []byte("0"), nil
	case int64:
		if parameter == boolType {
			return encode(v != 0, parameter)
		}
		return strconv.AppendInt(nil, v, 10), nil
	case float64:
		switch {
		case parameter == boolType:
			return encode(v != 0, parameter)
		case parameter == int8Type && v == math.Trunc(v) && math.Abs(v) < 1<<53:
			return strconv.AppendInt(nil, int64(v), 10), nil
		}
		return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
	case []byte:
		if v == nil {
			return nil, nil
		}
		if parameter == byteaType {
			return append([]byte(`\x`), hex.EncodeToString(v)...), nil
		}
		args := []driver.NamedValue{{Value: string(v)}}
		clean(args)
		return encode(args[0].Value, parameter)
	case string:
		if parameter == byteaType {
			return encode([]byte(v), parameter)
		}
		return append([]byte{}, v...), nil
	case time.Time:
		return v.AppendFormat(nil, time.RFC3339Nano), nil
	}
	return nil, fmt.Errorf("a value of type %T cannot be stored", value)
}

// decode is a column's value as SQLite would answer it: whole numbers as int64, truth as 0 and 1.
func decode(text []byte, column uint32) (driver.Value, error) {
	if text == nil {
		return nil, nil
	}
	switch column {
	case int8Type, int4Type, int2Type, oidType:
		return strconv.ParseInt(string(text), 10, 64)
	case float8Type, float4Type:
		return strconv.ParseFloat(string(text), 64)
	case numericType: // of SUM and AVG
		if whole, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return whole, nil
		}
		return strconv.ParseFloat(string(text), 64)
	case boolType:
		if string(text) == "t" {
			return int64(1), nil
		}
		return int64(0), nil
	case byteaType:
		return hex.DecodeString(strings.TrimPrefix(string(text), `\x`))
	}
	return string(text), nil
}

// prepare has the server prepare a statement. A parameter beside a small number is taken for one of 32 bits: it gets 64, as every
// number has that is stored.
func (c *serverConn) prepare(ctx context.Context, name, text string) (*pgconn.StatementDescription, error) {
	described, err := c.describe(ctx, name, text, nil)
	if err != nil {
		return nil, err
	}
	wide := false
	for i, kind := range described.ParamOIDs {
		if kind == int4Type || kind == int2Type {
			described.ParamOIDs[i], wide = int8Type, true
		}
	}
	if !wide {
		return described, nil
	}
	if name != "" {
		c.expect(answerTime)
		if err := c.pg.Deallocate(ctx, name); err != nil {
			return nil, c.unprepared(ctx, err)
		}
	}
	return c.describe(ctx, name, text, described.ParamOIDs)
}

func (c *serverConn) describe(ctx context.Context, name, text string, parameters []uint32) (*pgconn.StatementDescription, error) {
	c.expect(answerTime)
	described, err := c.pg.Prepare(ctx, name, text, parameters)
	if err != nil {
		return nil, c.unprepared(ctx, err)
	}
	return described, nil
}

// unprepared says what it means that a statement could not be prepared: the end of a transaction, if the server knows of one.
func (c *serverConn) unprepared(ctx context.Context, err error) error {
	err = c.explain(ctx, err, call{}, c.within && !c.begun)
	if c.within && c.begun {
		return c.breaks(err, nil, 0)
	}
	return err
}

// serverRows are the rows of an answer: all of them, or as they come.
type serverRows struct {
	ctx     context.Context // of the query
	conn    *serverConn
	answers *pgconn.MultiResultReader
	from    *pgconn.ResultReader
	columns []pgconn.FieldDescription
	all     [][]driver.Value
	read    bool
}

// Columns implements driver.Rows.
func (r *serverRows) Columns() []string {
	names := make([]string, len(r.columns))
	for i, column := range r.columns {
		names[i] = column.Name
	}
	return names
}

// Next implements driver.Rows.
func (r *serverRows) Next(into []driver.Value) error {
	if r.read {
		if len(r.all) == 0 {
			return io.EOF
		}
		copy(into, r.all[0])
		r.all = r.all[1:]
		return nil
	}
	r.conn.expect(answerTime)
	if !r.from.NextRow() {
		if err := r.Close(); err != nil {
			return err
		}
		return io.EOF
	}
	return r.row(into)
}

func (r *serverRows) row(into []driver.Value) (err error) {
	for i, text := range r.from.Values() {
		if into[i], err = decode(text, r.columns[i].DataTypeOID); err != nil {
			return fmt.Errorf("read column %s: %w", r.columns[i].Name, err)
		}
	}
	return nil
}

// readAll takes all rows in.
func (r *serverRows) readAll() error {
	for r.from.NextRow() {
		row := make([]driver.Value, len(r.columns))
		if err := r.row(row); err != nil {
			return errors.Join(err, r.answers.Close())
		}
		r.all = append(r.all, row)
	}
	_, err := r.from.Close()
	if end := r.answers.Close(); err == nil {
		err = end
	}
	r.read = true
	return err
}

// Close implements driver.Rows.
func (r *serverRows) Close() error {
	if r.read {
		return nil
	}
	r.read, r.all = true, nil
	r.conn.expect(answerTime)
	_, err := r.from.Close()
	if end := r.answers.Close(); err == nil {
		err = end
	}
	if err != nil {
		return r.conn.explain(r.ctx, err, call{}, false)
	}
	return nil
}
