// Package titles is the index of the archive's titles: one file, made once, that finds
// the subjects of a title exactly, by its beginning, and in spite of slips of the pen.
//
// The file is never loaded: a look-up reads the few kilobytes it needs with ReadAt,
// which the page cache of the system answers in a microsecond, so the index costs
// next to no memory of the process and is ready as soon as it is open. It holds
//
//   - the folded titles, sorted, front-coded in blocks: equality and beginnings
//   - for each gram the titles it occurs in, as differences: likeness
//
// Titles are numbered in their order; a gram is two neighbouring runes where one of
// them is a Han character, which tells much, and three where the script tells little.
package titles

import (
	"encoding/binary"
	"hash/crc32"
)

// Kind is which of a subject's titles a title is.
type Kind uint8

// The kinds, in the order in which equal titles are found.
const (
	Name Kind = iota
	NameCN
	Alias
)

// Entry is one title of one subject. An index has a million, so its fields are small.
type Entry struct {
	Key     string // the title as title.Key folds it
	Subject uint32 // the id
	Type    uint8  // the catalog's number for anime or live action, below 16
	Kind    Kind
}

const (
	magic = "wmtitle1"
	// blockSize is how many titles share a block: the smallest unit that is read.
	blockSize = 32
	// dictionaryStep is how many grams lie between two that are kept in memory.
	dictionaryStep = 128
	// maxKey bounds a title in the index, in bytes.
	maxKey = 600
)

// header is the beginning of the file: where the sections are. All numbers are
// little endian.
type header struct {
	Magic      [8]byte
	Titles     uint32  // how many
	Grams      uint32  // how many
	Blocks     uint32  // how many
	Resident   section // what is read at opening
	BlockData  section
	Dictionary section
	Postings   section
	Checksum   uint32 // of the header before it
}

// section is a piece of the file.
type section struct{ Offset, Size uint64 }

const headerSize = 8 + 3*4 + 4*16 + 4

func (h *header) encode() []byte {
	buf := make([]byte, 0, headerSize)
	buf, _ = binary.Append(buf, binary.LittleEndian, h) // fixed size, cannot fail
	binary.LittleEndian.PutUint32(buf[headerSize-4:], checksum(buf[:headerSize-4]))
	return buf
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
