package mediaserver_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"watchmark/internal/source/mediaserver"
)

func TestWrite(t *testing.T) {
	played := mediaserver.State{Played: true, At: time.Date(2026, 5, 19, 20, 0, 0, 0, time.FixedZone("", 8*3600))}
	exact := "POST /UserItems/e7/UserData?userId=" + userID + ` {"LastPlayedDate":"2026-05-19T12:00:00Z","PlayCount":1,"PlaybackPositionTicks":0,"Played":true}`
	mark := "POST /Users/" + userID + "/PlayedItems/e7"
	for _, c := range []struct {
		name    string
		kind    mediaserver.Kind
		to      mediaserver.State
		missing []string // paths that answer 404, or the status
		status  int
		want    []string
		fails   error
	}{
		{"Jellyfin, exactly", mediaserver.Jellyfin, played, nil, 0, []string{exact}, nil},
		{"Jellyfin 10.8 marks", mediaserver.Jellyfin, played, []string{"/UserItems/e7/UserData"}, 404, []string{exact, mark + "?datePlayed=2026-05-19T12%3A00%3A00Z "}, nil},
		{"a user without the right marks", mediaserver.Jellyfin, played, []string{"/UserItems/e7/UserData"}, 403, []string{exact, mark + "?datePlayed=2026-05-19T12%3A00%3A00Z "}, nil},
		{"what was before", mediaserver.Jellyfin, mediaserver.State{Count: 3, At: played.At, Position: 8 * time.Minute}, nil, 0,
			[]string{"POST /UserItems/e7/UserData?userId=" + userID + ` {"LastPlayedDate":"2026-05-19T12:00:00Z","PlayCount":3,"PlaybackPositionTicks":4800000000,"Played":false}`}, nil},
		{"nothing", mediaserver.Jellyfin, mediaserver.State{}, nil, 0, []string{"DELETE /Users/" + userID + "/PlayedItems/e7 "}, nil},
		{"Emby, exactly", mediaserver.Emby, played, nil, 0, []string{"POST /Users/" + userID + `/Items/e7/UserData {"LastPlayedDate":"2026-05-19T12:00:00Z","PlayCount":1,"PlaybackPositionTicks":0,"Played":true}`}, nil},
		{"Emby marks", mediaserver.Emby, played, []string{"/Users/" + userID + "/Items/e7/UserData"}, 404,
			[]string{"POST /Users/" + userID + `/Items/e7/UserData {"LastPlayedDate":"2026-05-19T12:00:00Z","PlayCount":1,"PlaybackPositionTicks":0,"Played":true}`, mark + "?DatePlayed=20260519120000 "}, nil},
		{"a NAS marks", mediaserver.FnOS, played, nil, 0, []string{mark + "?DatePlayed=20260519120000 "}, nil},
		{"a NAS that cannot", mediaserver.FnOS, played, []string{"/Users/" + userID + "/PlayedItems/e7"}, 404, []string{mark + "?DatePlayed=20260519120000 "}, mediaserver.ErrCannot},
		{"signed out", mediaserver.Jellyfin, played, []string{"/UserItems/e7/UserData"}, 401, []string{exact}, mediaserver.ErrSignedOut},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic)})
			var got []string
			write := func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = append(got, r.Method+" "+r.URL.String()+" "+string(body))
				if slices.Contains(c.missing, r.URL.Path) {
					w.WriteHeader(c.status)
					return
				}
				says(`{"Played":`+map[bool]string{true: "true", false: "false"}[c.to.Played]+`}`)(w, r)
			}
			for _, path := range []string{"/UserItems/e7/UserData", "/Users/" + userID + "/Items/e7/UserData", "/Users/" + userID + "/PlayedItems/e7"} {
				d.answers[path] = write
			}
			err := d.open(t, c.kind).Write(t.Context(), "e7", c.to)
			if !errors.Is(err, c.fails) || !slices.Equal(got, c.want) {
				t.Errorf("sent %q, want %q; %v", got, c.want, err)
			}
		})
	}
}

func TestWriteOfWhatIsNotThere(t *testing.T) {
	d := newDoor(t, map[string]http.HandlerFunc{"/System/Info/Public": says(jellyfinPublic)})
	c := d.open(t, mediaserver.Jellyfin)
	for _, id := range []string{"gone", "../../Sessions/Logout", ""} {
		if err := c.Write(t.Context(), id, mediaserver.State{Played: true}); err == nil || errors.Is(err, mediaserver.ErrSignedOut) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if asked := d.asked("Logout"); len(asked) > 0 {
		t.Errorf("asked %v", asked)
	}
}
