package importer

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/rowread"
	"watchmark/internal/platform/task"
	"watchmark/internal/record"
	"watchmark/internal/source/preview"
	"watchmark/internal/source/tracker"
	"watchmark/internal/testkit/dbtest"
	"watchmark/internal/watch"
)

// fileRig imports files into a real database, with an engine that marks everything at once.
type fileRig struct {
	*Importer
	tasks  *task.Registry
	taken  []watch.Event
	played map[string]bool
}

func newFileRig(t *testing.T) *fileRig {
	t.Helper()
	d := dbtest.Open(t)
	r := &fileRig{tasks: task.New(d, dbtest.Self(1), slog.New(slog.DiscardHandler)), played: map[string]bool{}}
	t.Cleanup(func() { _ = r.tasks.Stop(context.Background()) })
	r.Importer = NewImporter(Config{
		DB: d, Tasks: r.tasks, Intake: r.intake(t, d.Write),
		Statuses: func(_ context.Context, ids []int64) (map[int64]record.Status, error) {
			all := map[int64]record.Status{}
			for _, id := range ids {
				all[id] = record.Success
			}
			return all, nil
		},
		Routed: func(_ context.Context, user string) ([]string, reason.Reason, error) {
			if user != "mira" {
				return nil, noUser.With(), nil
			}
			return []string{"mira"}, reason.Reason{}, nil
		},
		Forecast: func() preview.Of {
			return func(context.Context, watch.Event) ([]preview.Verdict, error) {
				return []preview.Verdict{{Status: preview.Mark}}, nil
			}
		},
		Files: Files{
			Folder: t.TempDir(),
			Entry: func(provider, id string) (catalog.SubjectID, bool) {
				return map[string]catalog.SubjectID{"mal 50": 500, "anidb 60": 600, "mal 70": 700}[provider+" "+id], provider+id == "mal50" || provider+id == "anidb60" || provider+id == "mal70"
			},
			About: func(_ context.Context, _ string, id catalog.SubjectID) (catalog.Subject, []catalog.EpisodeInfo, error) {
				rows := []catalog.EpisodeInfo{{ID: 9, Subject: id, Type: catalog.Special, Sort: 1}}
				for n := 3; n >= 1; n-- { // in no order, and numbered on from an earlier season
					rows = append(rows, catalog.EpisodeInfo{ID: catalog.EpisodeID(int(id)*10 + n), Subject: id, Type: catalog.Main, Sort: float64(12 + n), Ep: float64(n)})
				}
				return catalog.Subject{ID: id, Platform: "TV"}, rows, nil
			},
			Known:  func(ids watch.IDs, _ bool) bool { return ids["tvdb"] != "999" },
			Mapped: func(context.Context, []string, watch.Event) (bool, error) { return false, nil },
			Plays:  func(context.Context, []string) (map[string]bool, error) { return r.played, nil },
			Play:   tracker.EventOf,
		},
	})
	return r
}

type intake func(context.Context, []watch.Event, func(context.Context, *sql.Tx, []int64) error) ([]int64, error)

func (i intake) Take(ctx context.Context, events []watch.Event, also func(context.Context, *sql.Tx, []int64) error) ([]int64, error) {
	return i(ctx, events, also)
}

func (r *fileRig) intake(t *testing.T, write func(context.Context, func(context.Context, *sql.Tx) error) error) intake {
	return func(ctx context.Context, events []watch.Event, also func(context.Context, *sql.Tx, []int64) error) ([]int64, error) {
		var ids []int64
		for i, e := range events {
			if err := e.Validate(); err != nil {
				t.Errorf("an event that no record can be: %v", err)
			}
			ids = append(ids, int64(len(r.taken)+i+1))
		}
		err := write(ctx, func(ctx context.Context, tx *sql.Tx) error { return also(ctx, tx, ids) })
		if err == nil {
			r.taken = append(r.taken, events...)
		}
		return ids, err
	}
}

