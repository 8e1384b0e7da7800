package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"html"
	"maps"
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

// passingMost is how many values are known that nobody holds. A service has some ten of them in use at a time.
const passingMost = 256

// Masker takes secrets out of text: every value it was told, however encoded,
// and whatever stands in a field whose name says it is secret. The zero Masker
// knows no values and is ready to use. It may be used by several goroutines.
type Masker struct {
	mu       sync.Mutex
	values   map[string]*value
	held     map[string][]string // by owner
	adds     uint64
	replacer atomic.Pointer[strings.Replacer]
}

// value is what is known of a secret.
type value struct {
	forms   []string
	holders int
	added   uint64 // the number of the last Add or Hold
}

// Add makes text known: from now on Mask replaces it. Texts shorter than six
// bytes are ignored; masking by field name covers those. One that nobody holds is
// forgotten when 256 others were added after it, so add a token at each use of it.
func (m *Masker) Add(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.learn(text) {
		m.rebuild()
	}
}

// Hold makes texts known until the next Hold of the same owner. What owner held before and does not hold any
// more stays known as if it was added now: it may still turn up in what is logged.
func (m *Masker) Hold(owner string, texts ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	texts = slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return len(text) < minSecret })
	for _, text := range texts {
		m.learn(text)
		m.values[text].holders++
	}
	for _, text := range m.held[owner] {
		m.learn(text)
		m.values[text].holders--
	}
	if m.held == nil {
		m.held = map[string][]string{}
	}
	if m.held[owner] = texts; len(texts) == 0 {
		delete(m.held, owner)
	}
	m.rebuild()
}

// learn notes that text was added, and reports whether it is new. The caller holds mu.
func (m *Masker) learn(text string) (isNew bool) {
	if len(text) < minSecret {
		return false
	}
	v, known := m.values[text]
	if !known {
		if m.values == nil {
			m.values = map[string]*value{}
		}
		v = &value{forms: forms(text)}
		m.values[text] = v
	}
	m.adds++
	v.added = m.adds
	return !known
}

// rebuild forgets what is too much, and has the rest replaced. The caller holds mu.
func (m *Masker) rebuild() {
	var passing []string
	for text, v := range m.values {
		if v.holders == 0 {
			passing = append(passing, text)
		}
	}
	if excess := len(passing) - passingMost; excess > 0 {
		slices.SortFunc(passing, func(a, b string) int { return cmp.Compare(m.values[a].added, m.values[b].added) })
		for _, text := range passing[:excess] {
			delete(m.values, text)
		}
	}
	seen := map[string]bool{}
	for _, v := range m.values {
		for _, form := range v.forms {
			seen[form] = true
		}
	}
	// The longest first: a secret that contains another one must go whole.
	all := slices.SortedFunc(maps.Keys(seen), func(a, b string) int {
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
