package titles

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"os"
	"runtime/debug"
	"slices"

	"golang.org/x/sync/errgroup"
)

// parts is into how many parts the grams are cut, by the first partBits of their hashes; a
// part is sorted as a whole, so more parts take less memory and a little more time.
const (
	partBits = 4
	parts    = 1 << partBits
)

// Sort brings entries into the order that Build wants.
func Sort(entries []Entry) {
	slices.SortFunc(entries, compare)
}

func compare(a, b Entry) int {
	if c := cmp.Compare(a.Key, b.Key); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Kind, b.Kind); c != 0 {
		return c
	}
	return cmp.Compare(a.Subject, b.Subject)
}

// Build writes the index of the titles in lists to a new file at path. Each list must
// be sorted; it clears lists. Entries with an empty or very long key are left out, and so are
// titles that a subject has twice. It answers how many titles there are.
func Build(ctx context.Context, path string, workers int, lists ...[]Entry) (n int, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return 0, creating.With(err)
	}
	b := &builder{file: file, out: bufio.NewWriterSize(io.NewOffsetWriter(file, headerSize), 256<<10)}
	err = b.run(ctx, workers, lists)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return 0, writing.With(err)
	}
	return len(b.keys), nil
}

type builder struct {
	file     *os.File
	out      *bufio.Writer
	written  uint64
	head     header
	keys     []string // by number
	resident []byte
}

func (b *builder) run(ctx context.Context, workers int, lists [][]Entry) error {
	copy(b.head.Magic[:], magic)
	b.writeTitles(lists)
	clear(lists) // the keys are all that is still needed
	debug.FreeOSMemory()
	if err := ctx.Err(); err != nil {
		return err
	}
	dictionary, err := b.writePostings(ctx, workers)
	if err != nil {
		return err
	}
	b.head.Dictionary = b.write(dictionary)
	for i := 0; i < len(dictionary); i += 8 * dictionaryStep {
		b.resident = append(b.resident, dictionary[i:i+4]...)
	}
	b.resident = binary.LittleEndian.AppendUint32(b.resident, checksum(b.resident))
	b.head.Resident = b.write(b.resident)
	if err := b.out.Flush(); err != nil {
		return err
	}
	_, err = b.file.WriteAt(b.head.encode(), 0)
	return err
}

// write appends a section. An error stays in out until it is flushed.
func (b *builder) write(data []byte) section {
	s := section{Offset: headerSize + b.written, Size: uint64(len(data))}
	b.put(data)
	return s
}

func (b *builder) put(data []byte) {
	_, _ = b.out.Write(data) // Flush tells the error
	b.written += uint64(len(data))
}

// writeTitles writes the blocks, and prepares what is resident: the lengths of the
// titles in grams, then for each block where it begins and its first key.
func (b *builder) writeTitles(lists [][]Entry) {
	var offsets, firsts, block []byte
	var lengths []byte
	var grams []uint32
	start := headerSize + b.written
	size, last := uint64(0), ""
	finish := func() {
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(size))
		size += uint64(len(block))
		b.put(block)
		block = block[:0]
		b.head.Blocks++
	}
	for e := range merged(lists) {
		if len(b.keys)%blockSize == 0 {
			if len(b.keys) > 0 {
				finish()
			}
			firsts = binary.AppendUvarint(firsts, uint64(len(e.Key)))
			firsts = append(firsts, e.Key...)
			last = ""
		}
		shared := commonPrefix(last, e.Key)
		block = binary.AppendUvarint(block, uint64(shared))
		block = binary.AppendUvarint(block, uint64(len(e.Key)-shared))
		block = append(block, e.Key[shared:]...)
		block = binary.AppendUvarint(block, uint64(e.Subject))
		block = append(block, byte(e.Kind)|e.Type<<4)
		last = e.Key
		b.keys = append(b.keys, e.Key)
		grams = appendGrams(grams[:0], e.Key)
		lengths = append(lengths, byte(len(distinct(grams))))
	}
	if len(b.keys) > 0 {
		finish()
	}
	b.head.Titles = uint32(len(b.keys))
	b.head.BlockData = section{Offset: start, Size: size}
	b.resident = slices.Concat(lengths, offsets, firsts)
}

