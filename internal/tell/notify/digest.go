package notify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"watchmark/internal/platform/bilingual"
	"watchmark/internal/tell/notify/channel"
)

// The bounds of a digest.
const (
	digestAbove = 3  // so many notices are told one by one
	digestLines = 20 // kinds and notices
	digestKinds = 8
	titleKinds  = 3
	lineMost    = 160 // characters
)

// parcel is what goes out as one message.
type parcel struct {
	channel Channel
	rule    Rule // zero for what goes past the rules
	message string
	entries []Entry
	digest  bool
	first   int64     // the id of its oldest delivery
	tries   int       // with this one
	since   time.Time // of the first try; zero when this is it
	// dropped is how many notices were left out before; only a digest tells.
	dropped int
}

// compose is the message of a parcel.
func (p parcel) compose(l bilingual.Language, base string) channel.Message {
	m := channel.Message{ID: p.message, Kind: string(p.entries[0].Kind), Count: len(p.entries), At: p.entries[0].At, Language: l, Page: inboxPage}
	for _, e := range p.entries {
		if e.At.After(m.At) {
			m.At = e.At
		}
		if string(e.Kind) != m.Kind {
			m.Kind = ""
		}
	}
	if !p.digest {
		m.Title, m.Text = p.entries[0].messageBy(l, base, p.rule)
		m.Link, m.Page, m.Facts = p.entries[0].link(base), p.entries[0].pageToShow(), p.entries[0].facts(l)
		return m
	}
	kinds := p.sorted(l, base)
	m.Facts = kinds[0].first.facts(l)
	if m.Kind == "" {
		delete(m.Facts, "type_name")
	}
	if base != "" {
		m.Link = strings.TrimRight(base, "/") + inboxPage
	}
	m.Title = digestTitle(l, len(p.entries), kinds)
	m.Text = strings.Join(p.digestText(l, kinds, m.Link), "\n")
	return m
}

// ofKind are the notices of one kind in a digest.
type ofKind struct {
	info  KindInfo
	first Entry
	count int
	lines []line
}

// line is a title, and how often it comes.
type line struct {
	title string
	count int
}

// sorted are the notices of a digest by kind, the most important first.
func (p parcel) sorted(l bilingual.Language, base string) []*ofKind {
	var kinds []*ofKind
	places := map[Kind]*ofKind{}
	lines := map[Kind]map[string]int{}
	for _, e := range p.entries {
		k := places[e.Kind]
		if k == nil {
			k = &ofKind{info: InfoOf(e.Kind), first: e}
			places[e.Kind], lines[e.Kind] = k, map[string]int{}
			kinds = append(kinds, k)
		}
		k.count++
		title, _ := e.messageBy(l, base, p.rule)
		at, known := lines[e.Kind][title]
		if !known {
			at = len(k.lines)
			lines[e.Kind][title] = at
			k.lines = append(k.lines, line{title: title})
		}
		k.lines[at].count++
	}
	slices.SortStableFunc(kinds, func(a, b *ofKind) int {
		return cmp.Or(cmp.Compare(b.info.Severity, a.info.Severity), cmp.Compare(b.count, a.count))
	})
	return kinds
}

func digestTitle(l bilingual.Language, count int, kinds []*ofKind) string {
	title, between := fmt.Sprintf("%d notices", count), ", "
	if l == bilingual.Chinese {
		title, between = fmt.Sprintf("%d 条通知", count), "、"
	}
	if len(kinds) == 1 {
		return title + partMark + kinds[0].info.Name(l)
	}
	var names []string
	for _, k := range kinds[:min(len(kinds), titleKinds)] {
		names = append(names, fmt.Sprintf("%s %d", k.info.Name(l), k.count))
	}
	if len(kinds) > titleKinds {
		names = append(names, "…")
	}
	return title + partMark + strings.Join(names, between)
}

// digestText are the lines of a digest: each kind with its count, and the first of its notices.
func (p parcel) digestText(l bilingual.Language, kinds []*ofKind, link string) []string {
	var out []string
	told := 0
	between := ": "
	if l == bilingual.Chinese {
		between = "："
	}
	shown := kinds[:min(len(kinds), digestKinds)]
	room := digestLines - len(shown)
	for i, k := range shown {
		out = append(out, fmt.Sprintf("%s%s%d", k.info.Name(l), between, k.count))
		// A fair share of what is left; what a kind does not need falls to the next ones.
		lines := k.lines[:min(len(k.lines), max(1, room/(len(shown)-i)))]
		room -= len(lines)
		for _, one := range lines {
			text := "- " + cutRunes(one.title, lineMost)
			if one.count > 1 {
				text += fmt.Sprintf(" ×%d", one.count)
			}
			out = append(out, text)
			told += one.count
		}
	}
	if more := len(p.entries) - told; more > 0 {
		out = append(out, moreLine(l, more, link))
	}
	if p.dropped > 0 && l == bilingual.Chinese {
		out = append(out, fmt.Sprintf("等待发送的通知超过 %d 条，另有 %d 条较早的未发送。", maxWaiting, p.dropped))
	} else if p.dropped > 0 {
		out = append(out, fmt.Sprintf("%d older notices were not sent, for more than %d waited.", p.dropped, maxWaiting))
	}
	return out
}

func moreLine(l bilingual.Language, more int, link string) string {
	switch {
	case l == bilingual.Chinese && link == "":
		return fmt.Sprintf("还有 %d 条，见通知列表。", more)
	case l == bilingual.Chinese:
		return fmt.Sprintf("还有 %d 条：%s", more, link)
	case link == "":
		return fmt.Sprintf("and %d more: see the inbox", more)
	}
	return fmt.Sprintf("and %d more: see %s", more, link)
}

// cutRunes is text in at most so many characters; what is cut ends with "…".
func cutRunes(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
