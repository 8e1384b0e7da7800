package titles

import "unicode"

// The runes that stand for the beginning and the end of a title.
const (
	begin = '\x02'
	end   = '\x03'
)

// maxGrams bounds the grams of one title.
const maxGrams = 250

// appendGrams adds the grams of key, hashed, some of them maybe twice.
func appendGrams(grams []uint32, key string) []uint32 {
	// A window of three runes moves over the key and its two marks.
	var a, b rune = 0, begin
	n := 0
	add := func(c rune) {
		if a != 0 {
			n++
			switch {
			case isDense(a) || isDense(b):
				grams = append(grams, hash(a, b, 0))
			case c == 0:
				grams = append(grams, hash(a, b, 0))
			default:
				grams = append(grams, hash(a, b, c))
			}
		}
		a, b = b, c
	}
	for _, r := range key {
		if n == maxGrams {
			return grams
		}
		add(r)
	}
	add(end)
	add(0)
	return grams
}

// isDense reports whether one rune of a script tells about as much as two of the others.
func isDense(r rune) bool {
	return r >= 0x2E80 && (r >= 0x4E00 && r <= 0x9FFF || unicode.Is(unicode.Han, r) || unicode.Is(unicode.Hangul, r))
}

// hash mixes three runes; two grams of one hash only make a look-up look at more titles.
func hash(a, b, c rune) uint32 {
	h := uint64(uint32(a))<<42 ^ uint64(uint32(b))<<21 ^ uint64(uint32(c))
	h *= 0x9E3779B97F4A7C15
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	return uint32(h >> 32)
}
