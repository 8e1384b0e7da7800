package titles

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"

	"watchmark/internal/watch/title"
)

const (
	// weighMost is how many titles that share most grams with a text are compared with it.
	weighMost = 64
	// readMost bounds how many places of grams one look-up goes through; the rare grams, which tell most, come first.
	readMost = 400_000
)

// Index is an open title index. It may be used by several goroutines.
type Index struct {
	file    *os.File
	head    header
	lengths []byte   // of each title, in grams
	offsets []byte   // of each block, four bytes
	firsts  []string // the first key of each block
	grams   []byte   // every dictionaryStep'th hash, four bytes
	scratch sync.Pool
}

// scratch is what a look-up works with; counts is for those by likeness alone.
type scratch struct {
	counts  []uint8
	touched []uint32
	buf     []byte
	grams   []uint32
	lists   []list
}

// Open opens the index at path. It returns ErrDamaged for what is no whole index, and
// the error of the system when there is no file.
func Open(path string) (*Index, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	x := &Index{file: file}
	if err := x.read(); err != nil {
		return nil, errors.Join(opening.With(err), file.Close())
	}
	x.scratch.New = func() any { return &scratch{} }
	return x, nil
}

// Close closes the file. Nobody may look up any more.
func (x *Index) Close() error { return x.file.Close() }

func (x *Index) read() error {
	info, err := x.file.Stat()
	if err != nil {
		return err
	}
	buf := make([]byte, headerSize)
	if _, err := x.file.ReadAt(buf, 0); err != nil {
		return ErrDamaged
	}
	if _, err := binary.Decode(buf, binary.LittleEndian, &x.head); err != nil || string(x.head.Magic[:]) != magic || x.head.Checksum != checksum(buf[:headerSize-4]) {
		return ErrDamaged
	}
	h := &x.head
	for _, s := range []section{h.Resident, h.BlockData, h.Dictionary, h.Postings} {
		if s.Offset+s.Size > uint64(info.Size()) || s.Offset+s.Size < s.Offset {
			return ErrDamaged
		}
	}
	resident := make([]byte, h.Resident.Size)
	if _, err := x.file.ReadAt(resident, int64(h.Resident.Offset)); err != nil || len(resident) < 4 {
		return ErrDamaged
	}
	body := resident[:len(resident)-4]
	if binary.LittleEndian.Uint32(resident[len(body):]) != checksum(body) {
		return ErrDamaged
	}
	titles, blocks := int(h.Titles), int(h.Blocks)
	steps := (int(h.Grams) + dictionaryStep - 1) / dictionaryStep
	if len(body) < titles+4*blocks+4*steps || h.Dictionary.Size != 8*uint64(h.Grams) || blocks != (titles+blockSize-1)/blockSize {
		return ErrDamaged
	}
	x.lengths, body = body[:titles], body[titles:]
	x.offsets, body = body[:4*blocks], body[4*blocks:]
	x.grams, body = body[len(body)-4*steps:], body[:len(body)-4*steps]
	all := string(body) // the keys share one piece of memory
	x.firsts = make([]string, blocks)
	for i, at := 0, 0; i < blocks; i++ {
		n, used := binary.Uvarint(body[at:])
		if used <= 0 || n > uint64(len(body)-at-used) {
			return ErrDamaged
		}
		at += used
		x.firsts[i] = all[at : at+int(n)]
		at += int(n)
	}
	return nil
}

// Hit is a title that a look-up found.
type Hit struct {
	Entry
	// Likeness is a ratio 0..1; 1 is an equal title.
	Likeness float64
}

// Exact finds the subjects that have a title of this key: originals before Chinese
// titles before aliases. At most limit are answered.
func (x *Index) Exact(key string, limit int) ([]Entry, error) {
	return x.from(key, limit, func(k string) bool { return k == key })
}

// Prefix finds the titles that begin with key, equal ones among them, in their order.
// At most limit are answered.
func (x *Index) Prefix(key string, limit int) ([]Entry, error) {
	return x.from(key, limit, func(k string) bool { return strings.HasPrefix(k, key) })
}

