package mediaserver_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"watchmark/internal/source/mediaserver"
)

// TestAProbeReadsLittle has every path of a server answer without end, as it is and compressed.
func TestAProbeReadsLittle(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for range 64 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	for _, c := range []struct {
		name   string
		answer func(w http.ResponseWriter, sent *atomic.Int64)
	}{
		{"plain", func(w http.ResponseWriter, sent *atomic.Int64) {
			for chunk := bytes.Repeat([]byte("x"), 64<<10); ; {
				n, err := w.Write(chunk)
				if sent.Add(int64(n)); err != nil {
					return
				}
			}
		}},
		{"compressed", func(w http.ResponseWriter, _ *atomic.Int64) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sent atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { c.answer(w, &sent) }))
			defer server.Close()
			if f, err := newDialer(t).Probe(t.Context(), server.URL, ""); err == nil {
				t.Errorf("it is %+v", f)
			}
			if sent.Load() > 16<<20 {
				t.Errorf("%d bytes were taken", sent.Load())
			}
		})
	}
}

// TestATokenThatIsRepeated has a server put the token into what it tells.
func TestATokenThatIsRepeated(t *testing.T) {
	d := newDoor(t, map[string]http.HandlerFunc{
		"/System/Info/Public":                    says(jellyfinPublic),
		"/Users/Me":                              says(`{"Id":"` + userID + `","Name":"mira ` + token + `"}`),
		"/Users/" + userID + "/Views":            says(`{"Items":[{"Id":"f0","Name":"` + token + `","CollectionType":"tvshows"}]}`),
		"/Users/" + userID + "/Items":            says(`{"Items":[{"Id":"1","Type":"Episode","Name":"` + token + `","SeriesName":"Star ` + token + `","IndexNumber":1,"UserData":{"Played":true}}]}`),
		"GET /Users/" + userID + "/Items/" + "1": status(http.StatusNotFound),
	})
	c := d.open(t, mediaserver.Jellyfin)
	who, err := c.Who(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	libraries, err := c.Libraries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	items, err := c.Items(t.Context(), []string{"1"})
	if err != nil || len(items) != 1 {
		t.Fatal(items, err)
	}
	if all := fmt.Sprint(who.UserName, who.Name, libraries, items); strings.Contains(all, token) || !strings.Contains(all, "Star ***") {
		t.Errorf("the token is told: %s", all)
	}
}

// TestLibrariesAreBounded has a server list more than anybody has.
func TestLibrariesAreBounded(t *testing.T) {
	d := newDoor(t, map[string]http.HandlerFunc{
		"/System/Info/Public":         says(jellyfinPublic),
		"/Users/" + userID + "/Views": says(`{"Items":[` + strings.TrimSuffix(strings.Repeat(`{"Id":"f0","CollectionType":"tvshows"},`, 20_000), ",") + `]}`),
	})
	libraries, err := d.open(t, mediaserver.Jellyfin).Libraries(t.Context())
	if err != nil || len(libraries) != 200 {
		t.Errorf("%d libraries: %v", len(libraries), err)
	}
}

// TestHostileLists asks for what was played, of servers that answer anything.
func TestHostileLists(t *testing.T) {
	row := func(id string) string {
		return `{"Id":` + id + `,"Type":"Episode","SeriesName":"` + strings.Repeat("长", 300_000) + `","IndexNumber":1e308,"ParentIndexNumber":-3,"ProductionYear":9999,"PremiereDate":"9999-12-31T23:59:59Z","RunTimeTicks":-1,` +
			`"UserData":{"Played":true,"PlayCount":-1e308,"LastPlayedDate":"0000-01-01T00:00:00Z","PlaybackPositionTicks":1e308}}`
	}
	for _, c := range []struct {
		name, body string
		items      int
		wrong      bool
	}{
		{"a row out of any sense", `{"Items":[` + row(`"1"`) + `],"TotalRecordCount":1e308}`, 1, false},
		{"ids that are paths", `{"Items":[` + row(`"../../Users"`) + `,` + row(`"a/b"`) + `,` + row(`"a\"b"`) + `,` + row(`"a\u0000b"`) + `,` + row(`".."`) + `,` + row(`"`+strings.Repeat("a", 10_000)+`"`) + `],"TotalRecordCount":-5}`, 0, false},
		{"deep", strings.Repeat(`{"Items":[`, 200_000), 0, true},
		{"deep and closed", `{"Items":` + strings.Repeat(`[`, 20_000) + strings.Repeat(`]`, 20_000) + `}`, 0, true},
		{"no UTF-8", "{\"Items\":[\"\xff\xfe\"]}", 0, false},
		{"another kind of list", `{"Items":{"Id":"1"}}`, 0, false},
		{"empty rows", `{"Items":[` + strings.Repeat(`{},`, 500_000) + `{}]}`, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := 0
			d := newDoor(t, map[string]http.HandlerFunc{
				"/System/Info/Public": says(jellyfinPublic),
				"/Users/" + userID + "/Items": func(w http.ResponseWriter, r *http.Request) {
					if asked++; asked > 1 {
						says(`{"Items":[]}`)(w, r)
						return
					}
					says(c.body)(w, r)
				},
			})
			var items []mediaserver.Item
			err := d.open(t, mediaserver.Jellyfin).Played(t.Context(), []mediaserver.Library{{ID: "f0"}}, time.Time{}, func(some []mediaserver.Item, _ int) error {
				items = append(items, some...)
				return nil
			})
			if c.wrong != errors.Is(err, mediaserver.ErrUnreachable) || !c.wrong && err != nil || len(items) != c.items {
				t.Errorf("%d items: %v", len(items), err)
			}
			for _, i := range items {
				s := i.State
				if len(i.Report.Event.Title) > 1000 || i.Report.Event.Episode != nil || i.Report.Event.Season != nil || s.Count < 0 || s.Position < 0 || !s.At.IsZero() || i.Length != 0 || i.Year != 0 {
					t.Errorf("it is read as %+v", s)
				}
			}
		})
	}
}

