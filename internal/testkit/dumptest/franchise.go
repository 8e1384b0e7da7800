package dumptest

import (
	"strconv"
	"strings"
	"time"
)

type origin uint8

const (
	fromJapan origin = iota
	fromChina
	fromWest
	fromKorea
)

// A franchise is what its seasons and extras have in common.
type franchise struct {
	origin  origin
	phrase  phrase
	number  int  // of the pattern
	day     int  // of the first season, in days since 1970
	gap     int  // days from season to season
	mark    int  // how seasons are told apart
	goesOn  bool // numbers the episodes on from season to season
	counted bool // calls its first season the first in Chinese
	chinese bool // has a Chinese title
	and     bool // writes & for "and"
}

var (
	firstDay = dayOf(1960, 1, 1)
	lastDay  = dayOf(2026, 12, 28)
)

func dayOf(year int, month time.Month, day int) int {
	return int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

func (p *plan) franchise(d *dice, number int32) franchise {
	g := p.groups[number]
	d.reset(forFranchise, int(number))
	f := franchise{phrase: d.phrase()}
	if g.anime {
		f.origin = pick(d, []origin{fromJapan, fromJapan, fromJapan, fromJapan, fromJapan, fromJapan, fromJapan, fromChina, fromChina, fromWest})
		f.number = pick(d, animePatterns)
	} else {
		f.origin = pick(d, []origin{fromChina, fromChina, fromChina, fromChina, fromWest, fromWest, fromWest, fromJapan, fromJapan, fromKorea})
		f.number = pick(d, realPatterns)
	}
	if f.number == 7 && d.permille(800) {
		f.phrase.coinedLen = 4 + d.IntN(2)
	}
	// The later a year, the more shows.
	u := d.Float64()
	f.day = lastDay - int(u*u*float64(lastDay-firstDay))
	if d.permille(600) {
		t := time.Unix(int64(f.day)*86400, 0).UTC()
		f.day = dayOf(t.Year(), 1+(t.Month()-1)/3*3, 1+d.IntN(14))
	}
	f.gap = pick(d, []int{182, 364, 364, 371, 546, 728, 728, 1092})
	f.mark = d.IntN(8)
	// The last member is to start before lastDay.
	f.day = min(f.day, lastDay-int(g.size-1)*f.gap-d.IntN(300))
	f.counted = f.origin == fromWest && f.mark%2 == 0 && !oneOff(p.platform[p.members[g.first]])
	f.goesOn = d.permille(150)
	f.chinese = d.permille(780)
	f.and = d.permille(250)
	return f
}

// base gives the title without the marks of a season.
func (f *franchise) base(s script) string {
	title := f.phrase.title(f.number, s)
	if f.and && s == english {
		title = strings.ReplaceAll(title, " and ", " & ")
	}
	return title
}

var (
	ordinals = []string{"", "1st", "2nd", "3rd", "4th", "5th"}
	romans   = []string{"", "Ⅰ", "Ⅱ", "Ⅲ", "Ⅳ", "Ⅴ"}
	latin    = []string{"", "I", "II", "III", "IV", "V"}
	numerals = []string{"", "一", "二", "三", "四", "五"}
)

// seasonMark gives what follows the base title of season n; own is the phrase
// of that season.
func (f *franchise) seasonMark(n int, own *phrase, s script) string {
	if n == 1 {
		if s == chinese && f.counted {
			return " 第一季"
		}
		return ""
	}
	k := strconv.Itoa(n)
	switch s {
	case japanese:
		return []string{" 第" + k + "期", " " + ordinals[n] + " Season", " " + romans[n], " " + k, " Season " + k,
			" 第" + numerals[n] + "期", own.filled(" %a%n編", japanese), " 第" + numerals[n] + "章 " + own.filled("%m", japanese)}[f.mark]
	case chinese:
		return []string{" 第" + numerals[n] + "季", " 第" + k + "季", " " + romans[n], k, " 第" + numerals[n] + "季",
			" 第" + numerals[n] + "季", own.filled(" %a%n篇", chinese), " 第" + numerals[n] + "章 " + own.filled("%m", chinese)}[f.mark]
	default:
		return []string{" Season " + k, " " + ordinals[n] + " Season", " " + latin[n], " " + k, " Season " + k,
			" Season " + k, own.filled(": The %a %n", english), " Part " + k + ": " + own.filled("%m", english)}[f.mark]
	}
}

// memberTitle puts together the title of a season or extra. base is the
// franchise's title in that script.
func (f *franchise) memberTitle(base string, r role, place int, own *phrase, s script) string {
	switch {
	case r == season:
		return base + f.seasonMark(place+1, own, s)
	case r == film && s == japanese:
		return "劇場版 " + base + own.filled(" %a%n", s)
	case r == film && s == chinese:
		return "剧场版 " + base + own.filled(" %a%n", s)
	case r == film:
		return base + own.filled(": The %a %n", english)
	case r == ova && s == japanese:
		return base + own.filled(" OVA %a%m", s)
	case r == ova && s == chinese:
		return base + own.filled(" OVA %a%m", s)
	case r == ova:
		return base + own.filled(" OVA: %m", english)
	case r == special && s == japanese:
		return base + own.filled(" 特別編「%n」", s)
	case r == special && s == chinese:
		return base + own.filled(" 特别篇 %n", s)
	case r == special:
		return base + own.filled(" Special <%n>", english)
	case s == japanese:
		return base + own.filled(" 総集編 %m", s)
	case s == chinese:
		return base + own.filled(" 总集篇 %m", s)
	default:
		return base + own.filled(" Recap: %m", english)
	}
}
