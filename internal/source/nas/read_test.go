package nas_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"watchmark/internal/source/nas"
	"watchmark/internal/testkit/nastest"
	"watchmark/internal/watch"
)

func ptr[T any](v T) *T { return &v }

// TestRowsBecomeEvents holds upstreams/nas.md, section 4: what is told of each kind of item.
func TestRowsBecomeEvents(t *testing.T) {
	at := time.Now().Add(-time.Hour).Truncate(time.Second).UTC()
	lamp := watch.Event{Title: "灯塔守望者", OriginalTitle: "灯台守のうた", SeriesIDs: watch.IDs{"tmdb": "77", "imdb": "tt77", "tvdb": "5"}}
	cases := []struct {
		name    string
		item    nastest.Columns // of the item "it"
		kind    string
		parent  string
		title   string
		without []string
		want    watch.Event // zero: it is skipped
		why     string
	}{
		{name: "an episode has the titles and ids of its show, and its own day", kind: "Episode", parent: "s2", title: "第七夜",
			item: nastest.Columns{"season_number": 2, "episode_number": 7, "original_title": "episode's own", "release_date": "2025-02-19", "tmdb_id": 12, "episode_imdb_id": "tt12", "imdb_id": "tt77"},
			want: watch.Event{Title: lamp.Title, OriginalTitle: lamp.OriginalTitle, SeriesIDs: lamp.SeriesIDs, SeasonTitle: "灯塔守望者 第二季", Season: ptr(2), Episode: ptr(7.0), EpisodeTitle: "第七夜",
				AirDate: watch.Date{Year: 2025, Month: 2, Day: 19}, ItemIDs: watch.IDs{"tmdb": "12", "imdb": "tt12"}}},
		{name: "what the show's ids are, an episode's are not", kind: "Episode", parent: "s2", title: "x", item: nastest.Columns{"episode_number": 1, "tmdb_id": 77},
			want: watch.Event{Title: lamp.Title, OriginalTitle: lamp.OriginalTitle, SeriesIDs: lamp.SeriesIDs, SeasonTitle: "灯塔守望者 第二季", Season: ptr(2), Episode: ptr(1.0), EpisodeTitle: "x"}},
		{name: "specials stay season 0, without a day none is made up", kind: "episode", parent: "s0", title: "島の休日", item: nastest.Columns{"season_number": 0, "episode_number": 1},
			want: watch.Event{Title: lamp.Title, OriginalTitle: lamp.OriginalTitle, SeriesIDs: lamp.SeriesIDs, Season: ptr(0), Episode: ptr(1.0), EpisodeTitle: "島の休日"}},
		{name: "a season of the season's row", kind: "Episode", parent: "s0", title: "x", item: nastest.Columns{"episode_number": 2, "air_date": "2024"},
			want: watch.Event{Title: lamp.Title, OriginalTitle: lamp.OriginalTitle, SeriesIDs: lamp.SeriesIDs, Season: ptr(0), Episode: ptr(2.0), EpisodeTitle: "x", AirDate: watch.Date{Year: 2024}}},
		{name: "no level of seasons is season 1", kind: "Episode", parent: "show", title: "x", item: nastest.Columns{"episode_number": 3},
			want: watch.Event{Title: lamp.Title, OriginalTitle: lamp.OriginalTitle, SeriesIDs: lamp.SeriesIDs, Season: ptr(1), Episode: ptr(3.0), EpisodeTitle: "x"}},
		{name: "no level of seasons, but a number", kind: "Episode", parent: "show", title: "x", item: nastest.Columns{"episode_number": 3, "season_number": 2},
			want: watch.Event{Title: lamp.Title, OriginalTitle: lamp.OriginalTitle, SeriesIDs: lamp.SeriesIDs, Season: ptr(2), Episode: ptr(3.0), EpisodeTitle: "x"}},
		{name: "numbers that are no numbers are none", kind: "Episode", parent: "show", title: "第9话", item: nastest.Columns{"episode_number": "", "season_number": "n/a"},
			want: watch.Event{Title: lamp.Title, OriginalTitle: lamp.OriginalTitle, SeriesIDs: lamp.SeriesIDs, Season: ptr(1), Episode: ptr(9.0), EpisodeTitle: "第9话"}},
		{name: "a negative number is none", kind: "Episode", parent: "s2", title: "x", item: nastest.Columns{"episode_number": 4, "season_number": -1},
			want: watch.Event{Title: lamp.Title, OriginalTitle: lamp.OriginalTitle, SeriesIDs: lamp.SeriesIDs, SeasonTitle: "灯塔守望者 第二季", Season: ptr(2), Episode: ptr(4.0), EpisodeTitle: "x"}},
		{name: "the season that the episode says, not that of its row", kind: "Episode", parent: "s2", title: "x", item: nastest.Columns{"episode_number": 4, "season_number": 0},
			want: watch.Event{Title: lamp.Title, OriginalTitle: lamp.OriginalTitle, SeriesIDs: lamp.SeriesIDs, SeasonTitle: "灯塔守望者 第二季", Season: ptr(0), Episode: ptr(4.0), EpisodeTitle: "x"}},
		{name: "a folder between season and show", kind: "Episode", parent: "s1", title: "x", item: nastest.Columns{"episode_number": 4},
			want: watch.Event{Title: lamp.Title, OriginalTitle: lamp.OriginalTitle, SeriesIDs: lamp.SeriesIDs, Season: ptr(1), Episode: ptr(4.0), EpisodeTitle: "x"}},
		{name: "a folder in a season", kind: "Episode", parent: "disc", title: "x", item: nastest.Columns{"episode_number": 4},
			want: watch.Event{Title: lamp.Title, OriginalTitle: lamp.OriginalTitle, SeriesIDs: lamp.SeriesIDs, SeasonTitle: "灯塔守望者 第二季", Season: ptr(2), Episode: ptr(4.0), EpisodeTitle: "x"}},
		{name: "the day of a time", kind: "Episode", parent: "s1", title: "x", item: nastest.Columns{"episode_number": 4, "release_date": "", "air_date": "2024-05-01 12:30:00"},
			want: watch.Event{Title: lamp.Title, OriginalTitle: lamp.OriginalTitle, SeriesIDs: lamp.SeriesIDs, Season: ptr(1), Episode: ptr(4.0), EpisodeTitle: "x", AirDate: watch.Date{Year: 2024, Month: 5, Day: 1}}},
		{name: "the number of the file name", kind: "Episode", parent: "s2", title: "视频-x", item: nastest.Columns{"filename": "a.S02E05.mkv", "path": "/media/a/a.S02E05.mkv"},
			want: watch.Event{Title: lamp.Title, OriginalTitle: lamp.OriginalTitle, SeriesIDs: lamp.SeriesIDs, SeasonTitle: "灯塔守望者 第二季", Season: ptr(2), Episode: ptr(5.0), Path: "/media/a/a.S02E05.mkv"}},
		{name: "a season's row without a number", kind: "Episode", parent: "unnumbered", title: "x", item: nastest.Columns{"episode_number": 4},
			want: watch.Event{Title: lamp.Title, OriginalTitle: lamp.OriginalTitle, SeriesIDs: lamp.SeriesIDs, Episode: ptr(4.0), EpisodeTitle: "x"}},
		{name: "the season of the file name", kind: "Episode", parent: "show", title: "x", item: nastest.Columns{"episode_number": 4, "filename": "a.S02E04.mkv"},
			want: watch.Event{Title: lamp.Title, OriginalTitle: lamp.OriginalTitle, SeriesIDs: lamp.SeriesIDs, Season: ptr(2), Episode: ptr(4.0), EpisodeTitle: "x"}},
		{name: "an episode without a number", kind: "Episode", parent: "s2", title: "x", why: "an episode without a number"},
		{name: "an episode whose show is gone", kind: "Episode", parent: "nowhere", title: "x", item: nastest.Columns{"episode_number": 1}, why: "its show is not in the library"},
		{name: "an episode whose season is there, but no show", kind: "Episode", parent: "orphan", title: "x", item: nastest.Columns{"episode_number": 1}, why: "its show is not in the library"},
		{name: "an episode of a show without a title", kind: "Episode", parent: "untitled", title: "x", item: nastest.Columns{"episode_number": 1}, why: "its numbers or names are not plausible"},
		{name: "an episode of an unrecognised show", kind: "Episode", parent: "unknown", title: "x", item: nastest.Columns{"episode_number": 1}, why: "not recognised by the NAS, and its file name names no show and episode"},
		{name: "parents that go round", kind: "Episode", parent: "it", title: "x", item: nastest.Columns{"episode_number": 1}, why: "its show is not in the library"},
		{name: "a film", kind: "Movie", title: "灯塔守望者 北之光", item: nastest.Columns{"original_title": "北の光", "release_date": "2024-08-01", "tmdb_id": 5, "imdb_id": "tt5", "episode_number": 0},
			want: watch.Event{Media: watch.Movie, Title: "灯塔守望者 北之光", OriginalTitle: "北の光", AirDate: watch.Date{Year: 2024, Month: 8, Day: 1}, ItemIDs: watch.IDs{"tmdb": "5", "imdb": "tt5"}}},
		{name: "a film in a folder", kind: "Movie", parent: "folder", title: "f", want: watch.Event{Media: watch.Movie, Title: "f"}},
		{name: "a show", kind: "TV", title: "x", why: "a whole show, season or folder"},
		{name: "a folder", kind: "Directory", title: "x", why: "a whole show, season or folder"},
		{name: "a type that is not known, with a number", kind: "Clip", title: "x", item: nastest.Columns{"episode_number": 1}, why: "its show is not in the library"},
		{name: "a type that is not known, in a show", kind: "Clip", parent: "show", title: "x", why: "an episode without a number"},
		{name: "a type that is not known, by itself", kind: "Clip", title: "北之光", want: watch.Event{Media: watch.Movie, Title: "北之光"}},
		{name: "a season", kind: "Season", parent: "show", title: "x", why: "a whole show, season or folder"},
		{name: "an unrecognised file, by its name", kind: "Video", title: "视频-1024", item: nastest.Columns{"filename": "[g] 砂時計の街 - S01E02.mkv"},
			want: watch.Event{Title: "砂時計の街", Season: ptr(1), Episode: ptr(2.0)}},
		{name: "an unrecognised file, named elsewhere", kind: "video", title: "x", item: nastest.Columns{"guid": "with-media"},
			want: watch.Event{Title: "深海电车", Episode: ptr(5.0), ItemID: "with-media"}},
		{name: "an unrecognised file without a number", kind: "Video", title: "x", item: nastest.Columns{"filename": "holiday.mkv"}, why: "not recognised by the NAS, and its file name names no show and episode"},
		{name: "an unrecognised file without a title", kind: "Video", title: "x", item: nastest.Columns{"filename": "S01E02.mkv"}, why: "not recognised by the NAS, and its file name names no show and episode"},
		{name: "an unrecognised file that bears the placeholder", kind: "Video", title: "x", item: nastest.Columns{"filename": "视频-1 S01E02.mkv"}, why: "not recognised by the NAS, and its file name names no show and episode"},
		{name: "a placeholder of any type", kind: "Movie", title: "视频-2", item: nastest.Columns{"filename": "holiday.mkv"}, why: "not recognised by the NAS, and its file name names no show and episode"},
		{name: "an absurd number", kind: "Episode", parent: "show", title: "x", item: nastest.Columns{"episode_number": 1e9}, why: "its numbers or names are not plausible"},
		{name: "a film without a title", kind: "Movie", title: "", why: "its numbers or names are not plausible"},
		{name: "no column for types: an episode", without: []string{"item.type"}, parent: "s2", title: "x", item: nastest.Columns{"episode_number": 7},
			want: watch.Event{Title: lamp.Title, OriginalTitle: lamp.OriginalTitle, SeriesIDs: lamp.SeriesIDs, SeasonTitle: "灯塔守望者 第二季", Season: ptr(2), Episode: ptr(7.0), EpisodeTitle: "x"}},
		{name: "no column for types: no level of seasons", without: []string{"item.type"}, parent: "show", title: "x", item: nastest.Columns{"episode_number": 7},
			want: watch.Event{Title: lamp.Title, OriginalTitle: lamp.OriginalTitle, SeriesIDs: lamp.SeriesIDs, Season: ptr(1), Episode: ptr(7.0), EpisodeTitle: "x"}},
		{name: "no column for types: a film", without: []string{"item.type"}, title: "北之光", want: watch.Event{Media: watch.Movie, Title: "北之光"}},
		{name: "hardly any columns", kind: "Movie", title: "北之光", without: []string{"user", "item_media", "media_stream", "item_user_play.visible", "item_user_play.ts", "item.parent_guid", "item.season_number",
			"item.episode_number", "item.runtime", "item.tmdb_id", "item.imdb_id", "item.external_ids", "item.path", "item.filename", "item.original_title", "item.release_date", "item.air_date", "item.episode_imdb_id"},
			want: watch.Event{Media: watch.Movie, Title: "北之光", UserName: "mira-guid"}},
	}
	r := newRig(t, "")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := nastest.Create(t, t.TempDir(), c.without...)
			lacks := func(what string) bool { return slices.Contains(c.without, what) }
			item := func(guid, kind, parent, title string, more nastest.Columns) {
				row := nastest.Columns{"guid": guid, "type": kind, "parent_guid": parent, "title": title}
				for name, value := range more {
					row[name] = value
				}
				for name := range row {
					if lacks("item." + name) {
						delete(row, name)
					}
				}
				l.Insert("item", row)
			}
			if !lacks("user") {
				l.User("mira-guid", "mira")
				l.User("default-user-template", "x")
			}
			item("folder", "Directory", "", "the disk", nil)
			item("show", "TV", "folder", lamp.Title, nastest.Columns{"original_title": lamp.OriginalTitle, "tmdb_id": 77, "imdb_id": "tt77", "external_ids": `{"tvdb":5,"odd":{}}`})
			item("s2", "Season", "show", "灯塔守望者 第二季", nastest.Columns{"season_number": 2})
			item("s0", "Season", "show", "特别篇", nastest.Columns{"season_number": 0})
			item("unnumbered", "Season", "show", lamp.Title, nil) // named as its show, which tells nothing more
			item("orphan", "Season", "nowhere", "灯塔守望者 第三季", nastest.Columns{"season_number": 3})
			item("untitled", "TV", "", "", nil)
			item("unknown", "TV", "", "视频-3", nil)
			item("disc", "Directory", "s2", "disc 1", nil)
			item("inner", "Directory", "show", "the first one", nil)
			item("s1", "Season", "inner", "第 1 季", nastest.Columns{"season_number": 1})
			if !lacks("item_media") {
				l.Insert("item_media", nastest.Columns{"guid": "m", "item_guid": "with-media", "path": "/v/深海电车_EP05.mkv"})
			}
			id := "it"
			if guid, is := c.item["guid"].(string); is {
				id = guid
			}
			item(id, c.kind, c.parent, c.title, c.item)
			play := nastest.Columns{"user_guid": "mira-guid", "item_guid": id, "watched": 1, "update_time": at.UnixMilli() + 7}
			if !lacks("item_user_play.visible") {
				play["visible"] = 1
			}
			l.Insert("item_user_play", play)
			r.reads(t, l.Path)
			counts := r.sync(nas.Manual{Range: nas.All})
			if c.why != "" {
				if len(r.events) != 0 || len(counts.Reasons) != 1 || counts.Reasons[0].Reason.Text != c.why {
					t.Errorf("the row is %+v, with the events %+v", counts, r.events)
				}
				return
			}
			want := c.want
			want.Source, want.Action, want.RawEvent, want.OccurredAt = watch.NAS, watch.Watched, "item_user_play", at
			want.UserID = "mira-guid"
			if want.UserName == "" {
				want.UserName = "mira"
			}
			if want.ItemID == "" {
				want.ItemID = "it"
			}
			if want.Media == "" {
				want.Media = watch.Episode
			}
			if diff := cmp.Diff([]watch.Event{want}, r.events); diff != "" {
				t.Errorf("the event (-want +got):\n%s\n%+v", diff, counts)
			}
		})
	}
}

