package mediaserver

import (
	"net/url"
	"strings"
	"testing"

	"watchmark/internal/source/payload"
)

func FuzzRow(f *testing.F) {
	f.Add(`{"Id":"e7","Type":"Episode","SeriesId":"s1","IndexNumber":7,"RunTimeTicks":14400000000,"UserData":{"Played":true,"PlayCount":1,"LastPlayedDate":"2026-05-19T12:00:03.1362081Z","PlaybackPositionTicks":600000000}}`)
	f.Add(`{"Id":"../x","Type":"movie","ProductionYear":"1e9","UserData":{"Played":"1","PlayCount":1e300}}`)
	f.Fuzz(func(t *testing.T, text string) {
		o, err := payload.ParseObject([]byte(text))
		if err != nil {
			return
		}
		item, ok := readItem(o, "f0")
		if !ok {
			return
		}
		for _, id := range []string{item.Report.Event.ItemID, item.Report.Event.SeriesID} {
			if strings.ContainsAny(id, "/\\,?#% ") || id == ".." || url.PathEscape(id) != id {
				t.Errorf("id %q", id)
			}
		}
		if item.Length < 0 || item.State.Position < 0 || item.State.Count < 0 || item.Year < 0 {
			t.Errorf("%+v", item)
		}
	})
}

func FuzzMessage(f *testing.F) {
	f.Add(`{"MessageType":"UserDataChanged","Data":{"UserId":"u1","UserDataList":[{"ItemId":"e7"}]}}`)
	f.Add(`{"MessageType":"ForceKeepAlive","Data":60}`)
	f.Add(`{"MessageType":"ForceKeepAlive","Data":-1e9}`)
	f.Fuzz(func(t *testing.T, text string) {
		m := readMessage([]byte(text), "u1")
		for _, id := range m.changed {
			if !validID(id) {
				t.Errorf("id %q", id)
			}
		}
		if m.alive != 0 && (m.alive < 5e9 || m.alive > 60e9) {
			t.Errorf("alive every %s", m.alive)
		}
	})
}

func FuzzCandidates(f *testing.F) {
	for _, text := range []string{"192.168.1.5", "http://[::1]:8096/web/#/home", "attic:8096/jellyfin", "ftp://x", "fe80::1", "https://mira:x@attic", "//", "http://:80"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := candidates(text)
		for _, one := range all {
			if again, wrong := CheckURL(one); wrong != nil || again != one {
				t.Errorf("%q gives %q, which is %q: %v", text, one, again, wrong)
			}
		}
		if err == nil && len(all) == 0 {
			t.Errorf("%q gives nothing", text)
		}
	})
}