// TestAnotherServerAtTheAddress has the server be another one from one request to the next.
func TestAnotherServerAtTheAddress(t *testing.T) {
	for kind, answers := range map[mediaserver.Kind]map[string]string{
		mediaserver.Jellyfin: {"/System/Info/Public": jellyfinPublic}, mediaserver.Emby: {"/System/Info/Public": embyPublic},
		mediaserver.Plex: {"/identity": `{"MediaContainer":{"machineIdentifier":"` + serverID + `","version":"1"}}`},
	} {
		t.Run(string(kind), func(t *testing.T) {
			all := map[string]http.HandlerFunc{}
			var swapped atomic.Bool
			for path, body := range answers {
				all[path] = func(w http.ResponseWriter, r *http.Request) {
					if swapped.Load() {
						says(strings.ReplaceAll(body, serverID, "somebody-else"))(w, r)
						return
					}
					says(body)(w, r)
				}
			}
			d := newDoor(t, all)
			swapped.Store(true)
			c := d.open(t, kind)
			_, who := c.Who(t.Context())
			_, playing := c.Playing(t.Context())
			_, items := c.Items(t.Context(), []string{"1"})
			for _, err := range []error{who, playing, items, c.Write(t.Context(), "1", mediaserver.State{Played: true}), c.Listen(t.Context(), func() {}, func([]string) {})} {
				if err == nil {
					t.Error("it is asked")
				}
			}
			for at, header := range d.headers {
				if text := fmt.Sprint(header, d.requests[at]); strings.Contains(text, token) {
					t.Errorf("the token went to another server: %s", text)
				}
			}
		})
	}
}

// TestListsWithoutEndAreLeft has every page of a list be another one.
func TestListsWithoutEndAreLeft(t *testing.T) {
	mediaserver.SetMostRows(t, 1000)
	for _, kind := range []mediaserver.Kind{mediaserver.Jellyfin, mediaserver.Emby, mediaserver.FnOS, mediaserver.Plex} {
		t.Run(string(kind), func(t *testing.T) {
			n := 0
			page := func(name, row string) http.HandlerFunc {
				return func(w http.ResponseWriter, r *http.Request) {
					var rows []string
					for range 400 {
						n++
						rows = append(rows, fmt.Sprintf(row, n))
					}
					says(fmt.Sprintf(name, strings.Join(rows, ",")))(w, r)
				}
			}
			d := newDoor(t, map[string]http.HandlerFunc{
				"/System/Info/Public":         says(jellyfinPublic),
				"/identity":                   says(`{"MediaContainer":{"machineIdentifier":"` + serverID + `","version":"1.42"}}`),
				"/library/sections":           says(`{"MediaContainer":{"Directory":[{"key":"3","type":"show","title":"s"}]}}`),
				"/library/sections/3/all":     page(`{"MediaContainer":{"totalSize":1000000,"Metadata":[%s]}}`, `{"ratingKey":"%d","type":"episode","index":1,"viewCount":1,"librarySectionID":3}`),
				"/Users/" + userID + "/Items": page(`{"Items":[%s],"TotalRecordCount":1000000}`, `{"Id":"%d","Type":"Episode","IndexNumber":1,"UserData":{"Played":true}}`),
				"/emby/System/Info/Public":    says(jellyfinPublic),
			})
			read := 0
			err := d.open(t, kind).Played(t.Context(), []mediaserver.Library{{ID: "3", Kind: "show"}}, time.Time{}, func(some []mediaserver.Item, _ int) error {
				read += len(some)
				return nil
			})
			if read > 1000 {
				t.Errorf("%d rows are read: %v", read, err)
			}
			if !errors.Is(err, mediaserver.ErrUnreachable) && kind != mediaserver.FnOS { // which answers more than was asked for: that is all
				t.Errorf("it ends as %v", err)
			}
		})
	}
}
