package dumptest

import (
	"bytes"
	"strconv"
)

// A maker makes the lines of the three large members. raw is scratch space
// for text before it is quoted.
type maker struct {
	*plan
	d   *dice
	raw []byte
}

func newMaker(p *plan) *maker {
	return &maker{plan: p, d: newDice(p.Seed)}
}

// appendSubject appends the line of subject i.
func (m *maker) appendSubject(b []byte, i int) []byte {
	if w, ok := m.watchableAt(i); ok {
		return m.appendShow(b, w)
	}
	return m.appendOther(b, i)
}

func (m *maker) appendShow(b []byte, w int) []byte {
	s := m.show(m.d, w)
	typ, tags, meta := 6, realTags, realMeta
	if s.anime {
		typ, tags, meta = 2, animeTags, animeMeta
	}
	b = appendInt(b, `{"id":`, s.id)
	b = appendInt(b, `,"type":`, typ)
	b = appendString(b, `,"name":`, s.name)
	b = appendString(b, `,"name_cn":`, s.nameCN)
	m.raw = s.infobox(m.raw[:0], m.d, int(m.rows[s.index]))
	if s.watchable%20 == 19 {
		m.raw = bytes.ReplaceAll(m.raw, []byte(newline), []byte("\n"))
	}
	b = append(b, `,"infobox":`...)
	b = appendQuoted(b, m.raw)
	b = appendInt(b, `,"platform":`, s.platform)
	phrase := s.own
	sentences := 1 + m.d.IntN(3)
	if w == m.Watchable/2 || m.d.IntN(4000) == 0 {
		// Real lines can be longer than the usual buffer of a scanner.
		sentences = 1000 + m.d.IntN(500)
	}
	b = m.appendSummary(b, &phrase, sentences)
	b = m.appendRatings(b, s.nsfw, tags, meta)
	b = appendString(b, `,"date":`, s.date)
	return m.appendFavorite(b, false)
}

// otherMarks follow the titles of books, albums and games.
var otherMarks = map[int][]string{
	1: {"", "", " (1)", " (2)", " 上", " 短編集"},
	3: {"", " オリジナルサウンドトラック", " Original Soundtrack", " 主題歌", " Vol.1"},
	4: {"", "", " Online", " HD Remaster", "2", " DLC"},
}

func (m *maker) appendOther(b []byte, i int) []byte {
	d := m.d
	typ := m.typeOf(i)
	var name, nameCN string
	if g, ok := m.bookOf[i]; ok {
		f := m.franchise(d, g)
		name = f.base(f.original())
		nameCN = f.base(chinese)
		d.reset(forOther, i)
	} else {
		d.reset(forOther, i)
		p := d.phrase()
		number := d.IntN(len(patterns))
		mark := pick(d, otherMarks[typ])
		name = p.title(number, pick(d, []script{japanese, japanese, japanese, chinese, english})) + mark
		if d.permille(400) {
			nameCN = p.title(number, chinese) + mark
		}
	}
	p := d.phrase()
	p.coinedLen = 3
	kind, platform, fields, tags, meta := "animanga/Manga", 1001, bookFields, bookTags, bookMeta
	switch typ {
	case 1:
		if d.permille(400) {
			kind, platform = "animanga/Novel", 1002
		}
	case 3:
		kind, platform, fields, tags, meta = "Album", 0, musicFields, musicTags, musicMeta
	case 4:
		kind, platform, fields, tags, meta = "Game", 4001, gameFields, gameTags, gameMeta
	}
	day := lastDay - d.IntN(lastDay-firstDay)
	b = appendInt(b, `{"id":`, subjectID(i))
	b = appendInt(b, `,"type":`, typ)
	b = appendString(b, `,"name":`, name)
	b = appendString(b, `,"name_cn":`, nameCN)
	m.raw = append(m.raw[:0], "{{Infobox "...)
	m.raw = append(m.raw, kind...)
	m.raw = append(m.raw, "\r\n|中文名= "...)
	m.raw = append(m.raw, nameCN...)
	m.raw = append(m.raw, "\r\n|别名={\r\n}\r\n|发售日= "...)
	m.raw = appendDayCN(m.raw, day)
	m.raw = append(m.raw, newline...)
	m.raw = appendFields(m.raw, d, fields, &p, sound)
	m.raw = append(m.raw, "}}"...)
	b = append(b, `,"infobox":`...)
	b = appendQuoted(b, m.raw)
	b = appendInt(b, `,"platform":`, platform)
	b = m.appendSummary(b, &p, d.IntN(4))
	b = m.appendRatings(b, d.permille(60), tags, meta)
	b = append(b, `,"date":"`...)
	if !d.permille(80) {
		b = appendDay(b, day)
	}
	b = append(b, '"')
	return m.appendFavorite(b, typ == 1 && d.permille(150))
}

