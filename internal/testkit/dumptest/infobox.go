package dumptest

import "strconv"

// A damage is a fault of an infobox which makes the site's parser refuse it.
type damage uint8

const (
	sound damage = iota
	noEnd
	barLess
	openList
	bareItem
	openItem
)

// damage tells what is wrong with the infobox of a show; for a few shows in a
// thousand something is.
func (s *show) damage() damage {
	h := mix(uint64(s.id) ^ mix(s.own.hash()))
	if h%1000 >= 5 {
		return sound
	}
	return damage(1 + h>>32%5)
}

func (p *phrase) hash() uint64 {
	return uint64(p.noun)<<20 ^ uint64(p.noun2)<<10 ^ uint64(p.adjective)<<30 ^ uint64(p.genre)
}

const newline = "\r\n"

// appendAliases appends the 别名 of an infobox in one of the forms which the
// site has, and gives the values a lenient parser finds there.
func appendAliases(b []byte, d *dice, aliases []alias, broken damage) ([]byte, []string) {
	switch {
	case len(aliases) == 0 && d.IntN(3) > 0:
		return append(b, pick(d, []string{"|别名= \r\n", "|别名={\r\n}\r\n", "|别名={\r\n[]\r\n}\r\n"})...), nil
	case len(aliases) == 0 && broken < openList:
		return b, nil
	case len(aliases) == 1 && broken < openList && d.IntN(2) > 0:
		b = append(b, "|别名= "...)
		b = append(b, aliases[0].value...)
		return append(b, newline...), []string{aliases[0].value}
	}
	var found []string
	b = append(b, "|别名={\r\n"...)
	for n, a := range aliases {
		if d.permille(15) {
			b = append(b, pick(d, []string{"[]\r\n", "[英文名|]\r\n", "\r\n"})...)
		}
		lost := n == len(aliases)/2 && (broken == bareItem || broken == openItem)
		if !lost || broken == openItem {
			b = append(b, '[')
		}
		if a.key != "" {
			b = append(b, a.key...)
			b = append(b, '|')
		}
		b = append(b, a.value...)
		if !lost {
			b = append(b, ']')
			found = append(found, a.value)
		}
		b = append(b, newline...)
	}
	if broken != openList {
		b = append(b, "}\r\n"...)
	}
	return b, found
}

type field struct{ key, value string }

// The fields below the titles; values are templates of a phrase.
var (
	animeFields = []field{
		{"放送星期", "星期六"}, {"官方网站", "https://www.%c.example/?title=%c&id=12"}, {"播放电视台", "TOKYO MX"},
		{"其他电视台", "AT-X、BS11"}, {"原作", "%f%g《%n》"}, {"导演", "%f%g"}, {"系列构成", "%f%g"}, {"脚本", "%f%g、%f%g"},
		{"音乐", "%g"}, {"人物设定", "%f%g"}, {"美术监督", "%f%g"}, {"音响监督", "%f%g"}, {"动画制作", "スタジオ%c"},
		{"主题歌编曲", "%g"}, {"制作", "%c製作委員会"}, {"Copyright", "© %c/%n製作委員会"}, {"其他", ""},
	}
	realFields = []field{
		{"国家/地区", "中国大陆"}, {"语言", "汉语普通话"}, {"每集长", "45分钟"}, {"频道", "%p卫视"}, {"电视网", "%c TV"},
		{"官方网站", "https://%c.example/show?id=7&lang=zh"}, {"导演", "%f%g"}, {"编剧", "%f%g、%g"}, {"主演", "%f%g、%g、%g"},
		{"音乐", "%g"}, {"制作", "%c影业"}, {"类型", "剧情 / %s"}, {"imdb_id", "tt0000000"}, {"tv_website", ""},
		{"摄影", "%f%g、%g"}, {"剪辑", "%f%g"}, {"出品人", "%f%g、%f%g"}, {"台湾名称", ""}, {"美术", "%g"},
	}
	bookFields = []field{
		{"出版社", "%c書店"}, {"其他出版社", "%p出版社"}, {"连载杂志", "月刊%c"}, {"作者", "%f%g"}, {"作画", "%g"}, {"页数", "192"},
		{"ISBN", "978-4-00-000000-0"}, {"价格", "¥680"}, {"书系", "%c文庫"}, {"插图", "%f%g"}, {"官网", "https://%c.example/?p=3"}, {"其他", "<%n> & <%m>"},
		{"译者", "%f%g"}, {"开始", ""}, {"册数", "7"}, {"话数", "41"}, {"编辑", "%f%g、%g"}, {"装帧", "%g"}, {"版权方", "%c株式会社"},
	}
	musicFields = []field{
		{"艺术家", "%f%g"}, {"作曲", "%g"}, {"编曲", "%g"}, {"作词", "%f%g"}, {"厂牌", "%c Records"}, {"版本特性", "CD"}, {"碟片数量", "1"},
		{"播放时长", "72:14"}, {"录音", "%p"}, {"价格", "¥3,300"}, {"条码", "4500000000000"},
		{"制作人", "%f%g、%f%g"}, {"吉他", "%f%g"}, {"钢琴", "%f%g"}, {"混音", "%f%g"}, {"链接", "https://%c.example/album?id=4&lang=ja"}, {"插图", "%g"},
	}
	gameFields = []field{
		{"平台", "PC"}, {"游戏类型", "%s"}, {"游戏引擎", "%c Engine"}, {"游玩人数", "1"}, {"售价", "¥7,800"}, {"website", "https://%c.example/?g=%c"},
		{"开发", "%c"}, {"发行", "%c Soft"}, {"剧本", "%f%g"}, {"音乐", "%g"}, {"原画", "%f%g"}, {"程序", "%g"}, {"CERO", "B"},
		{"导演", "%f%g"}, {"企画", "%f%g、%g"}, {"主题歌演出", "%f%g"}, {"关卡设计", "%g"}, {"制作总指挥", "%f%g"},
	}
)