// run imports a file and waits for the end.
func (r *fileRig) run(t *testing.T, format Format, file []byte, preview bool) (task.Status, error) {
	t.Helper()
	f, err := r.NewFile()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(file); err != nil {
		t.Fatal(err)
	}
	work, err := r.RunFile(t.Context(), f, format, "mira", preview)
	if err != nil {
		return task.Status{}, err
	}
	for last := 0; ; {
		lines, more := work.After(last)
		last += len(lines)
		if s := work.Status(); s.State != task.Running {
			return s, nil
		}
		<-more
	}
}

// told is what was taken in, in short.
func told(events []watch.Event) (all []string) {
	for _, e := range events {
		text := e.Title
		if e.CatalogSubject != 0 {
			text += fmt.Sprintf(" @%d/%d", e.CatalogSubject, e.CatalogEpisode)
		}
		if label := e.EpisodeLabel(); label != "" {
			text += " " + label
		}
		if len(e.SeriesIDs) > 0 {
			text += " tvdb" + e.SeriesIDs["tvdb"]
		}
		all = append(all, text)
	}
	return all
}

// zipped is a zip of files by name.
func zipped(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// traktPlay is a play as upstreams/exports.md section 1 has it.
func traktPlay(id, tvdb, season, number int) string {
	return fmt.Sprintf(`{"id":%d,"watched_at":"2026-05-01T12:34:56.000Z","action":"scrobble","type":"episode",
  "episode":{"season":%d,"number":%d,"title":"Third","ids":{"trakt":33,"tvdb":44,"imdb":null,"tmdb":66}},
  "show":{"title":"Example","year":2023,"ids":{"trakt":1,"slug":"example","tvdb":%d,"imdb":"tt3","tmdb":4,"plex":{"guid":"5d9c","slug":"example"}}}}`, id, season, number, tvdb)
}

const malHead = `<?xml version="1.0" encoding="UTF-8" ?><myanimelist><myinfo><user_export_type>1</user_export_type></myinfo>`

func malRow(id int, watched int, status, kind string) string {
	return fmt.Sprintf(`<anime><series_animedb_id>%d</series_animedb_id><series_title><![CDATA[Example %d & co]]></series_title><series_type>%s</series_type>
<series_episodes>3</series_episodes><my_watched_episodes>%d</my_watched_episodes><my_status>%s</my_status></anime>`, id, id, kind, watched, status)
}

func TestFilesBecomeRecordsOnce(t *testing.T) {
	trakt := zipped(t,
		"trakt-export/watched-history-1.json", "["+traktPlay(9000000003, 2, 2, 3)+","+traktPlay(9000000002, 2, 2, 2)+"]",
		"trakt-export/watched-history-10.json", "["+traktPlay(11, 2, 1, 1)+"]",
		"trakt-export/watched-history-2.json", "["+traktPlay(21, 999, 1, 1)+`,{"id":22,"type":"episode"}]`,
		"trakt-export/watched-shows-1.json", `[{"plays":40,"show":{"title":"Example"}}]`,
		"trakt-export/user-settings.json", `{"user":{"email":"kept-to-themselves"}}`,
		"trakt-export/_errors.json", `[{"endpoint":"users/me/stats","error":"timeout"}]`,
		"__MACOSX/trakt-export/._watched-history-3.json", "\x00\x05",
	)
	simkl := `{"movies":[{"status":"completed","movie":{"title":"Film","year":2020,"ids":{"simkl":1,"imdb":"tt7","tmdb":"7"}}},
		{"status":"plantowatch","movie":{"title":"Later","ids":{"simkl":3}}}],
	"shows":[{"status":"watching","show":{"title":"Soap","ids":{"simkl":4,"tvdb":"999"}},"seasons":[{"number":1,"episodes":[{"number":1}]}]}],
	"other":{"x":[1]},
	"anime":[{"status":"watching","anime_type":"tv","show":{"title":"Example","ids":{"simkl":2,"mal":"50","anidb":"60"}},"seasons":[{"number":1,"episodes":[{"number":1,"watched_at":"2026-02-22T12:00:00Z"},{"number":3,"watched_at":null}]}]},
		{"status":"completed","anime_type":"tv","watched_episodes_count":2,"show":{"title":"Counted","ids":{"simkl":5,"anidb":60}}},
		{"status":"completed","anime_type":"movie","show":{"title":"Cinema","year":2019,"ids":{"simkl":6,"mal":"70"}}},
		{"status":"watching","anime_type":"tv","watched_episodes_count":2,"show":{"title":"Nowhere","ids":{"simkl":7,"mal":"71"}}},
		{"status":"watching","show":{"title":"Nameless","ids":{"simkl":8}}}]}`
	mal := malHead + malRow(50, 2, "Watching", "TV") + malRow(60, 0, "Plan to Watch", "TV") + malRow(70, 0, "Completed", "Movie") +
		malRow(0, 4, "Completed", "TV") + `<anime><series_animedb_id>51</series_animedb_id><my_status>completed</my_status></anime></myanimelist>`
	cases := []struct {
		name    string
		format  Format
		file    []byte
		want    []string
		skipped []string
	}{
		{
			"Trakt, the oldest first", Trakt, trakt,
			[]string{"Example S1 E1 tvdb2", "Example S2 E2 tvdb2", "Example S2 E3 tvdb2"},
			[]string{"users/me/stats import_file_incomplete", " import_file_row", "Example import_file_not_anime"},
		},
		{"one file of Trakt's", Trakt, []byte("[" + traktPlay(5, 2, 1, 5) + "]"), []string{"Example S1 E5 tvdb2"}, nil},
		{
			"Simkl", Simkl, []byte(simkl), []string{"Film", "Example @500/5001 S1 E13", "Example @500/5003 S1 E15", "Counted @600/6001 S1 E13", "Counted @600/6002 S1 E14", "Cinema @700/0"},
			[]string{"Soap import_file_not_anime", "Nowhere import_file_no_entry", "Nameless import_file_no_id"},
		},
		{"Simkl's zip", Simkl, zipped(t, "SimklBackup.json", `{"anime":[{"status":"watching","watched_episodes_count":1,"show":{"title":"Example","ids":{"simkl":2,"mal":50}}}]}`), []string{"Example @500/5001 S1 E13"}, nil},
		{
			"MyAnimeList", MAL, []byte(mal), []string{"Example 50 & co @500/5001 S1 E13", "Example 50 & co @500/5002 S1 E14", "Example 70 & co @700/0"},
			[]string{"Example 0 & co import_file_no_id", "MyAnimeList 51 import_file_no_entry"},
		},
		{
			"MyAnimeList with gzip, and more than the entry has", MAL, gzipped(t, malHead+malRow(50, 5, "On Hold", "TV")+`</myanimelist>`),
			[]string{"Example 50 & co @500/5001 S1 E13", "Example 50 & co @500/5002 S1 E14", "Example 50 & co @500/5003 S1 E15"}, []string{"Example 50 & co import_file_beyond"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newFileRig(t)
			ended, err := r.run(t, c.format, c.file, true)
			if err != nil || ended.State != task.Done || len(r.taken) > 0 {
				t.Fatalf("the preview came out as %+v, %v, and took in %v", ended, err, told(r.taken))
			}
			table, _ := task.ResultOf[Preview](ended)
			if table.Table.Items != len(c.want) || table.Count != len(c.skipped) {
				t.Errorf("the preview has %d items and skips %+v, want %d and %d", table.Table.Items, table.Some, len(c.want), len(c.skipped))
			}
			ended, err = r.run(t, c.format, c.file, false)
			if err != nil || ended.State != task.Done {
				t.Fatalf("the import came out as %+v, %v", ended, err)
			}
			if got := told(r.taken); !slices.Equal(got, c.want) {
				t.Errorf("it took in\n%q, want\n%q", got, c.want)
			}
			var skipped []string
			result, _ := task.ResultOf[Result](ended)
			for _, s := range result.Some {
				skipped = append(skipped, s.Title+" "+s.Reason.Code)
			}
			slices.Sort(skipped)
			want := slices.Sorted(slices.Values(c.skipped))
			if !slices.Equal(skipped, want) {
				t.Errorf("it skipped\n%q, want\n%q", skipped, want)
			}
			ended, err = r.run(t, c.format, c.file, false)
			if result, _ := task.ResultOf[Result](ended); err != nil || result.Taken != 0 || result.Known != len(c.want) {
				t.Errorf("the second import took in %d and knew %d of %d (%v)", result.Taken, result.Known, len(c.want), err)
			}
			if left, _ := os.ReadDir(r.Files.Folder); len(left) > 0 {
				t.Errorf("%d files are left", len(left))
			}
		})
	}
}

func TestAPlayThatTraktToldIsNotImportedAgain(t *testing.T) {
	r := newFileRig(t)
	r.played["7"] = true
	ended, err := r.run(t, Trakt, []byte("["+traktPlay(7, 2, 1, 5)+","+traktPlay(8, 2, 1, 6)+"]"), false)
	if result, _ := task.ResultOf[Result](ended); err != nil || result.Taken != 1 || result.Known != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestBadFilesChangeNothing(t *testing.T) {
	defer func(was int64) { unpackedMost = was }(unpackedMost)
	unpackedMost = 1 << 20
	many := make([]string, 0, 2*(membersMost+1))
	for i := range membersMost + 1 {
		many = append(many, strconv.Itoa(i), "")
	}
	cases := []struct {
		name   string
		format Format
		file   []byte
		want   *reason.Kind
	}{
		{"nothing", Trakt, nil, fileEnds},
		{"a zip that ends", Trakt, zipped(t, "watched-history.json", "[]")[:30], fileBroken},
		{"a zip of something else", Trakt, zipped(t, "watched_movies.json", "[]"), fileNoHistory},
		{"plays that end", Trakt, zipped(t, "watched-history.json", "["+traktPlay(1, 2, 1, 1)), fileEnds},
		{"good plays beside broken ones", Trakt, zipped(t, "watched-history-2.json", "["+traktPlay(1, 2, 1, 1)+"]", "watched-history-1.json", "[{"), fileEnds},
		{"no plays", Trakt, zipped(t, "watched-history.json", "[]"), fileEmpty},
		{"too many files", Trakt, zipped(t, many...), fileMembers},
		{"a list in place of a backup", Simkl, []byte("[]"), fileOtherForm},
		{"a backup that ends", Simkl, []byte(`{"anime":[{"show":{}}`), fileEnds},
		{"a zip without a backup", Simkl, zipped(t, "x.json", "{}"), fileNoBackup},
		{"manga", MAL, []byte(malHead + `<manga></manga></myanimelist>`), fileManga},
		{"another document", MAL, []byte(`<html></html>`), fileOtherForm},
		{"a document type", MAL, []byte(`<!DOCTYPE x [<!ENTITY a "b">]>` + malHead + `</myanimelist>`), fileOtherForm},
		{"a bare ampersand", MAL, []byte(malHead + `<anime><series_title>a & b</series_title></anime></myanimelist>`), fileBroken},
		{"a list that ends", MAL, []byte(malHead + malRow(50, 1, "Watching", "TV")), fileEnds},
		{"a bomb", MAL, gzipped(t, malHead+strings.Repeat(" ", 2<<20)+"</myanimelist>"), fileUnpacks},
		{"JSON as XML", MAL, []byte(`{}`), fileOtherForm},
		{"XML as JSON", Simkl, []byte(malHead + `</myanimelist>`), fileOtherForm},
		{"an object in place of plays", Trakt, []byte(`{"error":"x"}`), fileOtherForm},
		{"UTF-16", MAL, []byte("\xff\xfe<\x00?\x00x\x00"), rowread.Encoding},
		{"a declared encoding", MAL, []byte(`<?xml version="1.0" encoding="GBK"?><myanimelist></myanimelist>`), rowread.Encoding},
		{"XML of one row", MAL, gzipped(t, malHead+"<anime><series_title>"+strings.Repeat("a", 3<<20)+"</series_title></anime></myanimelist>"), fileUnpacks},
		{"deep lists", Simkl, []byte(`{"x":` + strings.Repeat("[", 1000)), fileOtherForm},
		{"a deep title", Simkl, []byte(`{"anime":[` + strings.Repeat("[", 20000)), fileBroken},
		{"entities", MAL, []byte(malHead + `<anime><series_animedb_id>&lol9;</series_animedb_id></anime></myanimelist>`), fileBroken},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newFileRig(t)
			_, err := r.run(t, c.format, c.file, false)
			if reason.Of(err).Code != c.want.Code() {
				t.Errorf("the error is %v, want %s", err, c.want.Code())
			}
			if len(r.taken) > 0 {
				t.Errorf("it took in %v", told(r.taken))
			}
			if left, _ := os.ReadDir(r.Files.Folder); len(left) > 0 {
				t.Errorf("%d files are left", len(left))
			}
			if _, err := r.run(t, Trakt, []byte("["+traktPlay(5, 2, 1, 5)+"]"), false); err != nil {
				t.Errorf("the next import: %v", err)
			}
		})
	}
}

