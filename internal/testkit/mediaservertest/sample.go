package mediaservertest

import (
	"fmt"
	"strconv"
	"time"
)

// sampleSeason is a season of the built-in library; its episodes are a week apart.
type sampleSeason struct {
	title, original string
	number, from    int // from is the number of the first episode
	episodes        int
	first           string
}

// sampleSeasons are shows that the sample of catalogtest has as well, numbered as media servers number them.
var sampleSeasons = []sampleSeason{
	{"灯塔守望者", "灯台守のうた", 1, 1, 12, "2024-01-10"},
	{"灯塔守望者", "灯台守のうた", 2, 1, 12, "2025-01-08"},
	{"灯塔守望者", "灯台守のうた", 0, 1, 2, "2024-05-01"},
	{"沙漏之城", "砂時計の街", 1, 1, 12, "2024-04-06"},
	{"沙漏之城", "砂時計の街", 1, 13, 12, "2024-10-05"},
	{"深海电车", "深海電車", 1, 1, 12, "2022-07-02"},
	{"深海电车", "深海電車", 2, 1, 12, "2023-07-01"},
	{"第零个约定", "零番目の約束", 1, 0, 13, "2023-10-04"},
	{"月影茶馆", "月影茶屋", 1, 1, 12, "2022-04-07"},
	{"发条王国", "ネジ巻き王国", 1, 1, 4, "2024-07-12"},
	{"发条王国", "ネジ巻き王国", 1, 5, 4, "2024-08-16"}, // a summary came between
}

// Sample is a server with a library of what the sample of catalogtest has, besides a home video and a song.
func Sample(kind Kind, users ...User) Config {
	cfg := Config{Kind: kind, Users: users, Libraries: []Library{
		{ID: sampleID(kind, 1), Name: "动画", Kind: "show"}, {ID: sampleID(kind, 2), Name: "电影", Kind: "movie"},
		{ID: sampleID(kind, 3), Name: "家庭录像", Kind: "homevideos"}, {ID: sampleID(kind, 4), Name: "音乐", Kind: "music"},
	}}
	shows := map[string]string{}
	for _, one := range sampleSeasons {
		id, known := shows[one.title]
		day, err := time.Parse(time.DateOnly, one.first)
		if err != nil {
			panic(err) // it is written above
		}
		if !known {
			id = sampleID(kind, 100+len(shows))
			shows[one.title] = id
			cfg.Shows = append(cfg.Shows, Show{ID: id, Library: cfg.Libraries[0].ID, Title: one.title, Original: one.original, Year: day.Year(),
				IDs: map[string]string{"Tvdb": strconv.Itoa(910000 + len(shows))}})
		}
		for n := range one.episodes {
			cfg.Items = append(cfg.Items, Item{Library: cfg.Libraries[0].ID, Show: id, Title: fmt.Sprintf("第 %d 集", one.from+n),
				Season: one.number, Episode: one.from + n, Date: day.AddDate(0, 0, 7*n).Format(time.DateOnly),
				IDs: map[string]string{"Tvdb": strconv.Itoa(9200000 + len(cfg.Items))}})
		}
	}
	cfg.Items = append(cfg.Items,
		Item{Library: cfg.Libraries[1].ID, Title: "剧场版 灯塔守望者 北之光", Original: "劇場版 灯台守のうた 北の光", Date: "2025-09-12", Length: 100 * time.Minute, IDs: map[string]string{"Tmdb": "930001"}},
		Item{Library: cfg.Libraries[2].ID, Title: "海边", Date: "2024-08-01", Length: 7 * time.Minute},
		Item{Library: cfg.Libraries[3].ID, Title: "灯塔之歌", Date: "2024-03-27", Length: 4 * time.Minute})
	return cfg
}

// sampleID is an id of the form that a kind has.
func sampleID(kind Kind, n int) string {
	if kind == Jellyfin || kind == FnOS {
		return fmt.Sprintf("%032x", 0xf0000000+int64(n))
	}
	return strconv.Itoa(n)
}
