package mediaserver_test

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"watchmark/internal/source/mediaserver"
)

// TestPlexHostileLists has a server answer lists that are not what was asked for.
func TestPlexHostileLists(t *testing.T) {
	const row = `{"ratingKey":"%","type":"episode","index":1,"parentIndex":1,"title":"x","grandparentTitle":"y","librarySectionID":3,"viewCount":1,"lastViewedAt":1779192000}`
	rows := func(ids ...string) string {
		var all []string
		for _, id := range ids {
			all = append(all, strings.ReplaceAll(row, "%", id))
		}
		return strings.Join(all, ",")
	}
	entry := func(account, more string) string {
		return `{"historyKey":"/status/sessions/history/` + account + `","type":"episode","index":2,"parentIndex":1,"title":"x","grandparentTitle":"y","librarySectionID":"3","viewedAt":1779192000,"accountID":` + account + more + `}`
	}
	since := time.Unix(1779000000, 0)
	for name, test := range map[string]struct {
		user    string
		all     string // what every page of the library answers
		history string
		since   time.Time
		want    []string
		fails   bool
	}{
		"the same page for ever":           {all: `{"totalSize":100000,"Metadata":[` + rows("1", "2") + `]}`, fails: true},
		"the same place for ever":          {all: `{"offset":0,"totalSize":100000,"Metadata":[` + rows("1", "2") + `]}`, fails: true},
		"everything at once":               {all: `{"size":2,"Metadata":[` + rows("1", "2") + `]}`, want: []string{"1", "2"}},
		"a place beyond the end":           {all: `{"offset":9000,"totalSize":2,"Metadata":[` + rows("1", "2") + `]}`, want: []string{"1", "2"}},
		"rows of other kinds":              {all: `{"Metadata":[{"ratingKey":"7","type":"track","viewCount":1},{"type":"episode","viewCount":1},7,null,` + rows("1") + `]}`, want: []string{"1"}},
		"no container":                     {all: `7`},
		"own plays of what was deleted":    {user: "101", all: `{}`, history: `{"Metadata":[` + entry("101", "") + `]}`, since: since, want: []string{"/status/sessions/history/101"}},
		"plays of somebody else":           {user: "101", all: `{}`, history: `{"Metadata":[` + entry("102", "") + `]}`, since: since},
		"plays of several people":          {user: "101", all: `{}`, history: `{"Metadata":[` + entry("101", "") + "," + entry("102", "") + `]}`, since: since},
		"the owner's among everybody's":    {user: "1", all: `{}`, history: `{"Metadata":[` + entry("1", "") + "," + entry("102", "") + `]}`, since: since, want: []string{"/status/sessions/history/1"}},
		"of a library that is not read":    {user: "1", all: `{}`, history: `{"Metadata":[` + strings.Replace(entry("1", ""), `"3"`, `"9"`, 1) + `]}`, since: since},
		"older than was asked for":         {user: "1", all: `{}`, history: `{"Metadata":[` + strings.Replace(entry("1", ""), `1779192000`, `1`, 1) + `]}`, since: since},
		"a history that cannot be read":    {user: "1", all: `{"Metadata":[` + rows("1") + `]}`, history: "500", since: since, want: []string{"1"}},
		"a history that is not for guests": {user: "101", all: `{"Metadata":[` + rows("1") + `]}`, history: "403", since: since, want: []string{"1"}},
	} {
		t.Run(name, func(t *testing.T) {
			history := says(`{"MediaContainer":` + test.history + `}`)
			if code, err := strconv.Atoi(test.history); err == nil {
				history = status(code)
			}
			d := newDoor(t, map[string]http.HandlerFunc{
				"/identity":                    says(`{"MediaContainer":{"machineIdentifier":"machine-1","version":"1.42"}}`),
				"/library/sections":            says(`{"MediaContainer":{"Directory":[{"key":"3","type":"show","title":"s"},{"key":"../4","type":"show","title":"s"},{"key":"5","type":"artist"}]}}`),
				"/library/sections/3/all":      says(`{"MediaContainer":` + test.all + `}`),
				"/status/sessions/history/all": history,
			})
			c, err := newDialer(t).Open(mediaserver.Server{Kind: mediaserver.Plex, URL: d.URL, ID: "machine-1", Token: "t", UserID: test.user})
			if err != nil {
				t.Fatal(err)
			}
			if test.fails {
				libraries, err := c.Libraries(t.Context())
				if err == nil {
					err = c.Played(t.Context(), libraries, test.since, func([]mediaserver.Item, int) error { return nil })
				}
				if !errors.Is(err, mediaserver.ErrUnreachable) || c.Requests() > 20 {
					t.Errorf("%v after %d requests", err, c.Requests())
				}
				return
			}
			h := house{t: t}
			if got := h.played(c, test.since); !slices.Equal(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
			if n := c.Requests(); n > 20 {
				t.Errorf("%d requests", n)
			}
		})
	}
}