// What would take much memory is refused at the row where it does, whatever it unpacks to.
func TestARowOfAFileIsBounded(t *testing.T) {
	large := strings.Repeat("a", rowread.RowMost*2)
	many := strings.Repeat("PK\x01\x02"+strings.Repeat("\x00", 42), directoryMost/46+1000)
	end := string(binary.LittleEndian.AppendUint32([]byte("PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00"), uint32(len(many)))) + "\x04\x00\x00\x00\x00\x00"
	for name, c := range map[string]struct {
		format Format
		file   []byte
		want   *reason.Kind
	}{
		"a title of Simkl":          {Simkl, []byte(`{"anime":[{"show":{"title":"` + large + `"}}]}`), rowread.RowLarge},
		"a list that nobody reads":  {Simkl, []byte(`{"x":{"y":"` + large + `"}}`), rowread.RowLarge},
		"a play of Trakt":           {Trakt, zipped(t, "watched-history.json", `[{"id":1,"action":"`+large+`"}]`), rowread.RowLarge},
		"a title of MyAnimeList":    {MAL, gzipped(t, malHead+"<anime><series_title>"+large+"</series_title></anime></myanimelist>"), rowread.RowLarge},
		"tags in tags":              {MAL, gzipped(t, malHead+strings.Repeat("<a>", rowread.RowMost/2)), rowread.RowLarge},
		"a comment":                 {MAL, gzipped(t, malHead+"<!--"+large+"--></myanimelist>"), rowread.RowLarge},
		"the list of a zip":         {Trakt, []byte("PK\x03\x04" + many + end), fileMembers},
		"more plays than are read":  {Trakt, zipped(t, "watched-history.json", "["+strings.Repeat("1,", rowsMost+1)+"1]"), fileTooMany},
		"more titles than are read": {Simkl, []byte(`{"anime":[` + strings.Repeat("1,", rowsMost+1) + `1]}`), fileTooMany},
	} {
		t.Run(name, func(t *testing.T) {
			r := newFileRig(t)
			if _, err := r.run(t, c.format, c.file, false); reason.Of(err).Code != c.want.Code() || len(r.taken) > 0 {
				t.Errorf("the error is %v, want %s", err, c.want.Code())
			}
		})
	}
}

