package idmap_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"watchmark/internal/match/idmap"
)

// shows are n rows, each made of the number of a show and of its subject.
func shows(n int, row func(show int) []string) []string {
	var rows []string
	for i := range n {
		rows = append(rows, row(1_000_000+i)...)
	}
	return rows
}

func TestJudge(t *testing.T) {
	single := func(show int) []string { return []string{fmt.Sprintf("%d tv/%d", show, show)} }
	divided := func(at int) func(int) []string {
		return func(show int) []string {
			return []string{fmt.Sprintf("%d tv/%d", show, show), fmt.Sprintf("%d tv/%d/season/1/episode/%d", show+500_000, show, at)}
		}
	}
	// but changes the first n shows of rows.
	but := func(n, of int, changed, row func(int) []string) []string {
		return shows(of, func(show int) []string {
			if show < 1_000_000+n {
				return changed(show)
			}
			return row(show)
		})
	}
	other := func(show int) []string { return []string{fmt.Sprintf("%d tv/%d", show+900_000, show)} }
	jujutsu := []string{"294993 tv/95479", "369304 tv/95479/season/1/episode/25", "472741 tv/95479/season/1/episode/48"}
	film := func(subject int) func(int) []string {
		return func(show int) []string { return []string{fmt.Sprintf("%d movie/%d", show+subject, show)} }
	}
	special := func(subject int) func(int) []string {
		return func(show int) []string {
			return []string{fmt.Sprintf("%d tv/%d/season/0/episode/3", show+subject, show)}
		}
	}
	for _, c := range []struct {
		name      string
		own, next []string
		want      string // in the error; empty when the table may serve
		kind      idmap.MoveKind
		moved     int
	}{
		{"the same", shows(50, single), shows(50, single), "", "", 0},
		{"nothing in common", shows(50, single), jujutsu, "", "", 0},
		{"a few first episodes", shows(100, single), but(10, 100, other, single), "", "", 0},
		{"many first episodes", shows(100, single), but(11, 100, other, single), "11 of 100 seasons begin with another entry, at most 10 are accepted", idmap.MovedSeason, 11},
		{"a few of very many", shows(4000, single), but(20, 4000, other, single), "", "", 0},
		{"more of very many", shows(4000, single), but(21, 4000, other, single), "21 of 4000 seasons begin with another entry, at most 20 are accepted", idmap.MovedSeason, 21},
		{"new entries that go on", shows(50, single), shows(50, divided(13)), "", "", 0},
		{"another place of the later ones", shows(50, divided(13)), shows(50, divided(12)), "50 of 50 seasons are divided differently, at most 10 are accepted", idmap.MovedPart, 50},
		{"undivided, as before", shows(50, func(show int) []string {
			return []string{fmt.Sprintf("%d tv/%d", show, show), fmt.Sprintf("%d tv/%d", show+500_000, show)}
		}), shows(50, divided(13)), "", "", 0},
		{"the first ones are gone", shows(50, func(show int) []string {
			return []string{fmt.Sprintf("%d tv/%d", show, show), fmt.Sprintf("%d tv/%d", show+500_000, show)}
		}), shows(50, func(show int) []string { return []string{fmt.Sprintf("%d tv/%d", show+500_000, show)} }), "50 of 50 seasons begin", idmap.MovedSeason, 50},
		{"films", shows(50, film(0)), shows(50, film(7000)), "50 of 50 films", idmap.MovedFilm, 50},
		{"specials", shows(50, special(0)), shows(50, special(7000)), "50 of 50 specials", idmap.MovedSpecial, 50},
		{"a known show as it is", jujutsu, jujutsu, "", "", 0},
		{"a known show as it was", jujutsu, []string{"294993 tv/95479", "369304 tv/95479", "472741 tv/95479"}, "", "", 0},
		{"a known show without its first part", jujutsu, []string{"369304 tv/95479", "472741 tv/95479"}, "TMDB show 95479, season 1, episode 1 leads to 369304 instead of 294993", "", 0},
		{"a known show begins too late", jujutsu, []string{"294993 tv/95479", "369304 tv/95479/season/1/episode/5"}, "episode 5 leads to 369304 instead of 294993", "", 0},
		{"a few known places", jujutsu, []string{"294993 tv/95479", "369304 tv/95479/season/1/episode/24", "472741 tv/95479/season/1/episode/47"}, "", "", 0},
		{"known places, all of which are ends", jujutsu, []string{"294993 tv/95479", "369304 tv/95479/season/1/episode/47", "472741 tv/95479/season/1/episode/59", "400602 tv/209867", "515759 tv/209867/season/1/episode/38"},
			"3 entries begin with another episode of their season", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			own, err := pack(t, items(c.own...))
			if err != nil {
				t.Fatal(err)
			}
			next, err := pack(t, items(c.next...))
			if err != nil {
				t.Fatal(err)
			}
			err = own.Judge(next)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var refusal *idmap.Refusal
			if !errors.As(err, &refusal) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "update Watchmark") {
				t.Fatalf("it is judged %v, want %s", err, c.want)
			}
			for _, m := range refusal.Moved {
				if m.Kind == c.kind && (m.Count != c.moved || len(m.Examples) != 3 || m.Examples[0].From == m.Examples[0].To) || m.Kind != c.kind && m.Count > m.AtMost {
					t.Errorf("moved: %+v", m)
				}
			}
		})
	}
}

