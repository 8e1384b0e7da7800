package movedb

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"strings"

	"watchmark/internal/platform/db"
)

// pageRows is how many rows are read at once.
const pageRows = 2000

// each hands the rows of a table to take, in the order of its key and with values as both engines store them; cleaned is how many texts of
// the row had to be changed for that.
func each(ctx context.Context, from db.Querier, t db.Table, take func(row []any, cleaned int64) error) error {
	columns, key := names(t), strings.Join(t.Key, ", ")
	first := `SELECT ` + columns + ` FROM ` + t.Name
	order := fmt.Sprintf(" ORDER BY %s LIMIT %d", key, pageRows)
	next := first + ` WHERE (` + key + `) > (?` + strings.Repeat(", ?", len(t.Key)-1) + `)` + order
	query, after := first+order, []any(nil)
	for {
		rows, err := db.All(ctx, from, "read the table "+t.Name, func(r db.Row) ([]any, error) {
			row := make([]any, len(t.Columns))
			into := make([]any, len(row))
			for i := range row {
				into[i] = &row[i]
			}
			err := r.Scan(into...)
			return row, err
		}, query, after...)
		if err != nil {
			return err
		}
		for _, row := range rows {
			after = keyOf(t, row) // as it is stored there
			cleaned, err := portable(t, row)
			if err == nil {
				err = take(row, cleaned)
			}
			if err != nil {
				return fmt.Errorf("table %s, %s %v: %w", t.Name, key, after, err)
			}
		}
		if len(rows) < pageRows {
			return nil
		}
		query = next
	}
}

// names are the columns of a table as a statement lists them.
func names(t db.Table) string {
	all := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		all[i] = c.Name
	}
	return strings.Join(all, ", ")
}

func keyOf(t db.Table, row []any) []any {
	var key []any
	for _, name := range t.Key {
		for i, c := range t.Columns {
			if c.Name == name {
				key = append(key, row[i])
			}
		}
	}
	return key
}

// portable brings the values of a row into the types of its columns.
func portable(t db.Table, row []any) (cleaned int64, err error) {
	for i, c := range t.Columns {
		if bytes, is := row[i].([]byte); is && c.Type == db.Text {
			row[i] = string(bytes)
		}
		switch value := row[i].(type) {
		case nil:
			continue
		case int64:
			if c.Type == db.Integer {
				continue
			}
			if c.Type == db.Real {
				row[i] = float64(value)
				continue
			}
		case float64:
			if c.Type == db.Real {
				continue
			}
		case string:
			if c.Type == db.Text {
				if text := db.Clean(value); text != value {
					row[i] = text
					cleaned++
				}
				continue
			}
		case []byte:
			if c.Type == db.Bytes {
				continue
			}
		}
		return 0, fmt.Errorf("the column %s holds %v, which is no %s", c.Name, row[i], c.Type)
	}
	return cleaned, nil
}

// sum counts rows and digests them in their order. Both engines give the same for the same rows.
type sum struct {
	rows, cleaned int64
	hash          hash.Hash
	row           []byte
}

func newSum() *sum { return &sum{hash: sha256.New()} }

func (s *sum) add(row []any, cleaned int64) {
	s.rows++
	s.cleaned += cleaned
	s.row = s.row[:0]
	for _, value := range row {
		switch value := value.(type) {
		case nil:
			s.row = append(s.row, 0)
		case int64:
			s.row = binary.BigEndian.AppendUint64(append(s.row, 1), uint64(value))
		case float64:
			s.row = binary.BigEndian.AppendUint64(append(s.row, 2), math.Float64bits(value))
		case string:
			s.row = append(binary.BigEndian.AppendUint64(append(s.row, 3), uint64(len(value))), value...)
		case []byte:
			s.row = append(binary.BigEndian.AppendUint64(append(s.row, 4), uint64(len(value))), value...)
		}
	}
	_, _ = s.hash.Write(s.row) // documented never to return an error
}

func (s *sum) line(table string) Line {
	return Line{Table: table, Rows: s.rows, Digest: hex.EncodeToString(s.hash.Sum(nil)), Cleaned: s.cleaned}
}

// look counts and digests tables.
func look(ctx context.Context, from db.Querier, tables []db.Table, tell func(Progress)) (lines []Line, err error) {
	p := Progress{Phase: Comparing}
	if p.Total, err = count(ctx, from, tables...); err != nil {
		return nil, err
	}
	for _, t := range tables {
		p.Table = t.Name
		s := newSum()
		err := each(ctx, from, t, func(row []any, cleaned int64) error {
			s.add(row, cleaned)
			if p.Done++; p.Done%stepRows == 0 {
				tell(p)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		lines = append(lines, s.line(t.Name))
	}
	tell(p)
	return lines, nil
}

// count is how many rows tables have together.
func count(ctx context.Context, from db.Querier, tables ...db.Table) (total int64, err error) {
	for _, t := range tables {
		var rows int64
		if err := from.QueryRowContext(ctx, `SELECT COUNT(*) FROM `+t.Name).Scan(&rows); err != nil {
			return 0, fmt.Errorf("count the rows of %s: %w", t.Name, err)
		}
		total += rows
	}
	return total, nil
}
