package faults

import (
	"testing"

	"watchmark/internal/catalog"
	"watchmark/internal/testkit/catalogtest"
)

func TestAWriteThatRepeatsAnEpisodeCountsAsDoubled(t *testing.T) {
	watch := func(user string, ids ...catalog.EpisodeID) catalogtest.Write {
		return catalogtest.Write{Username: user, SubjectID: 1, Episodes: ids, Type: int(catalog.EpisodeWatched)}
	}
	clear1 := catalogtest.Write{Username: "mira", SubjectID: 1, Episodes: []catalog.EpisodeID{1}, Type: int(catalog.Unmarked)}
	entry := func(state catalog.CollectionType) catalogtest.Write {
		return catalogtest.Write{Username: "mira", SubjectID: 1, Type: int(state)}
	}
	for name, c := range map[string]struct {
		writes []catalogtest.Write
		want   int
	}{
		"every episode once":           {[]catalogtest.Write{entry(catalog.Doing), watch("mira", 1, 2), watch("mira", 3), entry(catalog.Done)}, 0},
		"the same of two users":        {[]catalogtest.Write{watch("mira", 1), watch("alex", 1)}, 0},
		"cleared before it is watched": {[]catalogtest.Write{clear1, watch("mira", 1)}, 0},
		"cleared to be watched again":  {[]catalogtest.Write{watch("mira", 1), clear1, watch("mira", 1)}, 1},
		"a whole batch again":          {[]catalogtest.Write{watch("mira", 1, 2), watch("mira", 1, 2)}, 2},
		"one of an earlier batch":      {[]catalogtest.Write{watch("mira", 1, 2, 3), watch("mira", 2)}, 1},
		"an entry made quietly":        {[]catalogtest.Write{entry(0), watch("mira", 1), entry(catalog.Done)}, 0},
		"an entry made quietly again":  {[]catalogtest.Write{entry(0), entry(0)}, 1},
		"an entry in the state it has": {[]catalogtest.Write{entry(catalog.Doing), entry(catalog.Doing)}, 1},
	} {
		if lines := doubled(c.writes); len(lines) != c.want {
			t.Errorf("%s: %d doubled, not %d: %q", name, len(lines), c.want, lines)
		}
	}
}