// from answers the titles from key on as long as they fit.
func (x *Index) from(key string, limit int, fits func(string) bool) ([]Entry, error) {
	if key == "" || len(x.firsts) == 0 {
		return nil, nil
	}
	// Equal titles may begin in the block before the first one that begins with key.
	block := max(0, sort.Search(len(x.firsts), func(i int) bool { return x.firsts[i] >= key })-1)
	var found []Entry
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	for ; block < len(x.firsts); block++ {
		ended := false
		err := x.eachInBlock(s, block, func(_ int, k []byte, e Entry) bool {
			switch {
			case string(k) < key:
				return true
			case len(found) == limit || !fits(string(k)):
				ended = true
				return false
			}
			e.Key = string(k)
			found = append(found, e)
			return true
		})
		if err != nil || ended {
			return found, err
		}
	}
	return found, nil
}

// eachInBlock decodes a block until use says no. The key is gone when use returns.
func (x *Index) eachInBlock(s *scratch, block int, use func(i int, key []byte, e Entry) bool) error {
	from := binary.LittleEndian.Uint32(x.offsets[4*block:])
	to := uint32(x.head.BlockData.Size)
	if block+1 < len(x.firsts) {
		to = binary.LittleEndian.Uint32(x.offsets[4*(block+1):])
	}
	data, err := x.readAt(s, x.head.BlockData, uint64(from), uint64(to))
	if err != nil {
		return err
	}
	var key [maxKey]byte
	for i := 0; len(data) > 0; i++ {
		shared, a := binary.Uvarint(data)
		if a <= 0 {
			return ErrDamaged
		}
		n, b := binary.Uvarint(data[a:])
		if b <= 0 || shared > maxKey || n > maxKey-shared || n+2 > uint64(len(data)-a-b) {
			return ErrDamaged
		}
		data = data[a+b:]
		copy(key[shared:], data[:n])
		data = data[n:]
		subject, c := binary.Uvarint(data)
		if c <= 0 || c >= len(data) {
			return ErrDamaged
		}
		flags := data[c]
		data = data[c+1:]
		if !use(i, key[:shared+n], Entry{Subject: uint32(subject), Kind: Kind(flags & 0xF), Type: flags >> 4}) {
			return nil
		}
	}
	return nil
}

// readAt reads a piece of a section into the scratch buffer, where it stays until the next reading.
func (x *Index) readAt(s *scratch, in section, from, to uint64) ([]byte, error) {
	if from > to || to > in.Size {
		return nil, ErrDamaged
	}
	if n := int(to - from); cap(s.buf) < n {
		s.buf = make([]byte, n, n+n/2)
	}
	buf := s.buf[:to-from]
	if _, err := x.file.ReadAt(buf, int64(in.Offset+from)); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, ErrDamaged
		}
		return nil, reading.With(err)
	}
	return buf, nil
}

// list is where the titles of a gram are.
type list struct {
	from, to uint64 // in the postings
}

// Like finds the titles that are most like key, the likest first, at most limit: those
// that share most of its grams, compared by title.Similarity. keep says which entries are wanted.
func (x *Index) Like(key string, limit int, keep func(Entry) bool) ([]Hit, error) {
	if key == "" || len(x.firsts) == 0 {
		return nil, nil
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	numbers, err := x.sharing(s, key)
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, 0, len(numbers))
	for _, number := range numbers {
		wanted := int(number % blockSize)
		err := x.eachInBlock(s, int(number/blockSize), func(i int, k []byte, e Entry) bool {
			if i < wanted {
				return true
			}
			if keep(e) {
				e.Key = string(k)
				hits = append(hits, Hit{Entry: e, Likeness: title.Similarity(key, e.Key)})
			}
			return false
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Likeness, a.Likeness), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Subject, b.Subject))
	})
	return hits[:min(limit, len(hits))], nil
}

