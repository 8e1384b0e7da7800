package app_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"watchmark/contrib"
	"watchmark/internal/testkit/kodi"
)

// kodiLibrary is what Kodi knows: four episodes of a season, two of them in one file, one whose ids are not known, and a film.
func kodiLibrary() kodi.Library {
	library := kodi.Library{
		TVShows: []map[string]any{{"tvshowid": 1, "title": houseShow, "originaltitle": "", "year": 2024, "uniqueid": map[string]any{"tvdb": "410001", "unknown": "x"}}},
		Movies: []map[string]any{{"movieid": 7, "title": "灯塔守望者 北之光", "originaltitle": "劇場版 灯台守のうた 北の光", "year": 2025, "premiered": "2025-09-12",
			"uniqueid": map[string]any{"imdb": "tt0000001", "tmdb": "118340"}}},
	}
	for number := 1; number <= 8; number++ {
		one := map[string]any{"episodeid": 100 + number, "tvshowid": 1, "showtitle": houseShow, "title": fmt.Sprintf("第%d集", number), "season": houseSeason,
			"episode": number, "firstaired": "", "file": fmt.Sprintf("/video/e%d.mkv", number), "uniqueid": map[string]any{"tvdb": fmt.Sprint(900000 + number)}}
		if number == 5 || number == 6 {
			one["file"] = "/video/e5-e6.mkv"
		}
		if number == 7 {
			delete(one, "uniqueid")
		}
		library.Episodes = append(library.Episodes, one)
	}
	return library
}

// inLibrary is an episode as Kodi announces it.
func inLibrary(number int) map[string]any {
	return map[string]any{"type": "episode", "id": 100 + number}
}

// kodiBox is a box whose add-on has the address of the service and an API key.
func (s *service) kodiBox(key string) *kodi.Box {
	s.t.Helper()
	addon, err := contrib.KodiAddon()
	if err != nil {
		s.t.Fatal(err)
	}
	return kodi.New(s.t, addon, kodiLibrary(), map[string]string{"address": s.url + "/", "key": key})
}

// marks waits until so many episodes are marked, and answers them.
func (s *service) marks(want ...string) {
	s.t.Helper()
	s.wait(strings.Join(want, ", "), func() bool {
		marked := s.marked()
		for _, one := range want {
			if !marked[one] {
				return false
			}
		}
		return true
	})
	if marked := s.marked(); len(marked) != len(want) {
		s.t.Errorf("marked are %v, not only %v", marked, want)
	}
}

func houseMark(number int) string { return fmt.Sprintf("mira/%d", houseEpisode+number) }

// startForKodi is a service with mira, and an API key of hers.
func startForKodi(t *testing.T) (s *service, key string) {
	t.Helper()
	s = startEmpty(t)
	if err := s.app.SetUp(t.Context(), "bench", password); err != nil {
		t.Fatal(err)
	}
	return s, s.joins("mira", miraToken).keyOf()
}

