package title_test

import (
	"math"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/watch/title"
)

func TestKeyFoldsWhatIsTheSameTitle(t *testing.T) {
	for name, pair := range map[string][2]string{
		"width":         {"ＢＥＣＫ　２", "beck 2"},
		"case":          {"DOG DAYS", "Dog Days"},
		"punctuation":   {"Re:ゼロから始める異世界生活", "Ｒｅ：ゼロから始める異世界生活"},
		"kana":          {"アイドル", "あいどる"},
		"wave dash":     {"たまゆら～hitotose～", "たまゆら〜hitotose〜"},
		"half kana":     {"ｶﾞﾝﾀﾞﾑ", "ガンダム"},
		"roman numeral": {"ダンまちⅡ", "ダンまちII"},
		"traditional":   {"葬送的芙莉蓮", "葬送的芙莉莲"},
		"two to one":    {"頭髮發光", "头发发光"},
		"of Hong Kong":  {"銀河英雄傳說 衞星", "银河英雄传说 卫星"},
		"of Japan":      {"図書館戦争", "圖書館戰爭"},
	} {
		t.Run(name, func(t *testing.T) {
			if a, b := title.Key(pair[0]), title.Key(pair[1]); a != b {
				t.Errorf("Key(%q) = %q, Key(%q) = %q", pair[0], a, pair[1], b)
			}
		})
	}
	if title.Key("×××!") == "" || title.Key("けいおん") == title.Key("けいおんS") {
		t.Error("a key lost what makes the title")
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]title.Parsed{
		"夏目友人帐 第四季":                       {Full: "夏目友人帐 第四季", Base: "夏目友人帐", Outer: "夏目友人帐", Season: 4},
		"监狱兔 第一季 第4期":                     {Full: "监狱兔 第一季 第4期", Base: "监狱兔", Outer: "监狱兔 第一季", Season: 4},
		"てーきゅう(第3期)":                      {Full: "てーきゅう(第3期)", Base: "てーきゅう", Outer: "てーきゅう", Season: 3},
		"網球 3期":                           {Full: "網球 3期", Base: "網球", Outer: "網球", Season: 3},
		"World Trigger 2nd Season":        {Full: "world trigger 2nd season", Base: "world trigger", Outer: "world trigger", Season: 2},
		"ワールドトリガー 2ndシーズン":                {Full: "ワールドトリガー 2ndシーズン", Base: "ワールドトリガー", Outer: "ワールドトリガー", Season: 2},
		"One Room サードシーズン":                {Full: "one room サードシーズン", Base: "one room", Outer: "one room", Season: 3},
		"影鳄 Season 2":                     {Full: "影鳄 season 2", Base: "影鳄", Outer: "影鳄", Season: 2},
		"DOG DAYS S2":                     {Full: "dog days s2", Base: "dog days", Outer: "dog days", Season: 2},
		"RWBY Volume 5":                   {Full: "rwby volume 5", Base: "rwby", Outer: "rwby", Season: 5},
		"ハイスコアガールII":                      {Full: "ハイスコアガールii", Base: "ハイスコアガール", Outer: "ハイスコアガール", Season: 2, Bare: true},
		"ダンまちⅣ":                           {Full: "ダンまちiv", Base: "ダンまち", Outer: "ダンまち", Season: 4, Bare: true},
		"血液型くん！4":                         {Full: "血液型くん!4", Base: "血液型くん!", Outer: "血液型くん!", Season: 4, Bare: true},
		"蓝龙 2":                            {Full: "蓝龙 2", Base: "蓝龙", Outer: "蓝龙", Season: 2, Bare: true},
		"进击的巨人 第三季 Part.2":                {Full: "进击的巨人 第三季 part.2", Base: "进击的巨人", Outer: "进击的巨人 part.2", Season: 3, Part: 2},
		"Dr.STONE NEW WORLD(第2クール)":       {Full: "dr.stone new world(第2クール)", Base: "dr.stone new world", Outer: "dr.stone new world(第2クール)", Part: 2},
		"Re:ゼロ 2nd season 後半クール":          {Full: "re:ゼロ 2nd season 後半クール", Base: "re:ゼロ", Outer: "re:ゼロ 後半クール", Season: 2, Part: 2},
		"鬼灯の冷徹 第弐期その弐":                    {Full: "鬼灯の冷徹 第弐期その弐", Base: "鬼灯の冷徹", Outer: "鬼灯の冷徹 その弐", Season: 2, Part: 2},
		"進撃の巨人 The Final Season":          {Full: "進撃の巨人 the final season", Base: "進撃の巨人", Outer: "進撃の巨人 the final season", Final: true},
		"黄金神威 最终章":                        {Full: "黄金神威 最终章", Base: "黄金神威", Outer: "黄金神威 最终章", Final: true},
		"劇場版 銀魂":                          {Full: "劇場版 銀魂", Base: "銀魂", Outer: "劇場版 銀魂", Kind: title.Film},
		"sola (2007)":                     {Full: "sola", Base: "sola", Outer: "sola", Year: 2007},
		"[Oshi no Ko] Season 2":           {Full: "[oshi no ko] season 2", Base: "[oshi no ko]", Outer: "[oshi no ko]", Season: 2},
		"[Oshi no Ko] II":                 {Full: "[oshi no ko] ii", Base: "[oshi no ko]", Outer: "[oshi no ko]", Season: 2, Bare: true},
		"灯塔守望者[第二季]":                      {Full: "灯塔守望者 第二季", Base: "灯塔守望者", Outer: "灯塔守望者", Season: 2},
		"[S2] One Room [1080p]":           {Full: "one room s2", Base: "one room", Outer: "one room", Season: 2},
		"One Room [OVA]":                  {Full: "one room ova", Base: "one room", Outer: "one room ova", Kind: title.OVA},
		"[Group] One Room [1080p][BDRip]": {Full: "one room", Base: "one room", Outer: "one room"},
		"机神大战 - TV":                       {Full: "机神大战", Base: "机神大战", Outer: "机神大战"},
		"Some Show 1080p BDRip x265":      {Full: "some show", Base: "some show", Outer: "some show"},
		"【我推的孩子】":                         {Full: "【我推的孩子】", Base: "【我推的孩子】", Outer: "【我推的孩子】"},
		"完美世界 年番":                         {Full: "完美世界 年番", Base: "完美世界", Outer: "完美世界 年番", Yearly: true},
		"Wellber 第二幕":                     {Full: "wellber 第二幕", Base: "wellber", Outer: "wellber 第二幕", Part: 2},
		"きらりん STAGE3":                     {Full: "きらりん stage3", Base: "きらりん", Outer: "きらりん", Season: 3},
		"ソードガイ PartⅡ":                     {Full: "ソードガイ partii", Base: "ソードガイ", Outer: "ソードガイ partii", Part: 2},
		"野良神 OVA":                         {Full: "野良神 ova", Base: "野良神", Outer: "野良神 ova", Kind: title.OVA},
		"OVERLORD Ⅲ SP":                   {Full: "overlord iii sp", Base: "overlord", Outer: "overlord sp", Season: 3, Bare: true, Kind: title.Special},
		"影之实力者 第二季迷你动画":                   {Full: "影之实力者 第二季迷你动画", Base: "影之实力者", Outer: "影之实力者 迷你动画", Season: 2, Kind: title.Mini},
		"总集篇":                             {Full: "总集篇", Base: "总集篇", Outer: "总集篇"},
		"Casanova":                        {Full: "casanova", Base: "casanova", Outer: "casanova"},
		"12年2期生":                          {Full: "12年2期生", Base: "12年2期生", Outer: "12年2期生"},
		"第十二季 海":                          {Full: "第十二季 海", Base: "海", Outer: "海", Season: 12},
		"無職転生Ⅱ ～異世界行ったら本気だす～": {Full: "無職転生ii ~異世界行ったら本気だす~", Base: "無職転生 ~異世界行ったら本気だす", Outer: "無職転生 ~異世界行ったら本気だす", Season: 2, Bare: true},
		"The Second":   {Full: "the second", Base: "the second", Outer: "the second"},
		"R2D2":         {Full: "r2d2", Base: "r2d2", Outer: "r2d2"},
		"[C]":          {Full: "[c]", Base: "[c]", Outer: "[c]"},
		"東京マグニチュード8.0": {Full: "東京マグニチュード8.0", Base: "東京マグニチュード8.0", Outer: "東京マグニチュード8.0"},
		"宇宙戦艦ヤマト2199":  {Full: "宇宙戦艦ヤマト2199", Base: "宇宙戦艦ヤマト2199", Outer: "宇宙戦艦ヤマト2199"},
		"第二季":          {Full: "第二季", Base: "第二季", Outer: "第二季"},
		"1984":         {Full: "1984", Base: "1984", Outer: "1984"},
		"":             {},
	} {
		t.Run(text, func(t *testing.T) {
			if diff := cmp.Diff(want, title.Parse(text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSimilarityOrdersWhatPeopleWouldOrder(t *testing.T) {
	same := []struct{ a, b string }{{"贫穷姐妹物语", "贫穷妹物语"}, {"little busters", "little buters"}, {"寄宿学校的朱丽叶", "寄学校的朱丽叶"}}
	for _, p := range same {
		if s := title.Similarity(title.Key(p.a), title.Key(p.b)); s < 0.75 {
			t.Errorf("%q and %q: %.2f, a slip of the pen", p.a, p.b, s)
		}
	}
	other := []struct{ a, b string }{{"黑执事", "死神"}, {"the office", "one piece"}, {"夏目友人帐", "夏目漱石的妻子们"}}
	for _, p := range other {
		if s := title.Similarity(title.Key(p.a), title.Key(p.b)); s > 0.5 {
			t.Errorf("%q and %q: %.2f, other titles", p.a, p.b, s)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"夏目友人帐 第四季", "Re:ゼロ 2nd season 後半クール", "[a][b] c (2007)", "Ⅱ", "第", "\xff第2期"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := title.Parse(text)
		if title.Plain(text) != "" && (p.Base == "" || p.Full == "" || p.Outer == "") {
			t.Errorf("Parse(%q) lost the title: %+v", text, p)
		}
		if p.Season < 0 || p.Season > 99 || p.Part < 0 || p.Part > 99 {
			t.Errorf("Parse(%q) = %+v", text, p)
		}
		if k := title.Key(text); title.Key(k) != k && utf8.ValidString(text) {
			t.Errorf("Key(%q) = %q is not stable", text, k)
		}
	})
}

func FuzzSimilarity(f *testing.F) {
	f.Add("贫穷姐妹物语", "贫穷妹物语")
	f.Add("", "a")
	f.Fuzz(func(t *testing.T, a, b string) {
		s := title.Similarity(a, b)
		if math.IsNaN(s) || s < 0 || s > 1 {
			t.Fatalf("Similarity(%q, %q) = %v", a, b, s)
		}
		if back := title.Similarity(b, a); math.Abs(s-back) > 1e-12 {
			t.Errorf("not symmetric: %v and %v", s, back)
		}
		if a != "" && title.Similarity(a, a) != 1 {
			t.Errorf("%q is not like itself", a)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		title.Parse("Re：ゼロから始める異世界生活 2nd season 後半クール")
	}
}

func BenchmarkKey(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		title.Key("Re：ゼロから始める異世界生活 2nd season")
	}
}

func BenchmarkSimilarity(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		title.Similarity("ダンジョンに出会いを求めるのは間違っているだろうか", "ダンジョンに出会いを求めるのは間違っているだろうかii")
	}
}