// Others write these files, too, and what they write differently is read all the same.
func TestFilesOfOthersAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		format        Format
		file          string
		want, skipped []string
	}{
		"a byte order mark before JSON":   {Trakt, "\ufeff[" + traktPlay(5, 2, 1, 5) + "]", []string{"Example S1 E5 tvdb2"}, nil},
		"a byte order mark before XML":    {MAL, "\ufeff" + malHead + malRow(50, 1, "Watching", "TV") + "</myanimelist>", []string{"Example 50 & co @500/5001 S1 E13"}, nil},
		"a play twice":                    {Trakt, "[" + traktPlay(5, 2, 1, 5) + "," + traktPlay(5, 2, 1, 5) + "," + traktPlay(6, 2, 1, 5) + "]", []string{"Example S1 E5 tvdb2", "Example S1 E5 tvdb2"}, nil},
		"a title twice":                   {MAL, malHead + malRow(50, 1, "Watching", "TV") + malRow(50, 2, "Watching", "TV") + "</myanimelist>", []string{"Example 50 & co @500/5001 S1 E13", "Example 50 & co @500/5002 S1 E14"}, nil},
		"lists that are null":             {Simkl, `{"movies":null,"shows":null,"anime":[{"status":"watching","watched_episodes_count":1,"show":{"title":"A","ids":{"simkl":2,"mal":50}}}]}`, []string{"A @500/5001 S1 E13"}, nil},
		"completed without any number":    {Simkl, `{"anime":[{"status":"completed","show":{"title":"A","ids":{"simkl":2,"mal":50}}}]}`, []string{"A @500/5001 S1 E13", "A @500/5002 S1 E14", "A @500/5003 S1 E15"}, nil},
		"completed by others":             {MAL, malHead + `<anime><series_animedb_id>60</series_animedb_id><my_status>Completed</my_status></anime><anime><series_animedb_id>50</series_animedb_id><my_status>COMPLETED</my_status></anime></myanimelist>`, []string{"MyAnimeList 50 @500/5001 S1 E13", "MyAnimeList 50 @500/5002 S1 E14", "MyAnimeList 50 @500/5003 S1 E15"}, []string{"import_file_no_entry"}},
		"numbers that are none":           {MAL, malHead + strings.NewReplacer("<my_watched_episodes>1<", "<my_watched_episodes>1e309<").Replace(malRow(50, 1, "Watching", "TV")) + malRow(50, -1, "Watching", "TV") + malRow(0, 1, "Watching", "TV") + "</myanimelist>", nil, []string{"import_file_no_id"}},
		"numbers that are none in JSON":   {Simkl, `{"anime":[{"status":"watching","watched_episodes_count":1e309,"show":{"title":"A","ids":{"simkl":2,"mal":50}}},{"status":"watching","show":{"title":"B","ids":{"simkl":3,"mal":50}},"seasons":[{"number":1,"episodes":[{"number":0},{"number":-1},{"number":2,"watched_at":"0000-00-00"}]},{"number":0,"episodes":[{"number":1}]}]}]}`, []string{"B @500/5002 S1 E14"}, []string{"import_file_row", "import_file_specials"}},
		"more ids than an event may have": {Simkl, `{"anime":[{"status":"watching","watched_episodes_count":1,"show":{"title":"A","ids":{` + manyIDs() + `"simkl":2,"mal":"50"}}}]}`, []string{"A @500/5001 S1 E13"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newFileRig(t)
			ended, err := r.run(t, c.format, []byte(c.file), false)
			result, _ := task.ResultOf[Result](ended)
			var skipped []string
			for _, s := range result.Some {
				skipped = append(skipped, s.Reason.Code)
			}
			if err != nil || ended.State != task.Done || !slices.Equal(told(r.taken), c.want) || !slices.Equal(skipped, c.skipped) {
				t.Errorf("%v, %s %v: took in %q and skipped %q, want %q and %q", err, ended.State, ended.Message, told(r.taken), skipped, c.want, c.skipped)
			}
		})
	}
}