// Older releases named the numbers otherwise.
func TestOlderNamesOfNumbers(t *testing.T) {
	for _, names := range [][2]string{{"parent_index_number", "index_number"}, {"season_index", "episode_index"}, {"season_index", "sort_index"}} {
		l := nastest.Create(t, t.TempDir())
		l.Exec("ALTER TABLE item RENAME COLUMN season_number TO " + names[0])
		l.Exec("ALTER TABLE item RENAME COLUMN episode_number TO " + names[1])
		l.User("mira-guid", "mira")
		l.Item("lamp", "TV", "", "灯塔守望者", nil)
		l.Item("it", "Episode", "lamp", "x", nastest.Columns{names[0]: 2, names[1]: 7})
		l.Play("mira-guid", "it", ago(time.Minute), nil)
		r := newRig(t, l.Path)
		r.sync(nas.Manual{Range: nas.All})
		r.expect("mira: 灯塔守望者 s2 e7")
	}
}

// The app has tables that cannot be opened here, as those of a search module of its own.
func TestForeignModules(t *testing.T) {
	l := sample(t)
	l.Exec("PRAGMA writable_schema = 1")
	l.Exec(`INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('table', 'search', 'search', 0, 'CREATE VIRTUAL TABLE search USING somemodule(title)')`)
	l.Exec("PRAGMA writable_schema = 0")
	l.Play("mira-guid", "lamp-1", ago(time.Minute), nil)
	r := newRig(t, l.Path)
	r.sync(nas.Manual{Range: nas.All})
	r.expect("mira: 灯塔守望者 s1 e1")
}

