package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// minSecret is the length in bytes below which a value is not learnt: replacing
// every "abc" would make the log unreadable and hide nothing.
const minSecret = 6

// Masker takes secrets out of text: every value it was told, however encoded,
// and whatever stands in a field whose name says it is secret. The zero Masker
// knows no values and is ready to use. It may be used by several goroutines.
type Masker struct {
	mu       sync.Mutex
	values   map[string]bool
	replacer atomic.Pointer[strings.Replacer]
}

// Add makes value known: from now on Mask replaces it. Values shorter than six
// bytes are ignored; masking by field name covers those.
func (m *Masker) Add(value string) {
	if len(value) < minSecret {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values[value] {
		return
	}
	if m.values == nil {
		m.values = map[string]bool{}
	}
	m.values[value] = true
	seen := map[string]bool{}
	for v := range m.values {
		for _, form := range forms(v) {
			seen[form] = true
		}
	}
	all := make([]string, 0, len(seen))
	for form := range seen {
		all = append(all, form)
	}
	// The longest first: a secret that contains another one must go whole.
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	pairs := make([]string, 0, 2*len(all))
	for _, form := range all {
		pairs = append(pairs, form, Shown)
	}
	m.replacer.Store(strings.NewReplacer(pairs...))
}

// known replaces the values the masker was told.
func (m *Masker) known(text string) string {
	if r := m.replacer.Load(); r != nil {
		return r.Replace(text)
	}
	return text
}

// encoders are the ways a value is written inside something else.
var encoders = []func(string) string{
	url.QueryEscape,
	url.PathEscape,
	func(s string) string { return lowerHex(url.QueryEscape(s)) },
	func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") },
	jsonEscape,
	func(s string) string { q := strconv.Quote(s); return q[1 : len(q)-1] },
	func(s string) string { q := strconv.QuoteToASCII(s); return q[1 : len(q)-1] },
	jsonEscapeSlash,
	html.EscapeString,
}

// forms are the ways value may appear: as it is, encoded once or twice, and in
// base64 (itself or encoded before) at each of the three positions it can have
// inside a longer text.
func forms(value string) []string {
	once := encoded([]string{value})
	all := encoded(once)
	for _, text := range once {
		all = append(all, encoded(base64Forms(text))...)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(s string) bool { return len(s) < minSecret })
}

// encoded is texts and each of them in every encoding, without repeats.
func encoded(texts []string) []string {
	all := slices.Clone(texts)
	for _, text := range texts {
		for _, encode := range encoders {
			all = append(all, encode(text))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func base64Forms(value string) []string {
	var all []string
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := encoding.EncodeToString(append(make([]byte, before), value...))
			// The characters that also hold bits of the neighbours differ from case to case.
			from, to := (before*8+5)/6, (before+len(value))*8/6
			all = append(all, text[from:to])
		}
	}
	return all
}

func jsonEscape(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // not possible for a string
		return s
	}
	return string(b[1 : len(b)-1])
}

// jsonEscapeSlash is how encoders of other languages write it: "\/" and "\u4e2d".
func jsonEscapeSlash(s string) string {
	q := strconv.QuoteToASCII(s)
	return strings.ReplaceAll(q[1:len(q)-1], "/", `\/`)
}

func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i:], strings.ToLower(string(b[i:i+3])))
		}
	}
	return string(b)
}