// What Kodi plays to its end is marked, by the real add-on; what is stopped half way, live TV, music and unknown files are not.
func TestKodiMarksWhatIsPlayed(t *testing.T) {
	t.Parallel()
	s, key := startForKodi(t)
	box := s.kodiBox(key)
	box.Start()

	box.Watch(inLibrary(1), 1440)
	s.marks(houseMark(1))
	box.Watch(inLibrary(2), 720)

	// A playlist: the first ends by itself, the second is skipped near its end without a word, and the third begins.
	box.Play("/video/e2.mkv", inLibrary(2), 1440)
	box.At(1430)
	box.Stop(inLibrary(2), true)
	box.Play("/video/e3.mkv", inLibrary(3), 1440)
	box.At(1400)
	box.Play("/video/e4.mkv", inLibrary(4), 1440)
	box.Stop(inLibrary(3), false) // late: of what is over already
	box.At(30)
	s.marks(houseMark(1), houseMark(2), houseMark(3))
	box.Stop(inLibrary(4), false)

	// The end of a broken stream is no end of the episode, and a length that is not known says nothing.
	box.Play("http://nas/e4.mkv", inLibrary(4), 1440)
	box.At(500)
	box.Stop(inLibrary(4), true)
	box.Play("http://nas/e4.mkv", inLibrary(4), 0)
	box.At(1440)
	box.Stop(inLibrary(4), true)

	// Two episodes in one file: at 80 % of it the first is over, and the second is not.
	box.Play("/video/e5-e6.mkv", inLibrary(5), 2880)
	box.At(2304)
	box.Stop(inLibrary(5), false)
	s.marks(houseMark(1), houseMark(2), houseMark(3), houseMark(5))

	// Without ids, from an add-on, and what is none of these.
	box.Watch(inLibrary(7), 1439)
	box.Watch(map[string]any{"type": "episode", "title": "x", "showtitle": houseShow, "season": houseSeason, "episode": 8}, 1439)
	s.marks(houseMark(1), houseMark(2), houseMark(3), houseMark(5), houseMark(7), houseMark(8))
	records := s.recordCount()
	for name, c := range map[string]struct {
		path string
		item map[string]any
	}{
		"live TV":          {"pvr://channels/tv/1.pvr", map[string]any{"type": "channel", "id": 4, "title": "Channel", "channeltype": "tv"}},
		"a recording":      {"pvr://recordings/tv/1.pvr", map[string]any{"type": "episode", "title": "x", "showtitle": houseShow, "season": 2, "episode": 4}},
		"music":            {"/music/1.flac", map[string]any{"type": "song", "id": 1}},
		"a music video":    {"/video/clip.mkv", map[string]any{"type": "musicvideo", "id": 1}},
		"an unknown file":  {"/video/S02E04.mkv", map[string]any{"type": "movie", "title": houseShow + " S02E04"}},
		"without a tag":    {"/video/S02E04.mkv", map[string]any{"type": "movies", "title": houseShow}},
		"a picture":        {"/pictures/1.jpg", map[string]any{"type": "picture", "file": "/pictures/1.jpg"}},
		"gone since":       {"/video/gone.mkv", map[string]any{"type": "episode", "id": 4711}},
		"without a number": {"plugin://x", map[string]any{"type": "episode", "title": "x", "showtitle": houseShow}},
		"nothing":          {"/x", map[string]any{}},
	} {
		box.Play(c.path, c.item, 1440)
		box.At(1435)
		box.Stop(c.item, true)
		if len(box.Unsent()) != 0 {
			t.Errorf("%s is sent", name)
		}
	}

	// A film, begun before the add-on was there, which Kodi plays while it ends.
	box.End()
	box.Start()
	box.Play("/video/film.mkv", map[string]any{"type": "movie", "id": 7}, 6000)
	box.At(5900)
	box.End()
	box.Start()
	s.wait("the film is a record", func() bool { return s.recordCount() == records+1 })
	film := list[recordView](s, "/api/records?limit=1")[0]
	if r := s.settled(film.ID); r.SubjectID != 900003 || r.Status != "success" {
		t.Errorf("the film is %+v", r)
	}
	box.End()
	if said := box.Said() + s.logs.String(); strings.Contains(said, key) || strings.Contains(box.Said(), "error:") {
		t.Errorf("what was said:\n%s", box.Said())
	}
}

// Where an episode was when it was stopped is what counts, not how it came there; a pause is no end.
func TestKodiPausesAndSeeks(t *testing.T) {
	t.Parallel()
	s, key := startForKodi(t)
	box := s.kodiBox(key)
	box.Start()
	one, two := inLibrary(1), inLibrary(2)
	box.Play("/video/e1.mkv", one, 1440)
	box.Seek(one, 1400) // a look at the end, and back
	box.Seek(one, 60)
	box.Stop(one, false)
	box.Sent()
	box.Play("/video/e1.mkv", one, 1440)
	box.At(1200)
	box.Pause(one)
	if n := s.recordCount(); n != 0 || len(box.Unsent()) != 0 {
		t.Errorf("there are %d records, %d stops are kept", n, len(box.Unsent()))
	}
	box.Resume(one)
	box.At(1201)
	box.Stop(one, false)
	s.marks(houseMark(1))
	box.Play("/video/e2.mkv", two, 1440) // the first part was seen elsewhere
	box.Seek(two, 1100)
	box.Pause(two)
	box.Stop(two, false) // 76 %
	box.Play("/video/e2.mkv", two, 1440)
	box.Seek(two, 1100)
	box.At(1152)
	box.Stop(two, false) // 80 %
	s.marks(houseMark(1), houseMark(2))
	if n := s.recordCount(); n != 2 {
		t.Errorf("there are %d records", n)
	}
	box.End()
	if strings.Contains(box.Said(), "error:") {
		t.Errorf("what was said:\n%s", box.Said())
	}
}