// TestCompletion holds upstreams/nas.md, section 3: what counts as watched.
func TestCompletion(t *testing.T) {
	cases := []struct {
		name string
		play nastest.Columns
		item nastest.Columns
		want bool
	}{
		{"marked", nastest.Columns{"watched": 1}, nil, true},
		{"not marked", nastest.Columns{"watched": 0}, nil, false},
		{"another value is not a mark", nastest.Columns{"watched": 2}, nil, false},
		{"no value is not a mark", nastest.Columns{"watched": nil}, nil, false},
		{"by the length of the file", nastest.Columns{"watched": 0, "ts": 1300, "media_guid": "m"}, nil, true},
		{"the file is longer than the item says", nastest.Columns{"watched": 0, "ts": 1300, "media_guid": "long"}, nastest.Columns{"runtime": 24}, false},
		{"by the stream", nastest.Columns{"watched": 0, "ts": 1300, "video_guid": "video"}, nil, true},
		{"too short", nastest.Columns{"watched": 0, "ts": 1200, "media_guid": "m"}, nil, false},
		{"by the item's minutes", nastest.Columns{"watched": 0, "ts": 24 * 60 * 90 / 100}, nastest.Columns{"runtime": 24}, true},
		{"by those of a parent", nastest.Columns{"watched": 0, "ts": 50 * 60 * 90 / 100}, nastest.Columns{"parent_guid": "long-show"}, true},
		{"half an episode of a parent's length", nastest.Columns{"watched": 0, "ts": 24 * 60}, nastest.Columns{"parent_guid": "long-show"}, false},
		{"no length is guessed", nastest.Columns{"watched": 0, "ts": 24 * 60}, nil, false},
		{"a length that is too short is wrong", nastest.Columns{"watched": 0, "ts": 2000}, nastest.Columns{"runtime": 24}, false},
		{"a little over is the end", nastest.Columns{"watched": 0, "ts": 24*60 + 30}, nastest.Columns{"runtime": 24}, true},
		{"hidden", nastest.Columns{"watched": 1, "visible": 0}, nil, false},
	}
	r := newRig(t, "")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := sample(t)
			l.Insert("media_stream", nastest.Columns{"guid": "audio", "media_guid": "m", "codec_type": "audio", "duration": 5000})
			l.Insert("media_stream", nastest.Columns{"guid": "video", "media_guid": "m", "codec_type": "video", "duration": 1440})
			l.Insert("media_stream", nastest.Columns{"guid": "other", "media_guid": "long", "codec_type": "video", "duration": 3000})
			l.Item("long-show", "TV", "", "长", nastest.Columns{"runtime": 50})
			item := nastest.Columns{"episode_number": 1}
			parent := "lamp"
			for name, value := range c.item {
				if name == "parent_guid" {
					parent = value.(string)
				} else {
					item[name] = value
				}
			}
			l.Item("it", "Episode", parent, "x", item)
			l.Play("mira-guid", "it", ago(time.Minute), c.play)
			r.reads(t, l.Path)
			if counts := r.sync(nas.Manual{Range: nas.All}); (counts.Taken == 1) != c.want {
				t.Errorf("the scan is %+v", counts)
			}
		})
	}
}