func manyIDs() (ids string) {
	for n := range 60 {
		ids += fmt.Sprintf(`"site%d":%d,`, n, n+1)
	}
	return ids
}

func FuzzFiles(f *testing.F) {
	f.Add(0, []byte("["+traktPlay(1, 2, 1, 1)+"]"))
	f.Add(1, []byte(`{"anime":[{"status":"completed","show":{"title":"a","ids":{"simkl":1,"mal":50}},"seasons":[{"number":1,"episodes":[{"number":1}]}]}]}`))
	f.Add(2, []byte(malHead+malRow(50, 1, "Completed", "TV")+"</myanimelist>"))
	f.Fuzz(func(t *testing.T, which int, file []byte) {
		if which < 0 {
			which = -(which + 1)
		}
		temp, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = temp.Close() }()
		if _, err := temp.Write(file); err != nil {
			t.Fatal(err)
		}
		x := &export{Importer: NewImporter(Config{Files: Files{Play: tracker.EventOf}}), Format: Formats[which%len(Formats)], file: temp, user: "mira"}
		first := 0
		err = x.rows(func(r row) error { first++; return nil })
		again := 0
		if second := x.rows(func(row) error { again++; return nil }); fmt.Sprint(err) != fmt.Sprint(second) || first != again {
			t.Errorf("read twice it came out as %v with %d rows, and %v with %d", err, first, second, again)
		}
	})
}