// appendSummary appends a summary of some sentences.
func (m *maker) appendSummary(b []byte, p *phrase, count int) []byte {
	m.raw = m.raw[:0]
	for k := range count {
		if k > 0 {
			m.raw = append(m.raw, newline...)
		}
		m.raw = m.appendSentence(m.raw, p)
	}
	b = append(b, `,"summary":`...)
	return appendQuoted(b, m.raw)
}

func (m *maker) appendSentence(b []byte, p *phrase) []byte {
	d := m.d
	p.noun, p.noun2 = d.IntN(len(nouns)), d.IntN(len(nouns))
	p.place, p.given = d.IntN(len(places)), d.IntN(len(givens))
	text := pick(d, sentences)
	s := chinese
	switch text[0] {
	case 'W':
		s = english
	default:
		if isKana(text) {
			s = japanese
		}
	}
	return p.appendFilled(b, text, s)
}

func isKana(text string) bool {
	for _, r := range text {
		if r >= 0x3041 && r <= 0x30ff {
			return true
		}
	}
	return false
}

var (
	animeTags = []string{"TV", "原创", "漫画改", "小说改", "校园", "恋爱", "奇幻", "科幻", "战斗", "治愈", "搞笑", "日常", "悬疑", "机战", "运动", "音乐", "百合", "2010年代", "MADHOUSE", "京都アニメーション"}
	realTags  = []string{"日剧", "美剧", "国产剧", "韩剧", "电影", "悬疑", "爱情", "喜剧", "古装", "犯罪", "医疗", "家庭", "职场", "历史", "综艺", "科幻", "Netflix", "BBC", "HBO", "漫画改"}
	bookTags  = []string{"漫画", "轻小说", "少女", "少年", "青年", "恋爱", "推理", "短篇", "连载中", "已完结", "百合", "奇幻"}
	musicTags = []string{"OST", "J-POP", "动画音乐", "VOCALOID", "东方", "同人", "ACG", "单曲", "专辑", "钢琴"}
	gameTags  = []string{"RPG", "ADV", "galgame", "ACT", "PC", "Switch", "PS4", "steam", "独立", "策略"}
	animeMeta = []string{"TV", "日本", "漫画改", "原创", "科幻", "奇幻", "恋爱", "OVA", "剧场版", "WEB", "中国"}
	realMeta  = []string{"日剧", "欧美剧", "华语剧", "电影", "电视剧", "美国", "日本", "中国", "韩国", "悬疑"}
	bookMeta  = []string{"漫画", "小说", "日本", "中国"}
	musicMeta = []string{"日本", "OST"}
	gameMeta  = []string{"游戏", "PC", "日本"}
)

// appendRatings appends the fields from nsfw to rank.
func (m *maker) appendRatings(b []byte, nsfw bool, tags, meta []string) []byte {
	d := m.d
	b = append(b, `,"nsfw":`...)
	b = strconv.AppendBool(b, nsfw)
	b = append(b, `,"tags":[`...)
	count := d.IntN(200)
	first := d.IntN(len(tags))
	for k := range min(d.IntN(7), len(tags)) {
		if k > 0 {
			b = append(b, ',')
		}
		b = appendString(b, `{"name":`, tags[(first+k*3)%len(tags)])
		b = appendInt(b, `,"count":`, 1+count/(k+1))
		b = append(b, '}')
	}
	b = append(b, `],"meta_tags":[`...)
	first = d.IntN(len(meta))
	for k := range d.IntN(3) {
		if k > 0 {
			b = append(b, ',')
		}
		b = appendQuoted(b, meta[(first+k)%len(meta)])
	}
	score, votes := 30+d.IntN(60), d.IntN(400)*d.IntN(12)/(1+d.IntN(12))
	if votes < 3 {
		score, votes = 0, 0
	}
	b = appendInt(b, `],"score":`, score/10)
	b = append(b, '.', byte('0'+score%10))
	b = append(b, `,"score_details":{`...)
	for n := 1; n <= 10; n++ {
		if n > 1 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = strconv.AppendInt(b, int64(n), 10)
		off := n - score/10
		b = appendInt(b, `":`, votes/(1+off*off))
	}
	rank := 0
	if votes > 30 {
		rank = 1 + d.IntN(12000)
	}
	return appendInt(b, `},"rank":`, rank)
}

// appendFavorite appends the fields after date and ends the line.
func (m *maker) appendFavorite(b []byte, series bool) []byte {
	d := m.d
	n := 1 + d.IntN(600)
	b = appendInt(b, `,"favorite":{"wish":`, d.IntN(n))
	b = appendInt(b, `,"done":`, d.IntN(n*3))
	b = appendInt(b, `,"doing":`, d.IntN(n))
	b = appendInt(b, `,"on_hold":`, d.IntN(n))
	b = appendInt(b, `,"dropped":`, d.IntN(n))
	b = append(b, `},"series":`...)
	b = strconv.AppendBool(b, series)
	return append(b, '}', '\n')
}