func TestUsers(t *testing.T) {
	l := sample(t)
	l.Insert("user", nastest.Columns{"guid": "off", "username": "bench", "status": 0, "is_admin": 1})
	l.Insert("user", nastest.Columns{"guid": "default-user-template", "username": "template", "status": 1})
	for _, user := range []string{"mira-guid", "alex-guid", "off", "default-user-template", "gone"} {
		l.Play(user, "lamp-1", ago(time.Hour), nil)
	}
	r := newRig(t, l.Path)
	users, err := r.Users(t.Context())
	want := []nas.User{{GUID: "alex-guid", UserName: "alex", Active: true}, {GUID: "off", UserName: "bench", Admin: true}, {GUID: "mira-guid", UserName: "mira", Active: true}}
	if diff := cmp.Diff(want, users); diff != "" || err != nil {
		t.Errorf("users (-want +got):\n%s\n%v", diff, err)
	}
	counts := r.sync(nas.Manual{Range: nas.All, User: "alex-guid"})
	r.expect("alex: 灯塔守望者 s1 e1")
	if counts.Read != 1 {
		t.Errorf("restricted to one user, the scan is %+v", counts)
	}
	counts = r.sync(nas.Manual{Range: nas.All})
	r.expect("mira: 灯塔守望者 s1 e1")
	if counts.Known != 1 || counts.Skipped != 3 {
		t.Errorf("the scan of all is %+v", counts)
	}
	_, _, err = r.Sync(t.Context(), nas.Manual{Range: nas.All, User: "nobody"})
	if !errors.Is(err, nas.ErrNoUser) {
		t.Errorf("an unknown user gives %v", err)
	}
	l.Exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO user (guid, username, status) SELECT 'u' || i, 'x', 1 FROM n`)
	if users, err := r.Users(t.Context()); err != nil || len(users) > 1000 {
		t.Errorf("of a table of thousands %d users are read: %v", len(users), err)
	}
	if s := r.status(); !s.LastError.IsZero() {
		t.Errorf("a wrong question is kept as a failure of the library: %+v", s)
	}
	r.set(func(o *nas.Options) { o.User = "nobody" })
	r.problem(nas.NoUser, "no user nobody", "nas.user")
	if s := r.status(); s.LastErrorKind != nas.NoUser {
		t.Errorf("with a setting that names nobody the status is %+v", s)
	}
}
