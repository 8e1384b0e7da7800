package archive

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/archive/dump"
	"watchmark/internal/watch"
)

// The episodes of a subject are stored together, packed: two million rows of their own
// would take twice the space and five times as long to write. An episode is
//
//	varint   the id, as the difference to the one before
//	byte     type (3 bits) and which of the following are there
//	uvarint  sort, if it is a whole number, else its eight bytes
//	uvarint  disc, if not 0
//	uvarint  the date as year<<9 | month<<5 | day, if there is one
//	uvarint  length of the name, then the name; the same for the Chinese name

const (
	typeBits    = 0x07
	wholeSort   = 0x08
	hasDisc     = 0x10
	hasDate     = 0x20
	dateMonthAt = 5
	dateYearAt  = 9
)

// appendEpisode packs an episode without its id.
func appendEpisode(body []byte, e *dump.Episode) []byte {
	head := byte(min(max(int(e.Type), 0), typeBits))
	whole := e.Sort == math.Trunc(e.Sort)
	if whole {
		head |= wholeSort
	}
	if e.Disc > 0 {
		head |= hasDisc
	}
	date := packDate(e.AirDate)
	if date != 0 {
		head |= hasDate
	}
	body = append(body, head)
	if whole {
		body = binary.AppendUvarint(body, uint64(e.Sort))
	} else {
		body = binary.LittleEndian.AppendUint64(body, math.Float64bits(e.Sort))
	}
	if e.Disc > 0 {
		body = binary.AppendUvarint(body, uint64(e.Disc))
	}
	if date != 0 {
		body = binary.AppendUvarint(body, date)
	}
	for _, name := range [][]byte{e.Name, e.NameCN} {
		body = binary.AppendUvarint(body, uint64(len(name)))
		body = append(body, name...)
	}
	return body
}

func packDate(d watch.Date) uint64 {
	return uint64(d.Year<<dateYearAt | d.Month<<dateMonthAt | d.Day)
}

// dayOf is a date that is known to the day, in the order of time; 0 for every other one.
func dayOf(d watch.Date) uint64 {
	if !d.IsFull() {
		return 0
	}
	return packDate(d)
}

func unpackDate(n uint64) watch.Date {
	if n > 1<<24 {
		return watch.Date{}
	}
	return watch.Date{Year: int(n >> dateYearAt), Month: int(n >> dateMonthAt & 0xF), Day: int(n & 0x1F)}
}

// unpack adds the episodes in body to list. It returns errPacked for a body that is none.
func unpack(list []catalog.EpisodeInfo, subject catalog.SubjectID, body []byte) ([]catalog.EpisodeInfo, error) {
	r := reader{body: body}
	id := int64(0)
	for len(r.body) > 0 {
		id += r.varint()
		e := catalog.EpisodeInfo{ID: catalog.EpisodeID(id), Subject: subject}
		head := r.byte()
		e.Type = catalog.EpisodeType(head & typeBits)
		if head&wholeSort != 0 {
			e.Sort = float64(r.uvarint())
		} else {
			e.Sort = math.Float64frombits(binary.LittleEndian.Uint64(r.bytes(8)))
		}
		if head&hasDisc != 0 {
			e.Disc = int(r.uvarint())
		}
		if head&hasDate != 0 {
			e.AirDate = unpackDate(r.uvarint())
		}
		e.Name = string(r.bytes(r.uvarint()))
		e.NameCN = string(r.bytes(r.uvarint()))
		list = append(list, e)
	}
	return list, r.err()
}

// reader reads a packed body; bad is set when it ends too early.
type reader struct {
	body []byte
	bad  bool
}

func (r *reader) uvarint() uint64 {
	n, used := binary.Uvarint(r.body)
	r.skip(used)
	return n
}

func (r *reader) varint() int64 {
	n, used := binary.Varint(r.body)
	r.skip(used)
	return n
}

func (r *reader) skip(used int) {
	if used <= 0 {
		r.bad, r.body = true, nil
		return
	}
	r.body = r.body[used:]
}

// err is errPacked after a reading beyond the end.
func (r *reader) err() error {
	if r.bad {
		return errPacked
	}
	return nil
}

func (r *reader) byte() byte { return r.bytes(1)[0] }

// bytes is the next n bytes; zeros, at least eight, when there are not so many.
func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.body)) {
		r.bad, r.body = true, nil
		return make([]byte, 8)
	}
	piece := r.body[:n]
	r.body = r.body[n:]
	return piece
}

// arrange brings the episodes of one subject into the catalog's order (disc, type,
// sort) and counts ep as the catalog does (upstreams/archive.md section 5).
func arrange(list []catalog.EpisodeInfo) {
	slices.SortStableFunc(list, func(a, b catalog.EpisodeInfo) int {
		return cmp.Or(cmp.Compare(a.Disc, b.Disc), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Sort, b.Sort), cmp.Compare(a.ID, b.ID))
	})
	// In this order the first main episode has the lowest disc and in it the lowest sort.
	first := slices.IndexFunc(list, func(e catalog.EpisodeInfo) bool { return e.Type == catalog.Main })
	if first < 0 {
		return
	}
	lowest := list[first].Sort
	for i := range list {
		if list[i].Type == catalog.Main {
			list[i].Ep = list[i].Sort - lowest + 1
		}
	}
}