// distinct sorts grams and takes repetitions out.
func distinct(grams []uint32) []uint32 {
	slices.Sort(grams)
	return slices.Compact(grams)
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// merged goes through sorted lists as if they were one.
func merged(lists [][]Entry) func(yield func(Entry) bool) {
	return func(yield func(Entry) bool) {
		rest := slices.Clone(lists)
		seen := map[uint32]bool{} // the subjects of the current key
		key := ""
		for {
			least := -1
			for i, list := range rest {
				if len(list) > 0 && (least < 0 || compare(list[0], rest[least][0]) < 0) {
					least = i
				}
			}
			if least < 0 {
				return
			}
			e := rest[least][0]
			rest[least] = rest[least][1:]
			if e.Key == "" || len(e.Key) > maxKey {
				continue
			}
			if e.Key != key {
				key = e.Key
				clear(seen)
			}
			if seen[e.Subject] {
				continue
			}
			seen[e.Subject] = true
			if !yield(e) {
				return
			}
		}
	}
}

// posting is one part of the grams, ready to be written.
type posting struct {
	lists      []byte
	dictionary []byte // 8 bytes a gram: its hash, and where its list begins in this part
}

// writePostings writes the lists of the grams in the order of their hashes and answers
// the dictionary: hash and offset of each.
func (b *builder) writePostings(ctx context.Context, workers int) ([]byte, error) {
	var dictionary []byte
	start, size := headerSize+b.written, uint64(0)
	for first := 0; first < parts; first += workers {
		batch := make([]posting, min(workers, parts-first))
		var g errgroup.Group
		for i := range batch {
			g.Go(func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				batch[i] = postingsOf(b.keys, uint32(first+i))
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		for _, p := range batch {
			for at := 0; at < len(p.dictionary); at += 8 {
				dictionary = append(dictionary, p.dictionary[at:at+4]...)
				dictionary = binary.LittleEndian.AppendUint32(dictionary, uint32(size)+binary.LittleEndian.Uint32(p.dictionary[at+4:]))
			}
			b.put(p.lists)
			size += uint64(len(p.lists))
		}
		clear(batch)
		debug.FreeOSMemory()
	}
	b.head.Grams = uint32(len(dictionary) / 8)
	b.head.Postings = section{Offset: start, Size: size}
	return dictionary, nil
}

// postingsOf makes the lists of the grams whose hashes lie in a part: for each the
// numbers of the titles as differences.
func postingsOf(keys []string, part uint32) posting {
	pairs := make([]uint64, 0, 2*len(keys))
	var grams []uint32
	for number, key := range keys {
		grams = appendGrams(grams[:0], key)
		for _, g := range grams {
			if g>>(32-partBits) == part {
				pairs = append(pairs, uint64(g)<<32|uint64(number))
			}
		}
	}
	slices.Sort(pairs)
	pairs = slices.Compact(pairs)
	var p posting
	for len(pairs) > 0 {
		gram := uint32(pairs[0] >> 32)
		n := 1
		for n < len(pairs) && uint32(pairs[n]>>32) == gram {
			n++
		}
		p.dictionary = binary.LittleEndian.AppendUint32(p.dictionary, gram)
		p.dictionary = binary.LittleEndian.AppendUint32(p.dictionary, uint32(len(p.lists)))
		before := uint32(0)
		for _, pair := range pairs[:n] {
			p.lists = binary.AppendUvarint(p.lists, uint64(uint32(pair)-before))
			before = uint32(pair)
		}
		pairs = pairs[n:]
	}
	return p
}