// sharing is the numbers of the titles that share most grams with key, in their order.
func (x *Index) sharing(s *scratch, key string) ([]uint32, error) {
	if s.counts == nil {
		s.counts = make([]uint8, x.head.Titles)
	}
	s.grams = distinct(appendGrams(s.grams[:0], key))
	s.lists = s.lists[:0]
	for _, g := range s.grams {
		l, err := x.find(s, g)
		if err != nil {
			return nil, err
		}
		if l.to > l.from {
			s.lists = append(s.lists, l)
		}
	}
	slices.SortFunc(s.lists, func(a, b list) int { return cmp.Compare(a.to-a.from, b.to-b.from) })
	defer s.reset()
	left := readMost
	for _, l := range s.lists {
		if left -= int(l.to - l.from); left < 0 && len(s.touched) > 0 {
			break
		}
		if err := x.count(s, l); err != nil {
			return nil, err
		}
	}
	return x.best(s), nil
}

// find looks a gram up in the dictionary; a gram that no title has has an empty list.
func (x *Index) find(s *scratch, gram uint32) (list, error) {
	hashAt := func(i int) uint32 { return binary.LittleEndian.Uint32(x.grams[4*i:]) }
	step := sort.Search(len(x.grams)/4, func(i int) bool { return hashAt(i) > gram }) - 1
	if step < 0 {
		return list{}, nil
	}
	from := uint64(step) * dictionaryStep * 8
	// One more entry than the step has tells where the last list ends.
	to := min(from+(dictionaryStep+1)*8, x.head.Dictionary.Size)
	data, err := x.readAt(s, x.head.Dictionary, from, to)
	if err != nil {
		return list{}, err
	}
	n := len(data) / 8
	i := sort.Search(n, func(i int) bool { return binary.LittleEndian.Uint32(data[8*i:]) >= gram })
	if i == n || binary.LittleEndian.Uint32(data[8*i:]) != gram {
		return list{}, nil
	}
	l := list{from: uint64(binary.LittleEndian.Uint32(data[8*i+4:])), to: x.head.Postings.Size}
	if i+1 < n {
		l.to = uint64(binary.LittleEndian.Uint32(data[8*i+12:]))
	}
	return l, nil
}

// count counts the titles of a list.
func (x *Index) count(s *scratch, l list) error {
	data, err := x.readAt(s, x.head.Postings, l.from, l.to)
	if err != nil {
		return err
	}
	number := uint64(0)
	for len(data) > 0 {
		step := uint64(data[0])
		if step < 0x80 {
			data = data[1:]
		} else {
			var n int
			if step, n = binary.Uvarint(data); n <= 0 {
				return ErrDamaged
			}
			data = data[n:]
		}
		if number += step; number >= uint64(len(s.counts)) {
			return ErrDamaged
		}
		if s.counts[number] == 0 {
			s.touched = append(s.touched, uint32(number))
		}
		if s.counts[number] < 255 {
			s.counts[number]++
		}
	}
	return nil
}

// best picks the titles with the largest share of common grams.
func (x *Index) best(s *scratch) []uint32 {
	type candidate struct {
		number uint32
		share  float32
	}
	// A title must share as much as the worst of the best so far; a histogram finds that bar in one pass.
	var histogram [256]int
	share := func(number uint32) float32 {
		return 2 * float32(s.counts[number]) / float32(len(s.grams)+int(x.lengths[number]))
	}
	for _, number := range s.touched {
		histogram[uint8(min(share(number), 1)*255)]++
	}
	bar, sum := 255, histogram[255]
	for bar > 0 && sum < weighMost {
		bar--
		sum += histogram[bar]
	}
	var candidates []candidate
	for _, number := range s.touched {
		if sh := share(number); int(min(sh, 1)*255) >= bar {
			candidates = append(candidates, candidate{number, sh})
		}
	}
	if len(candidates) > weighMost {
		slices.SortFunc(candidates, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.number, b.number))
		})
		candidates = candidates[:weighMost]
	}
	numbers := make([]uint32, 0, len(candidates))
	for _, c := range candidates {
		numbers = append(numbers, c.number)
	}
	slices.Sort(numbers)
	return numbers
}

func (s *scratch) reset() {
	for _, number := range s.touched {
		s.counts[number] = 0
	}
	s.touched = s.touched[:0]
}
