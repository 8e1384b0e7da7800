package title

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// syllables are the ways a syllable is written in Latin letters, by Hepburn and kunrei, with its kana.
var syllables = func() map[string]string {
	table := map[string]string{
		"a": "あ", "i": "い", "u": "う", "e": "え", "o": "お", "n": "ん", "wa": "わ", "wo": "お", "fu": "ふ", "hu": "ふ",
		"shi": "し", "chi": "ち", "tsu": "つ", "ji": "じ", "zi": "じ", "di": "じ", "zu": "ず", "du": "ず", "dzu": "ず", "vu": "ゔ",
		"ya": "や", "yu": "ゆ", "yo": "よ", "fa": "ふぁ", "fi": "ふぃ", "fe": "ふぇ", "fo": "ふぉ", "she": "しぇ", "che": "ちぇ", "je": "じぇ",
		"va": "ゔぁ", "vi": "ゔぃ", "ve": "ゔぇ", "vo": "ゔぉ", "wi": "うぃ", "we": "うぇ",
	}
	vowels := "aiueo"
	for consonant, row := range map[string]string{
		"k": "かきくけこ", "g": "がぎぐげご", "s": "さしすせそ", "z": "ざじずぜぞ", "t": "たちつてと", "d": "だじずでど", "n": "なにぬねの",
		"h": "はひふへほ", "b": "ばびぶべぼ", "p": "ぱぴぷぺぽ", "m": "まみむめも", "r": "らりるれろ",
	} {
		kana := []rune(row)
		for i, vowel := range vowels {
			table[consonant+string(vowel)] = string(kana[i])
		}
		for small, vowel := range map[string]string{"ゃ": "a", "ゅ": "u", "ょ": "o"} {
			table[consonant+"y"+vowel] = string(kana[1]) + small
		}
	}
	for small, vowel := range map[string]string{"ゃ": "a", "ゅ": "u", "ょ": "o"} {
		table["sh"+vowel], table["ch"+vowel], table["j"+vowel], table["jy"+vowel] = "し"+small, "ち"+small, "じ"+small, "じ"+small
	}
	return table
}()

// vowelOf is the vowel that a kana ends with, as the kana of that vowel.
var vowelOf = func() map[rune]rune {
	table := map[rune]rune{}
	for vowel, row := range map[rune]string{
		'あ': "あかがさざただなはばぱまやらわぁゃ", 'い': "いきぎしじちにひびぴみりぃ", 'う': "うくぐすずつぬふぶぷむゆるゔぅゅ",
		'え': "えけげせぜてでねへべぺめれぇ", 'お': "おこごそぞとどのほぼぽもよろぉょ",
	} {
		for _, kana := range row {
			table[kana] = vowel
		}
	}
	return table
}()

// Reading is how a title in kana, or in Latin letters that spell Japanese, is read: in hiragana without long vowels, digits as
// they are. "Hōseki no Kuni", "Houseki no Kuni" and "ほうせきのくに" have one reading. It is empty for every other title; latin
// tells that the title is not in kana.
func Reading(text string) (reading string, latin bool) {
	plain := Plain(text)
	first, _ := utf8.DecodeRuneInString(plain)
	if isKana(fold(first)) {
		return kanaReading(plain), false
	}
	if plain == "" || unicode.Is(unicode.Han, first) {
		return "", false
	}
	return latinReading(plain), true
}

func isKana(r rune) bool { return 'ぁ' <= r && r <= 'ゔ' || r == 'ー' }

func kanaReading(plain string) string {
	var b reading
	for _, r := range plain {
		switch r = fold(r); {
		case r == 'ー', r < 0:
		case '0' <= r && r <= '9':
			b.add(r)
		case !isKana(r):
			return ""
		case r == 'を':
			b.add('お')
		case r == 'ぢ':
			b.add('じ')
		case r == 'づ':
			b.add('ず')
		default:
			b.add(r)
		}
	}
	return string(b)
}

func latinReading(plain string) string {
	var b reading
	var letters strings.Builder
	for _, r := range norm.NFD.String(plain) {
		if !unicode.Is(unicode.Mn, r) {
			letters.WriteRune(r)
		}
	}
	for rest := letters.String(); rest != ""; {
		c := rest[0]
		switch {
		case '0' <= c && c <= '9':
			b.add(rune(c))
			rest = rest[1:]
			continue
		case c >= utf8.RuneSelf:
			return ""
		case c < 'a' || c > 'z': // spaces and marks; one behind n ends the syllable
			rest = rest[1:]
			continue
		}
		if len(rest) > 1 && strings.IndexByte("kstpcgzjdbfrmh", c) >= 0 {
			if rest[1] == c || strings.HasPrefix(rest, "tch") {
				if c == 'm' { // as in "amma"
					b.add('ん')
				} else {
					b.add('っ')
				}
				rest = rest[1:]
				continue
			}
			if c == 'm' && (rest[1] == 'b' || rest[1] == 'p') {
				b.add('ん')
				rest = rest[1:]
				continue
			}
		}
		size := 0
		for n := min(3, len(rest)); n > 0; n-- {
			if kana, is := syllables[rest[:n]]; is {
				for _, r := range kana {
					b.add(r)
				}
				size = n
				break
			}
		}
		if size == 0 {
			return ""
		}
		rest = rest[size:]
	}
	return string(b)
}

// reading is hiragana without long vowels.
type reading []rune

// add appends a kana, unless it only makes the one before it long.
func (r *reading) add(kana rune) {
	if n := len(*r); n > 0 {
		switch before := vowelOf[(*r)[n-1]]; {
		case before == 0:
		case kana == before, kana == 'う' && before == 'お':
			return
		}
	}
	*r = append(*r, kana)
}