// elsewhere is a table of n real shows and films of the snapshot that leads them to other subjects, and of enough others.
func elsewhere(t *testing.T, n int) string {
	t.Helper()
	table := snapshot(t)
	var rows []string
	for id := 2000; len(rows) < n; id++ {
		if entries := table.Show(strconv.Itoa(id)); len(entries) == 1 && entries[0].Season == idmap.AnySeason {
			rows = append(rows, fmt.Sprintf(`{"title":%q,"type":"tv","begin":"","sites":[{"site":"bangumi","id":"%d"},{"site":"tmdb","id":"tv/%d"}]}`, marker, 2_000_000+id, id))
		}
		if id > 100_000 {
			t.Fatal("the snapshot has too few shows")
		}
	}
	return strings.Replace(document(9000), `"items":[`, `"items":[`+strings.Join(rows, ",")+",", 1)
}

// A table that leads elsewhere is not used, whoever serves then goes on, and people learn what to do.
func TestATableThatLeadsElsewhereIsRefused(t *testing.T) {
	bad := elsewhere(t, 11)
	const words = "11 of 11 seasons begin with another entry, at most 10 are accepted"
	r := newRig(t)
	r.site.publish(text(http.StatusOK, `"bad"`, bad))
	s := r.refreshed(t)
	r.want(t, s, idmap.Refused, "snapshot", words)
	if len(s.Moved) != 5 || s.Moved[0].Kind != idmap.MovedSeason || s.Moved[0].Count != 11 || len(s.Moved[0].Examples) != 3 || s.Moved[0].Examples[0].To < 2_000_000 {
		t.Errorf("it is told %+v", s.Moved)
	}
	if s.NextRun == nil || time.Until(*s.NextRun) < 24*time.Hour {
		t.Errorf("it is fetched again at %v, by no schedule", s.NextRun)
	}
	if log := r.logs.String(); strings.Count(log, "level=WARN") != 1 || !strings.Contains(log, words) {
		t.Errorf("the log says %s", log)
	}
	if _, err := os.Stat(filepath.Join(r.folder, "dataset.bin")); err == nil {
		t.Error("it is stored")
	}
	r.restart(t)
	r.want(t, r.Status(), idmap.Refused, "snapshot", words)

	r.site.publish(text(http.StatusOK, `"good"`, elsewhere(t, 10)))
	s = r.refreshed(t)
	if r.want(t, s, idmap.Refreshed, "fetched", ""); len(s.Moved) != 0 {
		t.Errorf("after one that may serve it is told %+v", s.Moved)
	}
	r.site.publish(text(http.StatusOK, `"bad"`, bad))
	r.want(t, r.refreshed(t), idmap.Refused, "fetched", words) // the last good one stays
	r.restart(t)
	r.want(t, r.Status(), idmap.Refused, "fetched", words)
}

// What an earlier version of the program let serve is judged when it is loaded.
func TestAStoredTableIsJudgedByANewerProgram(t *testing.T) {
	r := newRig(t)
	for n, want := range map[int]string{10: "fetched", 11: "snapshot"} {
		packed, err := idmap.Pack(strings.NewReader(elsewhere(t, n)), idmap.Head{Version: "0.3.999", FetchedAt: time.Now(), URL: r.url, ETag: `"one"`})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.folder, "dataset.bin"), packed, 0o600); err != nil {
			t.Fatal(err)
		}
		r.restart(t)
		if got := r.serves(t); got != want {
			t.Errorf("%d moved: in use is %s, want %s", n, got, want)
		}
		if s := r.Status(); (s.LastOutcome == idmap.Refused) != (n == 11) || (len(s.Moved) == 5) != (n == 11) {
			t.Errorf("%d moved: the status is %+v", n, s)
		}
	}
}
