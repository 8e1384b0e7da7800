package mediaserver

import (
	"testing"
	"time"

	"watchmark/internal/source/payload"
)

func TestTimesOfPlays(t *testing.T) {
	want := time.Date(2026, 5, 19, 12, 0, 3, 0, time.UTC)
	for _, c := range []struct {
		name, text string
		want       time.Time
	}{
		{"Jellyfin and Emby", "2026-05-19T12:00:03.0000000Z", want},
		{"with a zone", "2026-05-19T20:00:03+08:00", want},
		{"without a zone", "2026-05-19T12:00:03", want},
		{"without a zone, with fractions", "2026-05-19T12:00:03.0000000", want},
		{"as a database writes it", "2026-05-19 12:00:03", want},
		{"no time", "0001-01-01T00:00:00.0000000Z", time.Time{}},
		{"a word", "yesterday", time.Time{}},
		{"nothing", "", time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := payload.Object{"LastPlayedDate": []byte(`"` + c.text + `"`)}
			if got := instant(o, "LastPlayedDate"); !got.Equal(c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestServersOfOneMakerAreToldApart(t *testing.T) {
	a := browser{traits: &ugreen, server: Server{URL: "https://192.168.1.5:9443"}}
	b := browser{traits: &ugreen, server: Server{URL: "https://192.168.1.6:9443"}}
	if x, y := a.id("ugreen-video-serv"), b.id("ugreen-video-serv"); x == y || x == "" || !validID(x) {
		t.Errorf("both are %s", x)
	}
}
