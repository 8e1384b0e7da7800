package device_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"watchmark/internal/source/device"
)

// shown is a reading in short: kind, season, episodes; a problem in its place.
func shown(r device.Reading) string {
	text := string(r.Kind)
	if r.Season != nil {
		text += fmt.Sprintf(" S%d", *r.Season)
	}
	for _, n := range r.Episodes {
		text += fmt.Sprintf(" %v", n)
	}
	if !r.Problem.IsZero() {
		return string(r.Kind) + "!"
	}
	return text
}

func TestEpisodesAreRead(t *testing.T) {
	const show = "灯塔守望者"
	for _, c := range []struct{ title, label, url, want string }{
		// Patterns of upstreams/device.md, section 6.
		{show, "S01E07", "", "episode S1 7"}, {show, "S1 E07", "", "episode S1 7"}, {show, "s02.e07", "", "episode S2 7"}, {show, "S02E07.mkv", "", "episode S2 7"},
		{show, "EP07", "", "episode 7"}, {show, "EP 07", "", "episode 7"}, {show, "ep-07", "", "episode 7"}, {show, "E07", "", "episode 7"},
		{show, "第07集", "", "episode 7"}, {show, "第7话", "", "episode 7"}, {show, "第07話", "", "episode 7"}, {show, "第7章", "", "episode 7"}, {show, "第7回", "", "episode 7"},
		{show, "第１２集", "", "episode 12"}, {show, "第1024集", "", "episode 1024"}, {show, "第十二集", "", "episode 12"}, {show, "第一百零三话", "", "episode 103"}, {show, "第二十集", "", "episode 20"},
		{show, "#07", "", "episode 7"}, {show, "[07]", "", "episode 7"}, {show, "(07)", "", "episode 7"}, {show, "【07】", "", "episode 7"}, {show, "（07）", "", "episode 7"},
		{show, "07", "", "episode 7"}, {show, "07.mp4", "", "episode 7"}, {show, "7", "", "episode 7"}, {show, "07v2", "", "episode 7"}, {show, "12 END", "", "episode 12"}, {show, "12集", "", "episode 12"},
		{show, "[12.3GB] 07.mp4", "", "episode 7"}, {show, "正在播放：第07集", "", "episode 7"}, {show, "Playing: 07", "", "episode 7"}, {show, "Now Playing：EP3", "", "episode 3"},
		{show, "灯塔守望者 07", "", "episode 7"}, {show, "灯塔守望者07", "", "episode 7"}, {show, "Show - 07 [1080p].mkv", "", "episode 7"}, {show, "[Group] Show - 07 [1080p][x264].mkv", "", "episode 7"},
		{show, "[Group][Show][07][1080p].mkv", "", "episode 7"}, {show, "07 1080P", "", "episode 7"}, {"86", "86 - 07", "", "episode 7"}, {"86", "EP07", "", "episode 7"}, {"1", "12", "", "episode 12"}, {"86", "86", "", "film"},
		{show, "第27集", "", "episode 27"},
		// Words that lean on the number, and what parts it from other words.
		{show, "07国语", "", "episode 7"}, {show, "超清07", "", "episode 7"}, {show, "第07集国语", "", "episode 7"}, {show, "12大结局", "", "episode 12"}, {show, "12终", "", "episode 12"}, {show, "正片07", "", "episode 7"}, {show, "[Group][Show][07_END][1080p].mkv", "", "episode 7"}, {show, "第12集完结", "", "episode 12"}, {show, "第12集(完结)", "", "episode 12"},
		{show, "07.重逢", "", "episode 7"}, {show, "07-重逢", "", "episode 7"}, {show, "07、重逢", "", "episode 7"}, {show, "07. The Return", "", "episode 7"}, {show, "Show.07.1080p.AAC2.0.mkv", "", "episode 7"}, {show, "07.mkv.mp4", "", "episode 7"}, {show, "1.2G 07.mkv", "", "episode 7"},
		{show, "第7话「2人」", "", "episode 7"}, {show, "#7「100の約束」", "", "episode 7"}, {show, "第07集 幕后黑手", "", "episode 7"}, {show, "Folge 7", "", "episode 7"},
		// Where the scheme of the Python project goes wrong.
		{show, "07", "https://cdn.example/v/3f2a9.m3u8", "episode 7"}, {show, "第03集", "https://cdn.example/20240519-e7.m3u8", "episode 3"},
		{show, "Show.2024.1080p.x264.mkv", "", "unread!"}, {show, "全12集", "", "unread!"}, {show, "S00E02", "", "special S0 2"}, {show, "S00E02", "https://cdn.example/S01E02.mkv", "special S0 2"},
		{show, "更新至07集", "", "unread!"}, {show, "已更新7集", "", "unread!"}, {show, "12集完结", "", "unread!"}, {show, "第7集 更新至8集", "", "episode 7"}, {show, "更新至第07集", "", "unread!"}, {show, "12集全", "", "unread!"}, {show, "全集", "", "unread!"}, {show, "共十二集", "", "unread!"},
		{show, "2024", "", "unread!"}, {show, "20240519", "", "unread!"}, {show, "2024-05-19", "", "unread!"}, {show, "Show H.265 10bit", "", "unread!"}, {show, "Show 12 24", "", "unread!"},
		{show, "3f2a9", "", "unread!"}, {show, "1080P 07 HD", "", "episode 7"},
		{show, "7/12", "", "unread!"}, {show, "第7期", "", "unread!"}, {show, "2024-05-19 第7期", "", "unread!"}, {show, "线路2", "", "unread!"}, {show, "大结局", "", "unread!"}, {show, "07a", "", "unread!"},
		{show, "Part 2", "", "unread!"}, {show, "Vol.7", "", "unread!"}, {show, "Disc 2", "", "unread!"}, {show, "CD2", "", "unread!"}, {show, "第二部", "", "unread!"},
		// Several episodes, specials, extras.
		{show, "01-02", "", "episode 1 2"}, {show, "第01-02集", "", "episode 1 2"}, {show, "EP01-EP02", "", "episode 1 2"}, {show, "S01E01-E02", "", "episode S1 1 2"}, {show, "01-12", "", "unread!"}, {show, "第1-12集", "", "unread!"},
		{show, "第01集-第02集", "", "episode 1 2"}, {show, "第12、13集", "", "episode 12 13"}, {show, "EP01E02", "", "episode 1 2"}, {show, "S01E01-S01E02", "", "episode S1 1 2"}, {show, "2-03", "", "unread!"}, {show, "05-19", "", "unread!"},
		{show, "12.5", "", "special 12.5"}, {show, "第12.5集", "", "special 12.5"}, {show, "SP1", "", "special S0 1"}, {show, "SP", "", "special!"}, {show, "OVA 2", "", "ova 2"}, {show, "OVA", "", "ova!"}, {show, "[OVA][02]", "", "ova 2"}, {show, "[SP][1080p]", "", "special!"},
		{show, "特别篇", "", "special!"}, {show, "特别篇2", "", "special S0 2"}, {show, "特别篇 第二集", "", "special S0 2"}, {show, "番外篇 第2集", "", "special S0 2"}, {show, "EP07 Special Day", "", "episode 7"},
		{show + " 第二季", "SP1", "", "special S0 1"},
		{show, "第07集预告", "", "extra!"}, {show, "第07集片花", "", "extra!"}, {show, "速看第07集", "", "extra!"}, {show, "NCOP1", "", "extra!"}, {show, "PV2", "", "extra!"}, {show, "花絮", "", "extra!"},
		{show, "EP07 PV", "", "extra!"}, {show, "S01E07.NCOP.mkv", "", "extra!"}, {show, "EP07 Preview", "", "extra!"}, {show, "EP07 OP", "", "episode 7"}, {show, "07 ED", "", "extra!"},
		// Seasons.
		{show + " 第二季", "第07集", "", "episode S2 7"}, {show + "第2期", "07", "", "episode S2 7"}, {"Lighthouse Season 3", "07", "", "episode S3 7"}, {"Lighthouse 2nd Season", "07", "", "episode S2 7"},
		{"Lighthouse S2", "07", "", "episode S2 7"}, {show + " 2", "07", "", "episode 7"}, {"Lighthouse II", "07", "", "episode 7"}, {show + " 第二季", "S01E07", "", "episode S2 7"}, {show, "第二季 第07集", "", "episode S2 7"},
		{show + " 第二季", "12.5", "", "special S2 12.5"},
		{show + "[第二季]", "07", "", "episode S2 7"}, {"【第二季】" + show, "07", "", "episode S2 7"}, {show + "【S2】", "07", "", "episode S2 7"}, {show + "（第二季）", "07", "", "episode S2 7"}, {"【" + show + "】第二季", "07", "", "episode S2 7"},
		{show, "S2第07集", "", "episode S2 7"}, {show, "S2-07", "", "episode S2 7"}, {show, "[Group] Show S2 - 07 [1080p].mkv", "", "episode S2 7"}, {show, "2nd Season 07", "", "episode S2 7"}, {show, "Season 2/07.mp4", "", "episode S2 7"},
		// A number behind the name in the label is the season, unless the title has one behind its name, too.
		{show, "Lighthouse II - 07", "", "episode S2 7"}, {show, "[Group] Lighthouse 2 [07][1080p].mkv", "", "episode S2 7"}, {show + "4", "Lighthouse 4 - 07", "", "episode 7"}, {"八十六", "86 - 07 [1080p]", "", "episode 7"},
		// A title that names a file names the episode, too.
		{show + " 第07集", "", "", "episode 7"}, {show + "第二季第07集", "HD", "", "episode S2 7"}, {show + " 第07集", show + " 第07集", "", "episode 7"}, {"The.Lighthouse.S02E07.1080p.mkv", "", "", "episode S2 7"},
		{"[Group] Lighthouse - 07 [1080p].mkv", "", "", "episode 7"}, {"第07集", "", "", "unread!"}, {show + " 更新至第07集", "", "", "unread!"}, {"Lighthouse 13", "", "", "film"}, {"Lighthouse - 2049", "", "", "film"},
		// Films.
		{"灯塔守望者 剧场版", "", "", "film"}, {show, "", "", "film"}, {show, show, "", "film"}, {show, "HD", "", "film"}, {show, "正片", "", "film"}, {show, "BD", "", "film"}, {show, "TC", "", "film"}, {show, "HD中字", "", "film"},
		{show, "1080P", "", "film"}, {show, "4K 国语", "", "film"}, {"灯塔守望者 剧场版", "第1集", "", "film"}, {"灯塔守望者 剧场版", "第2集", "", "episode 2"}, {"Lighthouse The Movie", "HD", "", "film"},
		{"灯塔守望者 第二季", "", "", "unread!"}, {"灯塔守望者 全12集", "HD", "", "unread!"}, {show, "电影", "", "film"}, {show, show + " HD", "", "film"},
		{show, "BD1280高清中字", "", "film"}, {show, "HD1080P中英双字", "", "film"}, {show, "正片(国语)", "", "film"}, {show, "The.Movie.1080p.mkv", "", "film"}, {show, "剧场版2", "", "unread!"},
		// Addresses are misleading.
		{show, "", "https://cdn.example/20240519/1080/a7f3.m3u8", "film"}, {show, "", "http://127.0.0.1:9978/proxy?do=1&url=ep07", "film"}, {show, "", "https://cdn.example/20240519-e7.m3u8", "film"},
		{show, "", "https://cdn.example/Show.S01E07.1080p.mkv", "episode S1 7"}, {show, "", "https://cdn.example/%E7%AC%AC07%E9%9B%86.mp4", "episode 7"}, {show, "线路一", "https://cdn.example/EP07.mp4?sig=12", "episode 7"},
		{show, "", "https://cdn.example/123.m3u8", "film"}, {show, "线路一", "https://cdn.example/123.m3u8", "unread!"}, {show, "", "https://cdn.example/550e8400-e290-41d4-a716-446655440000.m3u8", "film"}, {show, "", "https://cdn.example/S01E07.Trailer.mp4", "film"}, {show, "正片", "https://cdn.example/S01E07.mkv", "film"}, {show, "", "magnet:?xt=urn:btih:e12", "film"}, {show, "", "://", "film"},
		// Live channels.
		{"CCTV-1 综合", "新闻联播", "", "live!"}, {"CCTV8", "灯塔守望者 第7集", "", "live!"}, {"湖南卫视", "", "", "live!"}, {"湖南卫视 HD", "", "", "live!"}, {"东方卫视(HD)", "", "", "live!"}, {"卫视风云", "第07集", "", "episode 7"}, {"动漫频道", "", "", "live!"}, {"某频道", "第07集", "", "episode 7"},
		{"", "07", "", "unread!"}, {" \u200b", "07", "", "unread!"},
	} {
		r := device.Read(c.title, c.label, c.url)
		if got := shown(r); got != c.want {
			t.Errorf("%q, %q, %q: %s (from %s, %s; %s), want %s", c.title, c.label, c.url, got, r.From, r.How, r.Problem, c.want)
		}
	}
}

