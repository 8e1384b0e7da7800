package faults

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

// sample is the folder of the data that the simulated catalog has embedded.
const sample = "../catalogtest/sample"

// episode is one that the service marks with certainty when it is told of.
type episode struct {
	subject catalog.SubjectID
	id      catalog.EpisodeID
	title   string
	sort    float64
	aired   string
}

// event is one episode watched by one user.
type event struct {
	episode
	user string
}

// body is the webhook of the event.
func (e event) body() []byte {
	return fmt.Appendf(nil, `{"title":%q,"season":1,"episode":%v,"release_date":%q,"user_name":%q}`, e.title, e.sort, e.aired, e.user)
}

// sampleEpisodes reads the main episodes of every animation of the sample.
func sampleEpisodes(tb testing.TB) (episodes []episode) {
	tb.Helper()
	type row struct {
		ID        int     `json:"id"`
		Type      int     `json:"type"`
		Name      string  `json:"name"`
		SubjectID int     `json:"subject_id"`
		Sort      float64 `json:"sort"`
		AirDate   string  `json:"airdate"`
	}
	rows := func(name string) (all []row) {
		file, err := os.Open(filepath.Join(sample, name))
		must(tb, err)
		defer func() { _ = file.Close() }()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			var r row
			must(tb, json.Unmarshal(lines.Bytes(), &r))
			all = append(all, r)
		}
		return all
	}
	shows := map[int]string{}
	for _, subject := range rows("subject.jsonlines") {
		if catalog.SubjectType(subject.Type) == catalog.Anime {
			shows[subject.ID] = subject.Name
		}
	}
	for _, r := range rows("episode.jsonlines") {
		if title := shows[r.SubjectID]; title != "" && catalog.EpisodeType(r.Type) == catalog.Main {
			episodes = append(episodes, episode{catalog.SubjectID(r.SubjectID), catalog.EpisodeID(r.ID), title, r.Sort, r.AirDate})
		}
	}
	return episodes
}

// certain are the sample's episodes that the service marks without a person's help, each as
// itself. A dry run finds them, so that a scenario never takes an honest question for a loss.
func certain(tb testing.TB) (episodes []episode) {
	tb.Helper()
	user := usersNamed(1)
	list, url := catalogtest.Start(tb, catalogtest.Config{Users: people(user)})
	must(tb, list.LoadSample())
	s := serve(tb, tb.TempDir(), url)
	s.addAccounts(user)
	told := map[int64]episode{}
	for _, e := range sampleEpisodes(tb) {
		var accepted acceptance
		s.call(http.StatusAccepted, http.MethodPost, webhookPath, string(event{e, user[0]}.body()), &accepted)
		told[accepted.RecordIDs[0]] = e
	}
	s.settled()
	for _, r := range s.records("success") {
		if e := told[r.ID]; int(e.id) == r.EpisodeID {
			episodes = append(episodes, e)
		}
	}
	s.process().kill()
	return episodes
}

// people are users of the catalog, each with a token.
func people(users []string) []catalogtest.User {
	all := make([]catalogtest.User, len(users))
	for i, user := range users {
		all[i] = catalogtest.User{Username: user, Nickname: user, Token: tokenOf(user)}
	}
	return all
}

// shuffled are n different events of as few users as that takes, in random order.
func shuffled(random *rand.Rand, episodes []episode, n int) (events []event, users []string) {
	users = usersNamed((n + len(episodes) - 1) / len(episodes))
	for _, user := range users {
		for _, e := range episodes {
			events = append(events, event{e, user})
		}
	}
	random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	return events[:n], users
}
