package plex

import (
	"regexp"
	"strconv"
	"strings"

	"watchmark/internal/watch"
)

// legacyGUID is what the legacy agents' guids say. With season and episode the id
// is that of the show.
type legacyGUID struct {
	provider, id string
	season       *int
	episode      *float64
}

var (
	legacyForm = regexp.MustCompile(`^com\.plexapp\.agents\.([a-z0-9_.]+)://([^/?#]{0,100})(?:/(\d{1,5})/(\d{1,5}))?/?(?:[?#].*)?$`)
	// hamaID is the id of the HAMA agent; the digit behind the provider is its numbering mode. In those of tvdb the numbers are
	// not TheTVDB's (upstreams/id-map.md section 10), so that such an id would lead astray.
	hamaID = regexp.MustCompile(`^(anidb\d?|tvdb|tmdb\d?|imdb\d?)-(\w+)$`)
	imdbID = regexp.MustCompile(`^tt\d+$`)
)

// parseGUID reads a guid of the legacy agents (upstreams/media-servers.md,
// section 1, "Legacy guid shapes"). Every other guid gives the zero value.
func parseGUID(guid string) legacyGUID {
	if len(guid) > watch.MaxText {
		return legacyGUID{}
	}
	m := legacyForm.FindStringSubmatch(guid)
	if m == nil {
		return legacyGUID{}
	}
	agent, id := m[1], m[2]
	var g legacyGUID
	switch {
	case agent == "thetvdb":
		g.provider, g.id = "tvdb", id
	case agent == "themoviedb":
		g.provider, g.id = "tmdb", id
	case agent == "hama":
		if h := hamaID.FindStringSubmatch(id); h != nil {
			g.provider, g.id = strings.TrimRight(h[1], "0123456789"), h[2]
		}
	case agent == "imdb" || strings.HasPrefix(agent, "xbmcnfo"):
		if imdbID.MatchString(id) {
			g.provider, g.id = "imdb", id
		}
	}
	if m[3] == "" {
		return g
	}
	season, err := strconv.Atoi(m[3])
	if err != nil || season > watch.MaxSeason {
		return g
	}
	episode, err := strconv.ParseFloat(m[4], 64)
	if err != nil || episode > watch.MaxEpisode {
		return g
	}
	g.season, g.episode = &season, &episode
	return g
}
