package idmap

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"watchmark/internal/platform/reason"
	"watchmark/internal/watch"
)

// format is the form of a packed table. One of another form is not read.
const format = 2

const (
	maxHead = 16 << 10
	// maxPacked bounds a packed table in bytes before it was compressed.
	maxPacked = maxDocument
	// roomMost bounds the room that is made for what a packed table announces, before it has come.
	roomMost = 1 << 20
	// maxIDs bounds the ids that a site has for one entry.
	maxIDs = 1000
)

// Head says where a packed table is from.
type Head struct {
	// Version is the release of bangumi-data, or the beginning of the document's digest
	// where the release is not known.
	Version string `json:"version"`
	// Digest is the SHA-256 of the document in hex; Pack fills it in.
	Digest string `json:"digest"`
	// FetchedAt is zero for the snapshot in the program.
	FetchedAt time.Time `json:"fetched_at,omitzero"`
	// URL is the address that was asked, ETag what it had for the document.
	URL  string `json:"url,omitempty"`
	ETag string `json:"etag,omitempty"`
	// Judged is judgedBy of the program that has let the table serve.
	Judged string `json:"judged,omitempty"`
}

// header is the first line of a packed table.
type header struct {
	Format int `json:"format"`
	Head
}

// Pack makes a packed table of a document of bangumi-data (data.json), which is read to its
// end. The same input gives the same output. An empty Version becomes the beginning of the
// digest. An error wraps ErrFormat when it is not such a document.
//
// A packed table is compressed by gzip. It begins with a line of JSON, the Head. Numbers
// follow as varints: how many entries; the columns subject (as the difference to the one
// before), kind, begin, first minute and period of the broadcast, and number of titles; for each site the number of ids of each
// entry and then the ids, those of shows with season + 1 and episode behind each; the
// length of each title. All titles without anything between them are the end.
func Pack(document io.Reader, head Head) ([]byte, error) {
	digest := sha256.New()
	rows, err := parse(io.TeeReader(document, digest))
	if err != nil {
		return nil, err
	}
	head.Digest = fmt.Sprintf("%x", digest.Sum(nil))
	if head.Version == "" {
		head.Version = "sha256-" + head.Digest[:12]
	}
	first, err := json.Marshal(header{format, head})
	if err != nil {
		return nil, err
	}
	if len(first) >= maxHead {
		return nil, addressTooLong
	}
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	for _, part := range [][]byte{first, {'\n'}, columns(rows)} {
		if _, err := zip.Write(part); err != nil {
			return nil, err
		}
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// columns writes rows as Pack says.
func columns(rows []row) []byte {
	b := binary.AppendUvarint(nil, uint64(len(rows)))
	number := func(n int) { b = binary.AppendUvarint(b, uint64(n)) }
	last := 0
	for _, r := range rows {
		number(int(r.subject) - last)
		last = int(r.subject)
	}
	for _, r := range rows {
		number(int(r.kind))
	}
	for _, r := range rows {
		number(int(packDate(r.begin)))
	}
	for _, r := range rows {
		minute, period := packBroadcast(r.broadcast)
		number(int(minute))
		number(int(period))
	}
	for _, r := range rows {
		number(len(r.titles))
	}
	for at := range sites {
		for _, r := range rows {
			number(len(r.references[at]))
		}
		for _, r := range rows {
			for _, id := range r.references[at] {
				number(int(id.id))
				if at == tmdbShow {
					number(int(id.season) + 1)
					number(int(id.episode))
				}
			}
		}
	}
	for _, r := range rows {
		for _, title := range r.titles {
			number(len(title))
		}
	}
	for _, r := range rows {
		for _, title := range r.titles {
			b = append(b, title...)
		}
	}
	return b
}

func packDate(d watch.Date) uint32 { return uint32(d.Year*512 + d.Month*32 + d.Day) }

func unpackDate(n uint32) watch.Date {
	return watch.Date{Year: int(n / 512), Month: int(n / 32 % 16), Day: int(n % 32)}
}

// Read makes a table of a packed one. An error wraps ErrFormat when it is damaged or of
// another form.
func Read(packed io.Reader) (*Table, error) {
	unzipped, err := gzip.NewReader(packed)
	if err != nil {
		return nil, reason.Because.With(ErrFormat, err)
	}
	u := &unpacker{from: bufio.NewReader(&bounded{from: unzipped, left: maxPacked})}
	t, err := u.table()
	if err != nil {
		return nil, reason.Because.With(ErrFormat, err)
	}
	t.index()
	return t, nil
}

// unpacker reads numbers until one cannot be read, which err then says.
type unpacker struct {
	from *bufio.Reader
	err  error
}

// number reads one that is not above most.
func (u *unpacker) number(most uint64) uint32 {
	if u.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(u.from)
	if err == nil && n > most {
		err = numberTooLarge.With(n, most)
	}
	if err != nil {
		u.err = err
		return 0
	}
	return uint32(n)
}

func (u *unpacker) head() (Head, error) {
	var line []byte
	for {
		c, err := u.from.ReadByte()
		if err != nil {
			return Head{}, err
		}
		if c == '\n' {
			break
		}
		if line = append(line, c); len(line) > maxHead {
			return Head{}, endlessHead
		}
	}
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return Head{}, err
	}
	if h.Format != format {
		return Head{}, otherVersion
	}
	return h.Head, nil
}

func (u *unpacker) table() (*Table, error) {
	head, err := u.head()
	if err != nil {
		return nil, err
	}
	t := &Table{head: head}
	n := int(u.number(maxEntries))
	t.entries = make([]entry, 0, n)
	subject := uint32(0)
	for range n {
		subject += u.number(math.MaxInt32 - uint64(subject))
		t.entries = append(t.entries, entry{subject: subject})
	}
	for i := range t.entries {
		t.entries[i].kind = uint8(u.number(uint64(len(kinds) - 1)))
	}
	for i := range t.entries {
		t.entries[i].begin = u.number(math.MaxUint32)
	}
	for i := range t.entries {
		t.entries[i].minute = u.number(lastMinute)
		t.entries[i].period = uint16(u.number(2*longestPeriod + 1))
	}
	titles := uint32(0)
	for i := range t.entries {
		t.entries[i].titles = titles
		titles += u.number(maxPacked)
		if titles > maxPacked {
			return nil, tooManyTitles
		}
	}
	for at := range sites {
		t.sites[at] = u.references(at, n)
	}
	t.ends = make([]uint32, 0, min(titles, roomMost))
	end := uint32(0)
	for range titles {
		if u.err != nil {
			break
		}
		if end += u.number(maxTitle); end > maxPacked {
			return nil, tooManyTitles
		}
		t.ends = append(t.ends, end)
	}
	if u.err != nil {
		return nil, u.err
	}
	var text strings.Builder
	text.Grow(int(min(end, roomMost)))
	if _, err := io.Copy(&text, u.from); err != nil {
		return nil, err
	}
	if text.Len() != int(end) {
		return nil, titlesIncomplete.With(text.Len(), end)
	}
	t.text = text.String()
	return t, nil
}

// references reads the ids that a site has for n entries.
func (u *unpacker) references(at site, n int) []link {
	counts, all := make([]uint32, n), uint32(0)
	for i := range counts {
		counts[i] = u.number(maxIDs)
		all += counts[i]
	}
	links := make([]link, 0, min(all, roomMost))
	for i, count := range counts {
		for range count {
			if u.err != nil {
				return nil
			}
			l := link{entry: uint32(i), reference: reference{id: u.number(math.MaxUint32), season: AnySeason}}
			if at == tmdbShow {
				l.season = int16(u.number(math.MaxInt16)) - 1
				l.episode = uint16(u.number(math.MaxUint16))
			}
			links = append(links, l)
		}
	}
	return links
}