// appendFields appends the remaining fields of an infobox, each with names of
// its own; barLess puts a line between which is no field.
func appendFields(b []byte, d *dice, fields []field, p *phrase, broken damage) []byte {
	for n, f := range fields {
		if broken == barLess && n == 2 {
			b = append(b, "（接上行）"...)
			b = append(b, newline...)
		}
		if n%4 == 3 && d.permille(250) {
			continue
		}
		b = append(b, '|')
		b = append(b, f.key...)
		b = append(b, "= "...)
		at := len(b)
		p.given, p.family = d.IntN(len(givens)), d.IntN(len(families))
		p.coined[0], p.coined[1] = uint8(d.IntN(len(syllables))), uint8(d.IntN(len(syllables)))
		s := chinese
		if f.value != "" && f.value[0] == 'h' {
			s = english
		}
		b = p.appendFilled(b, f.value, s)
		if at == len(b) && d.permille(200) {
			b = append(b, '*')
		}
		b = append(b, newline...)
	}
	return b
}

// infobox appends the raw text of a show's infobox.
func (s *show) infobox(b []byte, d *dice, episodes int) []byte {
	kind, fields := "real/Television", realFields
	counter, opening := "集数", "开始"
	switch {
	case s.anime && s.platform == 3:
		kind, fields = "animanga/Movie", animeFields
		counter, opening = "话数", "上映年度"
	case s.anime && s.platform == 2:
		kind, fields = "animanga/OVA", animeFields
		counter, opening = "话数", "发售日"
	case s.anime:
		kind, fields = "animanga/TVAnime", animeFields
		counter, opening = "话数", "放送开始"
	case s.platform == 6002:
		kind, opening = "real/Movie", "上映日"
	}
	b = append(b, "{{Infobox "...)
	b = append(b, kind...)
	b = append(b, newline...)
	b = append(b, "|中文名= "...)
	b = append(b, s.nameCN...)
	b = append(b, newline...)
	aliases := s.aliases(d)
	broken := s.damage()
	b, _ = appendAliases(b, d, aliases, broken)
	d.reset(forText, s.index)
	b = append(b, '|')
	b = append(b, counter...)
	b = append(b, "= "...)
	if episodes == 0 {
		b = append(b, '*')
	} else {
		b = strconv.AppendInt(b, int64(episodes), 10)
	}
	b = append(b, newline...)
	b = append(b, '|')
	b = append(b, opening...)
	b = append(b, "= "...)
	if s.date != "" {
		b = appendDayCN(b, s.day)
	}
	b = append(b, newline...)
	p := s.own
	p.coinedLen = 3
	b = appendFields(b, d, fields, &p, broken)
	if broken == noEnd {
		return b
	}
	return append(b, "}}"...)
}