func TestTitlesAreCleaned(t *testing.T) {
	for raw, want := range map[string]string{
		"灯塔守望者": "灯塔守望者", "灯塔守望者 第二季": "灯塔守望者 第二季", "灯塔守望者 1080P": "灯塔守望者", "灯塔守望者(2024)": "灯塔守望者 (2024)", "灯塔守望者（2024年）": "灯塔守望者 (2024)", "【2024】灯塔守望者 HD": "灯塔守望者 (2024)", "灯塔守望者 2024": "灯塔守望者 2024", "(2024)": "(2024)",
		"灯塔守望者 第二季 1080P 国语 完结": "灯塔守望者 第二季", "灯塔守望者国语": "灯塔守望者", "灯塔守望者[HD]": "灯塔守望者", "【某站】灯塔守望者": "灯塔守望者", "灯塔守望者 更新至07集": "灯塔守望者",
		"灯塔守望者 全12集": "灯塔守望者", "🔥灯塔守望者🔥": "灯塔守望者", "灯塔\u0007守望者": "灯塔 守望者", "国语": "国语", "【国语】": "【国语】", "【灯塔守望者】第二季": "灯塔守望者 第二季", "[Lighthouse] Season 2": "Lighthouse Season 2", "灯塔守望者【第二季】": "灯塔守望者 第二季", "【剧场版】灯塔守望者": "灯塔守望者 剧场版", "[OVA][某站]灯塔守望者": "灯塔守望者 OVA", "[4K]": "[4K]", "Lighthouse HD": "Lighthouse", "らき☆すた": "らき☆すた",
		"灯塔守望者 12集全": "灯塔守望者", "完结": "完结", "灯塔守望者 (无字幕)": "灯塔守望者", "86": "86", "灯塔守望者 完结篇": "灯塔守望者 完结篇", "灯塔守望者 S02E07": "灯塔守望者 S02E07", "HD": "HD", "  ": "",
	} {
		if got := device.Read(raw, "07", "").Title; got != want {
			t.Errorf("%q becomes %q, want %q", raw, got, want)
		}
	}
	if r := device.Read("The.Lighthouse.S02E07.1080p.mkv", "", ""); r.Title != "The Lighthouse" || r.From != "title" {
		t.Errorf("the title of a file becomes %q, from %s", r.Title, r.From)
	}
	if r := device.Read("灯塔守望者 第二季", "07", ""); r.Base != "灯塔守望者" {
		t.Errorf("the base is %q", r.Base)
	}
	if r := device.Read("灯塔守望者 真人版", "07", ""); !r.LiveAction {
		t.Error("real people are not seen")
	}
}

