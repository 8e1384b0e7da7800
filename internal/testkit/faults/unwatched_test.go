package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

// TestTakingBackWhatIsUnwatchedIsKilled kills a service at random moments while it takes back the marks of what was set back to
// unwatched, by the rule in one half of the rounds, by a person's answer in the other. Started again, and answered again where it asks, no mark
// of that is left (lost = 0), nothing is written twice, and what nobody set back stays.
func TestTakingBackWhatIsUnwatchedIsKilled(t *testing.T) {
	const owner, show, kept, perRound = "bench-1", 601, 3, 12
	rounds := number(t, "WATCHMARK_FAULT_ROUNDS", 3)
	chosen := seed(t)
	t.Logf("WATCHMARK_FAULT_SEED=%d", chosen)
	random := randomOf(chosen, t.Name())
	list := catalogtest.New(catalogtest.Config{Users: people([]string{owner})})
	list.AddSubject(catalogtest.Subject{ID: show, Type: catalog.Anime, Name: "三度目の灯", Platform: "TV", Date: "2020-04-04", Eps: kept + perRound + 1})
	for n := range kept + perRound + 1 {
		list.AddEpisodes(show, catalogtest.Episode{ID: catalog.EpisodeID(show*100 + n + 1), Sort: float64(n + 1), AirDate: "2020-04-04"})
	}
	url, stop, err := list.Listen(context.Background(), "127.0.0.1:0")
	must(t, err)
	defer stop()
	s := serve(t, t.TempDir(), url, soonWritten)
	s.addAccounts([]string{owner})
	tell := func(status int, event string, episode int) {
		s.call(status, http.MethodPost, "/webhook/emby/"+webhookKey, fmt.Sprintf(`{"Event":"item.%s","User":{"Name":%q},"Server":{"Id":"attic"},
			"Item":{"Type":"Episode","Id":"%d","Name":"x","SeriesName":"三度目の灯","ParentIndexNumber":1,"IndexNumber":%[3]d}}`, event, owner, episode), nil)
	}
	asked := func() (ids []int64) {
		var all struct {
			Items []struct {
				RecordID int64 `json:"record_id"`
			}
		}
		s.call(http.StatusOK, http.MethodGet, "/api/unwatched", "", &all)
		for _, one := range all.Items {
			ids = append(ids, one.RecordID)
		}
		return ids
	}
	answer := func() {
		if ids := asked(); len(ids) > 0 {
			text, err := json.Marshal(map[string]any{"record_ids": ids, "take_back": true})
			must(t, err)
			_, _, err = s.request(context.Background(), http.MethodPost, "/api/unwatched", text) // refused where another answer ended it meanwhile
			must(t, err)
		}
	}
	for n := 1; n <= kept; n++ {
		tell(http.StatusAccepted, "markplayed", n)
	}
	cut := 0
	var lost []string
	for round := range rounds {
		rule := []string{"take_back", "ask"}[round%2]
		s.call(http.StatusOK, http.MethodPatch, "/api/accounts/1", `{"unwatched":"`+rule+`"}`, nil)
		for n := kept + 1; n <= kept+perRound; n++ {
			tell(http.StatusAccepted, "markplayed", n)
		}
		s.settled()
		if n := len(list.Marks()); n != kept+perRound {
			t.Fatalf("%d marks before round %d", n, round)
		}
		must(t, list.SetFault(catalogtest.Fault{Mode: catalogtest.Slow, Delay: 30 * time.Millisecond}))
		asks := requests(list)
		for n := kept + 1; n <= kept+perRound; n++ {
			tell(http.StatusOK, "markunplayed", n)
		}
		if rule == "ask" {
			eventually(t, "it is asked", func() bool { return len(asked()) == perRound })
			answer()
		} else {
			eventually(t, "it begins", func() bool { return requests(list) > asks })
		}
		<-time.After(time.Duration(random.Int64N(int64(400 * time.Millisecond))))
		s.restart()
		must(t, list.SetFault(catalogtest.Fault{Mode: catalogtest.None}))
		if len(list.Marks()) > kept {
			cut++
		}
		eventually(t, "all of it is taken back", func() bool {
			if rule == "ask" {
				answer()
			}
			return len(list.Marks()) == kept && len(asked()) == 0
		})
		s.settled()
		for n := 1; n <= kept; n++ {
			if list.Marks()[n-1].EpisodeID != catalog.EpisodeID(show*100+n) {
				lost = append(lost, fmt.Sprintf("round %d: episode %d", round, n))
			}
		}
	}
	twice := repeated(list.Writes())
	report(t, "lost", lost)
	report(t, "doubled", twice)
	t.Logf("%d rounds, of which %d were cut off: %d marks taken back, %d lost, %d doubled", rounds, cut, rounds*perRound, len(lost), len(twice))
}

// requests is how many requests a catalog got.
func requests(list *catalogtest.Server) (all int) {
	for _, n := range list.Requests() {
		all += n
	}
	return all
}