// What is kept has a bound: beyond it the oldest goes. A file that cannot be read is put aside.
func TestKodiKeepsNotForEver(t *testing.T) {
	t.Parallel()
	addon, err := contrib.KodiAddon()
	if err != nil {
		t.Fatal(err)
	}
	box := kodi.New(t, addon, kodiLibrary(), map[string]string{})
	if err := os.MkdirAll(filepath.Dir(box.Kept("x")), 0o700); err != nil {
		t.Fatal(err)
	}
	keep := func(text string) {
		t.Helper()
		if err := os.WriteFile(box.Kept("stops.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	keep(`{"broken":`)
	box.Start()
	box.Watch(inLibrary(1), 1440)
	box.End()
	if n := len(box.Unsent()); n != 1 {
		t.Errorf("%d stops are kept", n)
	}
	if text, err := os.ReadFile(box.Kept("stops.json.broken")); err != nil || string(text) != `{"broken":` {
		t.Errorf("put aside is %s: %v", text, err)
	}
	var full []string
	for n := range 500 {
		full = append(full, fmt.Sprintf(`{"movie":{"title":"%d"},"progress":99}`, n))
	}
	keep("[7," + strings.Join(full, ",") + "]")
	box.Start()
	box.Watch(inLibrary(2), 1440)
	box.End()
	kept := box.Unsent()
	if len(kept) != 500 || !strings.Contains(string(kept[0]), `"title": "1"`) || !strings.Contains(string(kept[499]), houseShow) {
		t.Errorf("%d stops are kept, from %s to %s", len(kept), kept[0], kept[len(kept)-1])
	}
	if strings.Contains(box.Said(), "error:") {
		t.Errorf("what was said:\n%s", box.Said())
	}
}

// While the service is away Kodi keeps what was watched, also over its own end; each is one record then.
func TestKodiKeepsWhatItCannotSend(t *testing.T) {
	t.Parallel()
	s, key := startForKodi(t)
	box := s.kodiBox(key)
	box.Start()
	box.Watch(inLibrary(1), 1440)
	s.marks(houseMark(1))
	s.stop()
	box.Watch(inLibrary(2), 1440)
	box.Watch(inLibrary(3), 1440)
	box.Until("notification: Watchmark cannot be reached", 1)
	if n := len(box.Unsent()); n != 2 {
		t.Errorf("%d stops are kept", n)
	}
	box.End()
	s.again()
	box.Start()
	box.Set(map[string]string{"address": strings.TrimPrefix(s.url, "http://"), "key": "wm_wrong"})
	box.Until("notification: Watchmark refuses the API key", 1)
	box.Set(map[string]string{"address": s.url, "key": key})
	s.marks(houseMark(1), houseMark(2), houseMark(3))
	box.Sent()
	if n := s.recordCount(); n != 3 {
		t.Errorf("there are %d records", n)
	}
	box.Set(map[string]string{"address": "", "key": ""})
	box.Watch(inLibrary(4), 1440)
	box.Until("notification: Enter the address", 1)
	box.End()
	if strings.Contains(box.Said(), key) || strings.Contains(box.Said(), "error:") {
		t.Errorf("what was said:\n%s", box.Said())
	}
}

// The key goes to Watchmark alone: not to where an answer leads, nor to a server whose certificate is not good.
func TestKodiGivesTheKeyToNobodyElse(t *testing.T) {
	t.Parallel()
	var got atomic.Int64
	count := func(w http.ResponseWriter, _ *http.Request) { got.Add(1); w.WriteHeader(http.StatusCreated) }
	elsewhere := httptest.NewServer(http.HandlerFunc(count))
	defer elsewhere.Close()
	self := httptest.NewUnstartedServer(http.HandlerFunc(count))
	self.Config.ErrorLog = log.New(io.Discard, "", 0)
	self.StartTLS()
	defer self.Close()
	leads := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+"/scrobble/stop", http.StatusFound)
	}))
	defer leads.Close()
	never := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	defer never.Close()
	addon, err := contrib.KodiAddon()
	if err != nil {
		t.Fatal(err)
	}
	box := kodi.New(t, addon, kodiLibrary(), map[string]string{"address": leads.URL, "key": "wm_secret"})
	box.Start()
	box.Watch(inLibrary(1), 1440)
	box.Until("notification: This is not the address", 1)
	box.Set(map[string]string{"address": self.URL, "key": "wm_secret"})
	box.Until("notification: Watchmark cannot be reached", 1)
	for i, address := range []string{"file:///etc/passwd", "http://[broken", "kodi://x", "http://127.0.0.1:1", "http://bücher.invalid:1/\u00fc"} {
		box.Set(map[string]string{"address": address, "key": "wm_secret"})
		box.Until("Watchmark: cannot be", i+2)
	}
	if len(box.Unsent()) != 1 || got.Load() != 0 {
		t.Errorf("%d stops are kept, %d were sent elsewhere", len(box.Unsent()), got.Load())
	}
	box.Set(map[string]string{"address": never.URL, "key": "wm_secret"}) // what is refused for good is not sent for ever
	box.Until("is answered 400", 1)
	box.Sent()
	box.End()
	if strings.Contains(box.Said(), "wm_secret") || strings.Contains(box.Said(), "error:") {
		t.Errorf("what was said:\n%s", box.Said())
	}
}
