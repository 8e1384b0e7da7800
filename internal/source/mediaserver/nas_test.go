package mediaserver_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"watchmark/internal/source/mediaserver"
)

// library is what a NAS has: two series with two episodes each, of which the second of each was played, and a film that was.
func library() []object {
	rows := []object{{"Id": "m1", "Type": "Movie", "Name": "漫长的海岸", "UserData": object{"Played": true}}}
	for s := 1; s <= 2; s++ {
		series := fmt.Sprint("s", s)
		rows = append(rows, object{"Id": series, "Type": "Series", "Name": "灯塔守望者", "ProviderIds": object{"Tmdb": "900001"}, "UserData": object{"UnplayedItemCount": 1}})
		for n := 1; n <= 2; n++ {
			rows = append(rows, row(fmt.Sprint(series, "e", n), series, n, object{"Played": n == 2}))
		}
	}
	return rows
}

func ofType(rows []object, kinds ...string) []object {
	return slices.DeleteFunc(slices.Clone(rows), func(o object) bool { return !slices.Contains(kinds, o["Type"].(string)) })
}

func TestNASKindsAreReadWithoutTrust(t *testing.T) {
	all := library()
	for _, c := range []struct {
		name     string
		kind     mediaserver.Kind
		items    func(kind string) []object
		episodes bool // are had from the series alone
		opened   int
	}{
		{"a filter by one type works", mediaserver.FnOS, func(kind string) []object { return ofType(all, strings.Split(kind, ",")...) }, false, 0},
		{"the type is not looked at", mediaserver.ZSpace, func(string) []object { return all }, false, 0},
		{"episodes are known by their series alone", mediaserver.Ugreen, func(kind string) []object {
			if kind == "Episode" {
				return nil
			}
			return ofType(all, kind)
		}, true, 2},
		{"neither types nor episodes", mediaserver.ZSpace, func(string) []object { return ofType(all, "Series", "Movie") }, true, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDoor(t, map[string]http.HandlerFunc{})
			d.answers[items] = func(w http.ResponseWriter, r *http.Request) {
				listing(c.items(r.URL.Query().Get("IncludeItemTypes")))(w, r)
			}
			for _, series := range []string{"s1", "s2"} {
				d.answers["/Shows/"+series+"/Episodes"] = listing(slices.DeleteFunc(ofType(all, "Episode"), func(o object) bool { return o["SeriesId"] != series }))
				d.answers["/Shows/"+series+"/Episodes"] = func(w http.ResponseWriter, _ *http.Request) {
					answer(w, object{"Items": slices.DeleteFunc(ofType(all, "Episode"), func(o object) bool { return o["SeriesId"] != series })})
				}
			}
			client := d.open(t, c.kind)
			played, _, err := collect(t, client, time.Time{})
			var ids []string
			for _, item := range played {
				ids = append(ids, item.Report.Event.ItemID)
			}
			slices.Sort(ids)
			if err != nil || !slices.Equal(ids, []string{"m1", "s1e2", "s2e2"}) {
				t.Errorf("%v %v", ids, err)
			}
			if opened := d.asked("/Episodes"); len(opened) != c.opened {
				t.Errorf("opened %v", opened)
			}
			before := len(d.asked("/Episodes"))
			if _, _, err := collect(t, client, time.Now()); err != nil || len(d.asked("/Episodes")) != before {
				t.Errorf("with nothing new: %v, opened %v", err, d.asked("/Episodes")[before:])
			}
			got, err := client.Shows(t.Context(), []string{"s1"})
			if err != nil || len(got) != 1 || got[0].IDs["tmdb"] != "900001" {
				t.Errorf("%+v %v", got, err)
			}
		})
	}
}

func TestWhatNASKindsCannot(t *testing.T) {
	d := newDoor(t, map[string]http.HandlerFunc{"/": says("<html>")})
	for _, kind := range []mediaserver.Kind{mediaserver.Ugreen, mediaserver.ZSpace, mediaserver.FnOS} {
		c := d.open(t, kind)
		_, count := c.Count(t.Context())
		_, playing := c.Playing(t.Context())
		if !errors.Is(count, mediaserver.ErrCannot) || !errors.Is(playing, mediaserver.ErrCannot) {
			t.Errorf("%s: %v, %v", kind, count, playing)
		}
		if err := c.Listen(t.Context(), nil, nil); !errors.Is(err, mediaserver.ErrNoPush) || !c.Quirks().NoFilter {
			t.Errorf("%s: %v, %+v", kind, err, c.Quirks())
		}
	}
}