func TestEventsOfAReading(t *testing.T) {
	for _, c := range []struct{ title, label, want string }{
		{"灯塔守望者 第二季", "第01-02集", "episode S2 1, episode S2 2"}, {"灯塔守望者", "07", "episode 7"}, {"灯塔守望者", "SP1", "episode S0 1"}, {"灯塔守望者", "OVA 2", "ova 2"},
		{"灯塔守望者 真人版", "07", "real_action 7"}, {"灯塔守望者 剧场版", "HD", "movie"},
	} {
		var all []string
		for _, e := range device.Read(c.title, c.label, "").Events("Living Box", "7c1de0aa55ab90f1", time.Unix(0, 0)) {
			text := string(e.Media)
			if e.Season != nil {
				text += fmt.Sprintf(" S%d", *e.Season)
			}
			if e.Episode != nil {
				text += fmt.Sprintf(" %v", *e.Episode)
			}
			all = append(all, text)
		}
		if got := strings.Join(all, ", "); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.title, c.label, got, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"灯塔守望者 第二季", "S01E07-E08", "第十二集", "[12.3GB] 07.mp4", "https://cdn.example/a%zz/S01E02.mkv", "全12集", "CCTV-1", "01-02", "\xff", ""} {
		f.Add(seed, seed, seed)
	}
	f.Fuzz(func(t *testing.T, title, label, address string) {
		r := device.Read(title, label, address)
		if strings.ContainsFunc(r.Title, unicode.IsControl) {
			t.Errorf("the title is %q", r.Title)
		}
		if !r.Problem.IsZero() {
			return
		}
		events := r.Events("Living Box", "7c1de0aa55ab90f1", time.Unix(0, 0))
		if len(events) == 0 {
			t.Fatalf("%+v has neither a problem nor events", r)
		}
		for _, e := range events {
			if err := e.Validate(); err != nil {
				t.Errorf("%+v gives an event that is refused: %v", r, err)
			}
		}
	})
}
