package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"watchmark/internal/catalog"
	"watchmark/internal/catalog/account"
	"watchmark/internal/platform/secret"
	"watchmark/internal/record"
	"watchmark/internal/testkit/catalogtest"
)

// The long outage: 25 shows of 40 episodes, watched by two people.
const (
	outage       = 8 * time.Hour
	showEpisodes = 40
)

// longShows are subjects 1 to 25 with episodes 1001, 1002, … and so on.
func longShows(list *catalogtest.Server) (titles []string) {
	for _, first := range []string{"晨雾", "夜航", "白砂", "青岚", "赤羽"} {
		for _, second := range []string{"邮局", "灯塔守", "图书馆", "旅团", "料理店"} {
			titles = append(titles, first+second)
			id := catalog.SubjectID(len(titles))
			list.AddSubject(catalogtest.Subject{ID: id, Type: catalog.Anime, Name: first + second, NameCN: first + second, Date: "1999-01-05", Platform: "TV", Eps: showEpisodes})
			for n := range showEpisodes {
				list.AddEpisodes(id, catalogtest.Episode{
					ID: catalog.EpisodeID(1000*int(id) + n + 1), Sort: float64(n + 1),
					AirDate: time.Date(1999, 1, 5, 0, 0, 0, 0, time.UTC).AddDate(0, 0, 7*n).Format(time.DateOnly),
				})
			}
		}
	}
	return titles
}

// traffic counts the requests a catalog gets, by minute.
type traffic struct {
	next   http.Handler
	minute map[int64]int
	turn   chan struct{}
}

func (c *traffic) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.turn <- struct{}{}
	c.minute[time.Now().Unix()/60]++
	<-c.turn
	c.next.ServeHTTP(w, r)
}

// most is the largest number of requests in any span of so many minutes, total all of them.
func (c *traffic) most(minutes int64) (most, total int) {
	for start := range c.minute {
		sum := 0
		for m := start; m < start+minutes; m++ {
			sum += c.minute[m]
		}
		most = max(most, sum)
		total += c.minute[start]
	}
	return most, total
}

// The clock of this test is the bubble's: eight hours take seconds.
func TestEightHoursWithoutTheCatalogLoseNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("plays eight hours")
	}
	inBubble(t, func(t *testing.T, b *bubble) {
		list := catalogtest.New(catalogtest.Config{Users: []catalogtest.User{{Username: "mira", Token: miraToken}, {Username: "alex", Token: alexToken}}})
		titles := longShows(list)
		asked := &traffic{next: list, minute: map[int64]int{}, turn: make(chan struct{}, 1)}
		b.site("catalog", asked)
		service, stop := b.start()
		for name, token := range map[string]string{"mira": miraToken, "alex": alexToken} {
			if _, err := service.Accounts.Create(t.Context(), account.Draft{Username: name, Tokens: account.Tokens{Access: secret.Text(token)}, Method: account.ByToken, Enabled: true, MediaUserNames: []string{name}}); err != nil {
				t.Fatal(err)
			}
		}

		if err := list.SetFault(catalogtest.Fault{Mode: catalogtest.Refuse}); err != nil {
			t.Fatal(err)
		}
		down := time.Now()
		sent := 0
		for n := range showEpisodes {
			for _, title := range titles {
				for _, user := range []string{"mira", "alex"} {
					post(t, fmt.Sprintf(`{"title":%q,"season":1,"episode":%d,"user_name":%q}`, title, n+1, user))
					sent++
					time.Sleep(outage / (2 * showEpisodes * 25))
				}
			}
		}
		synctest.Wait()
		_, probes := asked.most(10)
		counts, err := service.Records.Stats(t.Context(), time.Now())
		if err != nil || counts.Total[record.Queued] != sent || time.Since(down) < outage {
			t.Fatalf("queue %v (%v) after %v, want %d pending", counts, err, time.Since(down), sent)
		}
		if err := list.SetFault(catalogtest.Fault{Mode: catalogtest.None}); err != nil {
			t.Fatal(err)
		}
		up := time.Now()
		for deadline := up.Add(3 * time.Hour); len(list.Marks()) < sent; time.Sleep(time.Second) {
			if time.Now().After(deadline) {
				t.Fatalf("%d of %d marked three hours after the catalog came back", len(list.Marks()), sent)
			}
		}
		took := time.Since(up)
		time.Sleep(time.Minute) // for what would be written twice
		stop()

		ofSubject := map[string]catalog.EpisodeID{}
		writes := 0
		for _, w := range list.Writes() {
			key := fmt.Sprint(w.Username, w.SubjectID)
			if w.Episodes != nil {
				writes++
			}
			for _, episode := range w.Episodes {
				if episode <= ofSubject[key] {
					t.Errorf("%s: episode %d is marked after %d", key, episode, ofSubject[key])
				}
				ofSubject[key] = episode
			}
		}
		text := b.logs.String()
		if starts, ends := strings.Count(text, "Bangumi cannot be reached: it is asked again"), strings.Count(text, "Bangumi can be reached again"); starts != 1 || ends != 1 {
			t.Errorf("%d notices of the start and %d of the end, want one each", starts, ends)
		}
		most, total := asked.most(10)
		if most > 800+10*100 {
			t.Errorf("%d requests in ten minutes, more than the rate allows", most)
		}
		t.Logf("%d events in %v: %d probes meanwhile; all marked %v after the return with %d episode writes, %d requests, at most %d in ten minutes",
			sent, outage, probes, took.Round(time.Second), writes, total-probes, most)
	})
}

// post sends a webhook that must be accepted.
func post(t *testing.T, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://watchmark/webhook/custom", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusAccepted {
		t.Fatalf("status %d", response.StatusCode)
	}
}
